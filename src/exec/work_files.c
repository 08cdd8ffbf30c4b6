#include "base/base.h"
#include "exec/work_files.h"
#include "base/ids.h"
#include "base/map.h"
#include "io/files.h"

#include <fcntl.h>
#include <sys/stat.h>

enum {
	HASH_SEED = 0x6d637078, /* any, and always the same */
	HASH_DIGITS = 16,
	FILE_MODE = 0600,
};

static const char *const kinds[] = { "client-", "launch-", "module-", "runtime-", "snippet-" };

static bool is_ours(_unused_ void *context, struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct str kind = str_of(kinds[i]);
		struct str rest = str_from(name, kind.n);

		if (str_starts_with(name, kind) && rest.n > HASH_DIGITS && rest.p[HASH_DIGITS] == '.')
			return strspn(rest.p, "0123456789abcdef") == HASH_DIGITS;
	}
	return false;
}

/* Whether the file holds `content`; then it counts as used now. */
static bool holds(const char *path, struct str content)
{
	struct str found;
	bool same;

	if (file_read(path, content.n, &found, NULL) < 0)
		return false;
	same = str_eq(found, content);
	free((char *)found.p);
	if (same)
		(void)utimensat(AT_FDCWD, path, NULL, 0);
	return same;
}

int work_file_keep(struct str directory, const char *kind, const char *extension, struct str content,
		   struct arena *arena, struct str *ret_name, bool *ret_written, struct err *err)
{
	const struct file_write_options options = { .mode = FILE_MODE };
	uint64_t hash = hash_str(content, HASH_SEED);
	struct str name = arena_printf(arena, "%s-%016llx.%s", kind, (unsigned long long)hash, extension);
	const char *path = arena_printf(arena, "%.*s/%.*s", STR_ARG(directory), STR_ARG(name)).p;
	bool there = holds(path, content);
	int r = there ? 0 : file_write(path, content, &options, err);

	if (r < 0)
		return r;
	*ret_name = name;
	if (ret_written)
		*ret_written = !there;
	return 0;
}

/* -- removing what nobody uses --------------------------------------------------------------------------- */

void work_files_prune(struct str directory, uint64_t keep_ms, size_t keep_files, uint64_t now_ms)
{
	const struct directory_prune options = {
		.takes = is_ours, .now_ms = now_ms, .keep_ms = keep_ms, .keep_files = keep_files
	};
	_cleanup_arena_ struct arena arena = { 0 };

	arena_init(&arena, 0);
	directory_prune(arena_cstr(&arena, directory), &options);
}

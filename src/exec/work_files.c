#include "base/base.h"
#include "exec/work_files.h"
#include "base/ids.h"
#include "base/map.h"
#include "base/units.h"
#include "io/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
	HASH_SEED = 0x6d637078, /* any, and always the same */
	HASH_DIGITS = 16,
	FILE_MODE = 0600,
	ENTRIES_MAX = 1 << 20, /* of the directory that are looked at */
};

static const char *const kinds[] = { "client-", "launch-", "module-", "runtime-", "snippet-" };

static bool is_ours(struct str name)
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

/* -- removing what nobody uses ---------------------------------------------------------------------------------------------- */

struct work_file {
	struct str name;
	uint64_t used_ms; /* since 1970 */
};

static int newest_first(const void *a, const void *b)
{
	const struct work_file *x = a, *y = b;

	return (x->used_ms < y->used_ms) - (x->used_ms > y->used_ms);
}

static size_t list_files(DIR *stream, struct work_file *files, size_t room, struct arena *arena)
{
	const struct dirent *entry;
	size_t count = 0;

	while (count < room && (entry = readdir(stream)) != NULL) {
		struct str name = str_of(entry->d_name);
		struct stat st;

		if (!is_ours(name) || fstatat(dirfd(stream), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		files[count++] = (struct work_file){ arena_copy(arena, name),
						     (uint64_t)st.st_mtim.tv_sec * MS_PER_SECOND };
	}
	return count;
}

static size_t count_entries(DIR *stream)
{
	size_t count = 0;

	while (count < ENTRIES_MAX && readdir(stream))
		count++;
	rewinddir(stream);
	return count;
}

void work_files_prune(struct str directory, uint64_t keep_ms, size_t keep_files, uint64_t now_ms)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct work_file *files;
	DIR *stream;
	size_t count;

	arena_init(&arena, 0);
	stream = opendir(arena_cstr(&arena, directory));
	if (!stream)
		return;
	files = xcalloc(count_entries(stream) + 1, sizeof(*files));
	count = list_files(stream, files, count_entries(stream), &arena);
	qsort(files, count, sizeof(*files), newest_first);
	for (size_t i = 0; i < count; i++)
		if (i >= keep_files || (keep_ms && files[i].used_ms + keep_ms < now_ms))
			(void)unlinkat(dirfd(stream), files[i].name.p, 0);
	free(files);
	closedir(stream);
}

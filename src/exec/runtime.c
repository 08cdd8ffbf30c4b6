#include "base/base.h"
#include "exec/runtime.h"
#include "base/map.h"
#include "io/files.h"
#include "io/program_path.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum {
	NODE_VERSION_MIN = 22 << 16 | 6, /* the first with --experimental-strip-types */
	ANCESTORS_MAX = 3,		 /* of this program's directory that may be its source tree */
	VERSION_BYTES_MAX = 64,
	MEMORY_SEED = 0x6e6f6465, /* any, and always the same */
};

struct str exec_runtime_name(enum exec_runtime_kind kind)
{
	static const struct str names[] = { STR_INIT("deno"), STR_INIT("node") };

	return names[kind];
}

static bool kind_of(struct str name, enum exec_runtime_kind *ret_kind)
{
	for (unsigned kind = 0; kind < EXEC_RUNTIME_COUNT; kind++)
		if (str_eq(name, exec_runtime_name(kind))) {
			*ret_kind = kind;
			return true;
		}
	return false;
}

/* -- versions -------------------------------------------------------------------------------------------- */

uint32_t exec_runtime_parse_version(struct str text)
{
	struct str rest = str_trim(text), major, minor;
	uint64_t a, b;

	if (!str_starts_with(rest, STR("v")))
		return 0;
	rest = str_from(rest, 1);
	if (!str_split(&rest, '.', &major) || !str_split(&rest, '.', &minor) || str_to_u64(major, &a) < 0 ||
	    str_to_u64(minor, &b) < 0 || a == 0 || a > UINT16_MAX || b > UINT16_MAX)
		return 0;
	return (uint32_t)(a << 16 | b);
}

bool exec_runtime_will_do(const struct exec_candidate *candidate)
{
	return candidate->kind != EXEC_NODE || candidate->version >= NODE_VERSION_MIN;
}

static const char *memory_path(struct str directory, const struct exec_candidate *candidate,
			       struct arena *arena)
{
	return arena_printf(arena, "%.*s/runtime-%016llx.txt", STR_ARG(directory),
			    (unsigned long long)hash_str(candidate->identity, MEMORY_SEED))
		.p;
}

void exec_runtime_remember(struct str directory, const struct exec_candidate *candidate, struct arena *arena)
{
	const struct file_write_options options = { .mode = 0600 };

	/* Not remembered, it is asked again. */
	(void)file_write(memory_path(directory, candidate, arena),
			 arena_printf(arena, "v%u.%u", candidate->version >> 16, candidate->version & 0xffff),
			 &options, NULL);
}

static uint32_t remembered(struct str directory, const struct exec_candidate *candidate, struct arena *arena)
{
	struct str text;
	uint32_t version;

	if (file_read(memory_path(directory, candidate, arena), VERSION_BYTES_MAX, &text, NULL) < 0)
		return 0;
	version = exec_runtime_parse_version(text);
	free((char *)text.p);
	return version;
}

/* -- finding --------------------------------------------------------------------------------------------- */

struct search {
	struct str path, directory;
	struct arena *arena;
	struct exec_candidate *found;
	size_t count;
};

static bool try_program(struct search *search, enum exec_runtime_kind kind, const char *path)
{
	struct exec_candidate *candidate = &search->found[search->count];
	struct stat st;

	if (access(path, X_OK) < 0 || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	*candidate = (struct exec_candidate){ .kind = kind, .path = arena_copy(search->arena, str_of(path)) };
	candidate->identity =
		arena_printf(search->arena, "%s %llu %lld.%09ld %lld", path, (unsigned long long)st.st_ino,
			     (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (long long)st.st_size);
	if (kind == EXEC_NODE)
		candidate->version = remembered(search->directory, candidate, search->arena);
	search->count++;
	return true;
}

/* In the source tree that this program was built in: ./run puts deno and node there. */
static bool try_source_tree(struct search *search, enum exec_runtime_kind kind)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self));
	struct str directory = str_make(self, n > 0 ? (size_t)n : 0);

	for (unsigned i = 0; i <= ANCESTORS_MAX; i++) {
		size_t slash = str_find_last_char(directory, '/');

		if (slash == STR_NONE)
			return false;
		directory = str_slice(directory, 0, slash);
		if (try_program(search, kind,
				arena_printf(search->arena, "%.*s/node_modules/.bin/%.*s", STR_ARG(directory),
					     STR_ARG(exec_runtime_name(kind)))
					.p))
			return true;
	}
	return false;
}

static void search_kind(struct search *search, enum exec_runtime_kind kind)
{
	struct str rest = search->path, directory;

	while (rest.n && str_split(&rest, ':', &directory))
		/* A relative directory would mean another program in every directory. */
		if (str_starts_with(directory, STR("/")) &&
		    try_program(search, kind,
				arena_concat(search->arena, directory, STR("/"), exec_runtime_name(kind)).p))
			return;
	(void)try_source_tree(search, kind);
}

static int search_auto(struct search *search, const struct str *order, size_t order_count, struct err *err)
{
	enum exec_runtime_kind kind;

	for (size_t i = 0; i < order_count && search->count < EXEC_CANDIDATES_MAX; i++) {
		if (!kind_of(order[i], &kind))
			return err_set(err, ERR_INVALID,
				       "script.runtimeOrder names \"%.*s\"; it may name deno and node",
				       STR_ARG(order[i]));
		search_kind(search, kind);
	}
	if (search->count)
		return 0;
	return err_set(
		err, ERR_NOT_FOUND,
		"there is no program to run scripts with: neither deno nor node is in PATH; install one of "
		"them, or set script.runtime to its path");
}

int exec_runtime_find(struct str runtime, const struct str *order, size_t order_count, struct str path,
		      struct str directory, struct arena *arena,
		      struct exec_candidate ret_candidates[EXEC_CANDIDATES_MAX], size_t *ret_count,
		      struct err *err)
{
	struct search search = { path, directory, arena, ret_candidates, 0 };
	struct str name = str_from(runtime, str_find_last_char(runtime, '/') + 1);
	enum exec_runtime_kind kind;
	int r = 0;

	if (!runtime.n || str_eq(runtime, STR("auto"))) {
		r = search_auto(&search, order, order_count, err);
	} else if (!kind_of(name, &kind)) {
		r = err_set(
			err, ERR_INVALID,
			"there is no runtime \"%.*s\": it may be auto, deno, node, or a path that ends in one of them",
			STR_ARG(runtime));
	} else if (name.n == runtime.n) {
		search_kind(&search, kind);
	} else {
		(void)try_program(&search, kind, arena_cstr(arena, runtime));
	}
	if (r < 0)
		return r;
	if (!search.count)
		return err_set(err, ERR_NOT_FOUND, "%.*s %s: install it, or set script.runtime to its path",
			       STR_ARG(runtime),
			       name.n == runtime.n ? "is not in PATH" : "is no program that can be run");
	*ret_count = search.count;
	return 0;
}

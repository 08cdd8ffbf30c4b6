#include "base/base.h"
#include "io/files.h"
#include "base/arena.h"
#include "base/list.h"
#include "base/units.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PRIVATE_MODE = 0700, OTHERS = 077 };

enum { ENTRIES_MAX = 1 << 20 }; /* of a directory that are looked at */

/* -1 with the errno of mkdir() when it was not made and is not there: for what is there that may be EROFS or
 * EACCES. */
static int directory_make(const char *path)
{
	int code;

	if (mkdir(path, PRIVATE_MODE) == 0 || errno == EEXIST)
		return 0;
	code = errno;
	if (access(path, F_OK) == 0)
		return 0;
	errno = code;
	return -1;
}

/* mkdir -p, with the modes of a private place: a parent that we have to make is as private as what it
 * holds. */
static int directory_make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int r;

		*slash = '\0';
		r = directory_make(path);
		*slash = '/';
		if (r < 0)
			return -1;
	}
	return directory_make(path);
}

int directory_make_private(const char *path, struct err *err)
{
	_cleanup_free_ char *copy = strdup(path);
	struct stat st;

	BUG_ON(!copy || !*path);
	if (directory_make_parents(copy) < 0 || stat(path, &st) < 0)
		return err_errno(err, "cannot create the directory %s", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, ERR_EXISTS, "cannot create the directory %s: a file has that name", path);
	if (st.st_uid != geteuid())
		return err_set(
			err, ERR_DENIED,
			"the directory %s belongs to user %u, not to us (%u): name another one, or give it away "
			"with chown",
			path, st.st_uid, geteuid());
	if (st.st_mode & OTHERS)
		return err_set(err, ERR_DENIED,
			       "the directory %s is open to other users (mode %04o): close it with chmod 700",
			       path, st.st_mode & (mode_t)07777);
	return 0;
}

/* -- pruning --------------------------------------------------------------------------------------------- */

struct aged_file {
	struct list_node node;
	struct str name; /* followed by a NUL */
	uint64_t written_ms;
};

static int newest_first(const void *a, const void *b)
{
	const struct aged_file *x = *(const struct aged_file *const *)a,
			       *y = *(const struct aged_file *const *)b;

	return (x->written_ms < y->written_ms) - (x->written_ms > y->written_ms);
}

/* The files that are to be looked at, the newest first: an array from the arena. */
static struct aged_file **aged_files(DIR *stream, const struct directory_prune *options, struct arena *arena,
				     size_t *ret_count)
{
	const struct dirent *entry;
	struct aged_file **files, *file;
	struct list_node found;
	size_t count = 0;

	list_init(&found);
	for (size_t seen = 0; seen < ENTRIES_MAX && (entry = readdir(stream)) != NULL; seen++) {
		struct stat st;

		if (!options->takes(options->context, str_of(entry->d_name)) ||
		    fstatat(dirfd(stream), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		file = arena_new(arena, struct aged_file);
		file->name = arena_copy(arena, str_of(entry->d_name));
		file->written_ms = (uint64_t)st.st_mtim.tv_sec * MS_PER_SECOND;
		list_append(&found, &file->node);
		count++;
	}
	files = arena_array(arena, struct aged_file *, count + 1);
	*ret_count = count;
	count = 0;
	list_for_each(file, &found, node)
		files[count++] = file;
	qsort(files, count, sizeof(struct aged_file *), newest_first);
	return files;
}

void directory_prune(const char *path, const struct directory_prune *options)
{
	_cleanup_arena_ struct arena arena = { 0 };
	DIR *stream = opendir(path);
	struct aged_file **files;
	size_t count;

	if (!stream)
		return;
	arena_init(&arena, 0);
	files = aged_files(stream, options, &arena, &count);
	for (size_t i = 0; i < count; i++) {
		bool old = options->keep_ms && files[i]->written_ms + options->keep_ms < options->now_ms;

		if ((!old && i < options->keep_files) || unlinkat(dirfd(stream), files[i]->name.p, 0) < 0)
			continue;
		if (options->removed)
			options->removed(options->context, files[i]->name);
	}
	closedir(stream);
}

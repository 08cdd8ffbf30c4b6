#include "base/base.h"
#include "io/files.h"

#include <errno.h>
#include <sys/stat.h>

enum { PRIVATE_MODE = 0700, OTHERS = 077 };

/* mkdir -p, with the modes of a private place: a parent that we have to make is as private as what it holds. */
static int directory_make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int failed;

		*slash = '\0';
		failed = mkdir(path, PRIVATE_MODE) < 0 && errno != EEXIST;
		if (failed && access(path, F_OK) == 0) /* EROFS or EACCES, but it is there */
			failed = 0;
		*slash = '/';
		if (failed)
			return -1;
	}
	return mkdir(path, PRIVATE_MODE) < 0 && errno != EEXIST ? -1 : 0;
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

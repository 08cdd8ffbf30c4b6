#include "base/base.h"
#include "io/program_path.h"
#include "base/str.h"

#include <limits.h>

/* Looks for `name` in each of `places`, which are relative to the directory of this program. */
static int find_beside(const char *const *places, size_t count, const char *name, int mode, char *path,
		       size_t size, struct err *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self));
	size_t slash;

	if (n <= 0 || (size_t)n == sizeof(self))
		return err_errno(err, "cannot tell where this program is");
	slash = str_find_last_char(str_make(self, (size_t)n), '/');
	BUG_ON(slash == STR_NONE);
	for (size_t i = 0; i < count; i++) {
		int length = snprintf(path, size, "%.*s/%s%s", (int)slash, self, places[i], name);

		if (length > 0 && (size_t)length < size && access(path, mode) == 0)
			return 0;
	}
	return err_set(err, ERR_NOT_FOUND, "%s is neither in %.*s/%s nor in %.*s/%s: install mcpx again",
		       name, (int)slash, self, places[0], (int)slash, self, places[count - 1]);
}

int program_path_beside(const char *program, char *path, size_t size, struct err *err)
{
	static const char *const places[] = { "", "../libexec/mcpx/" };

	return find_beside(places, ARRAY_LEN(places), program, X_OK, path, size, err);
}

int program_share_path(const char *file, char *path, size_t size, struct err *err)
{
	static const char *const places[] = { "../share/mcpx/", "../src/settings/" };

	return find_beside(places, ARRAY_LEN(places), file, R_OK, path, size, err);
}

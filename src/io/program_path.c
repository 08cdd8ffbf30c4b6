#include "base/base.h"
#include "io/program_path.h"
#include "base/str.h"

enum {
	SELF_SIZE = 4096, /* PATH_MAX of Linux */
};

int program_path_beside(const char *program, char *path, size_t size, struct err *err)
{
	static const char *const places[] = { "", "../libexec/mcpx/" };
	char self[SELF_SIZE];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self));
	size_t slash;

	if (n <= 0 || (size_t)n == sizeof(self))
		return err_errno(err, "cannot tell where this program is");
	slash = str_find_last_char(str_make(self, (size_t)n), '/');
	BUG_ON(slash == STR_NONE);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		int length = snprintf(path, size, "%.*s/%s%s", (int)slash, self, places[i], program);

		if (length > 0 && (size_t)length < size && access(path, X_OK) == 0)
			return 0;
	}
	return err_set(err, ERR_NOT_FOUND,
		       "%s is neither in %.*s nor in %.*s/../libexec/mcpx: install mcpx again", program,
		       (int)slash, self, (int)slash, self);
}

#include "base/base.h"
#include "artifacts/home.h"

#include <errno.h>
#include <unistd.h>

enum {
	OWNER_MAX = 256, /* bytes of a key, and more */
};

/* Whose it is. A link is made whole or not at all, and never over another one. */
static int read_owner(const char *link, char *owner, struct str *ret_owner, struct err *err)
{
	ssize_t n = readlink(link, owner, OWNER_MAX);

	if (n < 0)
		return err_errno(err, "%s: cannot be read", link);
	*ret_owner = str_make(owner, (size_t)n);
	return 0;
}

int artifact_home(struct str state, struct str key, struct arena *arena, struct str *ret_directory,
		  struct err *err)
{
	const char *link = arena_concat(arena, state, STR("/artifacts.owner"), STR("")).p;
	char bytes[OWNER_MAX];
	struct str owner;

	if (symlink(arena_copy(arena, key).p, link) < 0 && errno != EEXIST)
		return err_errno(err, "%s: cannot be made", link);
	if (read_owner(link, bytes, &owner, err) < 0)
		return err->code;
	if (str_eq(owner, key))
		*ret_directory = arena_concat(arena, state, STR("/artifacts"), STR(""));
	else
		*ret_directory = arena_concat(arena, state, STR("/artifacts-"), key);
	return 0;
}

#include "base/base.h"
#include "hub/caller.h"
#include "base/err.h"
#include "io/files.h"

#include <limits.h>
#include <sys/stat.h>

static const struct str scope_names[] = {
	[HUB_SCOPE_GLOBAL] = STR_INIT("global"),     [HUB_SCOPE_REPO] = STR_INIT("repo"),
	[HUB_SCOPE_WORKTREE] = STR_INIT("worktree"), [HUB_SCOPE_CWD] = STR_INIT("cwd"),
	[HUB_SCOPE_SESSION] = STR_INIT("session"),   [HUB_SCOPE_PARENT_SESSION] = STR_INIT("parent-session"),
	[HUB_SCOPE_PID] = STR_INIT("pid"),	     [HUB_SCOPE_CALL] = STR_INIT("call"),
};

const char *hub_scope_name(enum hub_scope scope)
{
	return scope_names[scope].p;
}

/* -- git work trees, read from their files: a `git` process per call would cost more than the call ------- */

enum {
	/* Bytes of a .git or commondir file: one path and a word. */
	GIT_FILE_MAX = 8192,
};

struct work_tree {
	struct str top;	   /* the directory that has .git in it; a part of where the search began */
	struct str common; /* the repository that it shares with its other work trees */
};

static struct str parent_of(struct str path)
{
	size_t slash = str_find_last_char(path, '/');

	return str_slice(path, 0, slash == STR_NONE ? 0 : slash);
}

/* `path` as seen from `directory`. */
static struct str resolve(struct arena *arena, struct str directory, struct str path)
{
	return str_starts_with(path, STR("/")) ? path : arena_concat(arena, directory, STR("/"), path);
}

static bool read_small(struct arena *arena, struct str path, struct str *ret_text)
{
	struct str text;

	if (file_read(arena_cstr(arena, path), GIT_FILE_MAX, &text, NULL) < 0)
		return false;
	*ret_text = arena_copy(arena, str_trim(text));
	free((char *)text.p);
	return true;
}

/* gitrepository-layout(5): .git is a directory, or in a linked work tree a file "gitdir: PATH"; the directory
 * there names the common one in its file `commondir`. */
static bool git_dir_at(struct arena *arena, struct str directory, struct str *ret_common)
{
	struct str git = arena_concat(arena, directory, STR("/.git"), STR(""));
	struct str text, common;
	struct stat status;

	if (stat(git.p, &status) == 0 && S_ISDIR(status.st_mode)) {
		*ret_common = git;
		return true;
	}
	if (!read_small(arena, git, &text) || !str_starts_with(text, STR("gitdir: ")))
		return false;
	git = resolve(arena, directory, str_from(text, STR("gitdir: ").n));
	if (read_small(arena, arena_concat(arena, git, STR("/commondir"), STR("")), &common))
		git = resolve(arena, git, common);
	*ret_common = git;
	return true;
}

/* Without links and dot segments, so that every work tree of a repository has the same; as it is when that
 * cannot be had. */
static struct str real_path(struct arena *arena, struct str path)
{
	char *cstr = arena_cstr(arena, path);
	_cleanup_free_ char *real = realpath(cstr, NULL);

	return real ? arena_copy(arena, str_of(real)) : str_make(cstr, path.n);
}

static bool work_tree_find(struct arena *arena, struct str cwd, struct work_tree *ret_tree)
{
	_cleanup_arena_ struct arena scratch = { 0 };
	struct str common;

	arena_init(&scratch, 0);
	/* The last is the root, as "". */
	for (struct str at = cwd;; at = parent_of(at)) {
		arena_release(&scratch);
		if (git_dir_at(&scratch, at, &common)) {
			ret_tree->top = at.n ? at : STR("/");
			ret_tree->common = real_path(arena, common);
			return true;
		}
		if (at.n == 0)
			return false;
	}
}

/* -- keys ------------------------------------------------------------------------------------------------ */

/* Whoever calls may say anything: what can be no directory is none. "/a/" is "/a". */
static struct str directory_of(const struct hub_caller *caller)
{
	struct str cwd = caller->cwd;

	if (!str_starts_with(cwd, STR("/")) || cwd.n >= PATH_MAX)
		return str_make(NULL, 0);
	while (cwd.n > 1 && str_ends_with(cwd, STR("/")))
		cwd.n--;
	return cwd;
}

static struct str scope_value(enum hub_scope scope, const struct hub_caller *caller, struct arena *arena,
			      struct str *ret_value)
{
	struct str cwd = directory_of(caller);
	struct work_tree tree;

	*ret_value = str_make(NULL, 0);
	switch (scope) {
	case HUB_SCOPE_REPO:
	case HUB_SCOPE_WORKTREE:
		if (cwd.n && work_tree_find(arena, cwd, &tree)) {
			*ret_value = scope == HUB_SCOPE_REPO ? tree.common : tree.top;
			return scope == HUB_SCOPE_REPO ? STR("repo:") : STR("worktree:");
		}
		_fallthrough_;
	case HUB_SCOPE_CWD:
		*ret_value = cwd;
		return STR("cwd:");
	case HUB_SCOPE_PARENT_SESSION:
		*ret_value = caller->parent_session.n ? caller->parent_session : caller->session;
		return STR("psession:");
	case HUB_SCOPE_SESSION:
		*ret_value = caller->session;
		return STR("session:");
	case HUB_SCOPE_PID:
		if (caller->pid)
			*ret_value = arena_printf(arena, "%u", caller->pid);
		return STR("pid:");
	case HUB_SCOPE_GLOBAL:
	case HUB_SCOPE_CALL:
		break;
	}
	return STR("call:");
}

struct str hub_scope_key(enum hub_scope scope, const struct hub_caller *caller, struct str fresh_call_id,
			 struct arena *arena)
{
	struct str value, prefix;

	if (scope == HUB_SCOPE_GLOBAL)
		return STR("global");
	prefix = scope_value(scope, caller, arena, &value);
	if (value.n == 0) {
		prefix = STR("call:");
		value = caller->call_id.n ? caller->call_id : fresh_call_id;
	}
	return arena_concat(arena, prefix, value, STR(""));
}

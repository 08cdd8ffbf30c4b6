/*
 * caller.h - who makes a call, and which instance of a server that gives them.
 *
 * A server's scope (settings pool.scope, or the server's own) says what makes two callers the same: callers
 * with the same scope key share an instance. The key is text such as "cwd:/home/a/project"; it never leaves
 * the hub except in status.
 */
#ifndef HUB_CALLER_H
#define HUB_CALLER_H

#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"
#include "mcp/revision.h"

struct hub_caller {
	struct str session;	   /* named by the caller; empty: none */
	struct str parent_session; /* empty: none */
	struct str call_id; /* unique for each call; empty: the hub makes one up ("anon-" and 16 hex) */
	/* Absolute; empty: unknown. A relative one, or one of PATH_MAX bytes or more, counts as unknown. */
	struct str cwd;
	uint32_t pid;	/* of the client, 0: unknown */
	struct str run; /* id of the script run that makes the call; empty: none */
	bool is_client; /* an MCP client, of this era */
	enum mcp_era era;
};

enum hub_scope {
	HUB_SCOPE_GLOBAL,
	HUB_SCOPE_REPO,
	HUB_SCOPE_WORKTREE,
	HUB_SCOPE_CWD,
	HUB_SCOPE_SESSION,
	HUB_SCOPE_PARENT_SESSION,
	HUB_SCOPE_PID,
	HUB_SCOPE_CALL
};

/* Its word in the settings. */
const char *hub_scope_name(enum hub_scope scope);

/*
 * The scope key of this caller. A scope that the caller gives no value for degrades: repo and worktree
 * outside a git work tree to cwd, parent-session to session, everything else to call. `fresh_call_id` stands
 * in for a caller without a call id.
 */
struct str hub_scope_key(enum hub_scope scope, const struct hub_caller *caller, struct str fresh_call_id,
			 struct arena *arena);

#endif

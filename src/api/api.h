/*
 * api.h - what the daemon offers to the outside: the /v1 routes, and MCP at its own path and for `mcpx
 * serve`.
 *
 * struct api ties the rooms together for the operations: it owns none of them. api_request() is the one entry
 * for HTTP; it checks who may ask (access.h) before anything else, then finds the operation or the MCP door.
 * All on the loop thread.
 */
#ifndef API_API_H
#define API_API_H

#include "api/access.h"
#include "api/call.h"
#include "api/door.h"
#include "artifacts/store.h"
#include "base/base.h"
#include "base/ids.h"
#include "hub/hub.h"
#include "io/http_server.h"
#include "io/loop.h"
#include "mcp/http_door.h"
#include "settings/config.h"
#include "settings/places.h"
#include "settings/settings.h"

struct api_program {
	/* Reads the configuration again and gives it to the hub; counts as hub_reload(). */
	int (*reload)(void *context, unsigned *ret_added, unsigned *ret_removed, struct err *err);
	/* Begins an orderly stop; returns at once. */
	void (*stop)(void *context, const char *why);
	/* During a drain: the last script has ended, or the last stdio channel has closed. */
	void (*emptied)(void *context);
	/* A setting was changed at run time: who keeps values of hot ones looks again. */
	void (*adjust)(void *context);
	void *context;
};

struct api {
	struct loop *loop;
	struct hub *hub;
	struct artifact_store *artifacts; /* NULL when artifacts.enabled is false */
	struct settings *settings;
	const struct places *places;
	const char *version;
	const char *supervisor;
	const char *endpoint; /* "unix:/...", and the TCP address when there is one */
	uint16_t port;	      /* of the TCP listener, 0: none */
	uint64_t started;     /* loop_now() */
	struct access access;
	struct api_program program;
	/* why the files as they are now are not in force; code 0 when they are */
	const struct err *config_err;
	struct http_server *server; /* NULL once it was freed */
	struct api_door door;	    /* of the MCP endpoint */
	struct mcp_http_door *mcp;  /* NULL when proto.serveMCP is false */
	struct hub_listener listener;
	struct list_node stdio_doors; /* of `mcpx serve` */
	uint64_t last_stdio_door;     /* number of the newest */
	/* begins the names of sessions that their clients gave none: unlike that of another daemon, also one
	 * before us */
	char session_prefix[ID_TEXT_MAX];
	struct list_node runs; /* scripts that run */
	unsigned run_count;
	struct buf client;	    /* the plain client of all namespaces; empty until it is asked for */
	uint64_t client_generation; /* of the hub, that it was made for */
	uint64_t last_use;	    /* loop_now() of the last request */
	unsigned active;	    /* requests that are not answered */
	bool draining, ending;
};

/* Ready to serve; the fields up to `server` are set by the program. */
int api_init(struct api *api, struct err *err);
/* Hot settings have changed: the MCP door takes them. What the operations need of them they read themselves,
 * each time. */
void api_adjust(struct api *api);
/*
 * Ends the MCP door's streams, and stdio channels when nothing runs on them any more. What runs goes on;
 * nobody but scripts that run may ask for more. Before http_server_drain(), which is best left until the last
 * of these has ended, because they need connections for their calls.
 */
void api_drain(struct api *api);
/* The drain has lasted long enough: scripts are stopped and answered for as stopped. Calls of tools end with
 * the hub. */
void api_end(struct api *api);
/* Closes the stdio channels that are left. Not from within a callback of one. */
void api_close_channels(struct api *api);
void api_release(struct api *api);

/* struct http_handler's function. */
void api_request(void *context, struct http_request *request);

/* -- the operations' functions, by operation ------------------------------------------------------------- */

typedef void api_operation(struct api_call *call);
extern api_operation *const api_operations[OPERATION_COUNT];

api_operation api_health, api_status, api_namespaces, api_servers_list;
api_operation api_tools, api_search, api_types, api_client;
api_operation api_tool_call, api_exec;
api_operation api_artifact_put, api_artifacts, api_artifact_get, api_artifact_delete;
api_operation api_settings_list, api_settings_get, api_settings_set, api_settings_unset;
api_operation api_refresh, api_session_release, api_openapi, api_shutdown;

/* Whether a script of that id runs. */
bool api_exec_runs(const struct api *api, struct str run);
/* Stops all scripts; their callers hear of it as soon as they have ended. */
void api_exec_end(struct api *api);

/* How long a call waits for lists: for the namespaces that it names (with commas; may be empty) as long as
 * they may take to start, else catalog.wait. */
struct hub_wait api_wait_for(const struct api_call *call, struct str namespaces);
/* Runs `then` when the servers that the call names, or all, have a snapshot or have failed to give one;
 * ready->owner is the call. */
void api_when_ready(struct api_call *call, void (*then)(struct hub_ready *ready));

#endif

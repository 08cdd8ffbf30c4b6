/*
 * scene_fixture.h - a hub on a configuration of its own, whose events are counted, and calls on it.
 *
 * In configuration texts "@" stands for the server of server_fixture.c and "~" for the scratch directory.
 */
#ifndef HUB_SCENE_FIXTURE_H
#define HUB_SCENE_FIXTURE_H

#include "base/base.h"
#include "hub/hub.h"
#include "hub/hub_fixture.h"

struct hub_scene {
	struct settings *set;
	struct config *config;
	struct environment environment;
	struct hub_limits limits;
	struct hub *hub;
	struct hub_listener listener;
	unsigned changes;  /* of tools */
	struct buf events; /* "server.start files;" and so on */
	void (*on_event)(struct hub_scene *scene, struct str event, struct str server);
	bool stopping, stopped;
	unsigned added, removed; /* by the last reload */
};

void hub_scene_init(struct hub_scene *scene);
void hub_scene_open(struct hub_scene *scene, const char *config);
void hub_scene_reload(struct hub_scene *scene, const char *config);
void hub_scene_stop(struct hub_scene *scene);
void hub_scene_close(struct hub_scene *scene);

/* hub_scene_init() and hub_scene_open(). */
void open_hub(struct hub_scene *scene, const char *config);
/* The same, with what it learns kept on disk, in "cache" of the scratch directory. */
void open_keeping(struct hub_scene *scene, const char *config);
const char *cache_dir(void);

/* One server "files" with these arguments (raw JSON strings) and members of its mcpx block. For the length of
 * a test. */
const char *one_server(const char *arguments, const char *block);

struct hub_server *server_named(struct hub_scene *scene, const char *name);
/* Waits until its tools are known. */
void know_tools(struct hub_scene *scene, const char *name);
struct waiter {
	struct hub_ready ready;
	unsigned done;
};
/* Begins to wait for lists; `only` may be NULL. */
void wait_for(struct hub_scene *scene, struct waiter *waiter, const char *only, bool fresh,
	      uint64_t deadline_ms);
/* Waits until every server has answered or failed. */
void all_ready(struct hub_scene *scene);
size_t snapshot_count(struct hub_scene *scene);
/* Whether that tool of the server is known. */
bool lists(struct hub_scene *scene, const char *server, const char *tool);

/* What hub_server_describe() says; valid until the next. */
const char *describe_server(struct hub_scene *scene, const char *name);
unsigned events_of(const struct hub_scene *scene, const char *event);

struct caller {
	struct hub_call call;
	unsigned done, progress;
	enum mcp_outcome outcome;
	struct buf result;
	int64_t upstream_code;
	char upstream_message[256], upstream_data[256];
	int code;
	char message[ERR_MESSAGE_MAX];
	char last_progress[64];
	void (*on_progress)(struct caller *caller);
	void (*on_done)(struct caller *caller);
};

void call_spec(struct caller *caller, struct hub_scene *scene, const struct hub_call_spec *spec);
/* A call without progress and one with it. */
void call(struct caller *caller, struct hub_scene *scene, const char *server, const char *tool,
	  const char *arguments);
void call_with_progress(struct caller *caller, struct hub_scene *scene, const char *server, const char *tool);
/* Calls a tool that does not answer by itself, and waits until the server has been asked. */
void call_and_leave(struct caller *caller, struct hub_scene *scene, const char *server, const char *tool);
void call_end(struct caller *caller);
/* Cancels it first. */
void call_drop(struct caller *caller);

/* Calls, waits and fails without a result. The text of the first content, in the caller's result. */
const char *call_now(struct caller *caller, struct hub_scene *scene, const char *server, const char *tool,
		     const char *arguments);
/* Waits until it is answered, by a result that has this part, and ends it. */
void expect_answer(struct caller *caller, const char *part);
void expect_error(struct caller *caller, int code, enum mcp_outcome outcome, const char *part);

#endif

/*
 * instance.h - one running process of a server: the supervised child, the MCP client on its pipes, and their
 * common life.
 *
 * An instance is started once, becomes ready when the handshake is done (`opened`), serves, and ends
 * (`ended`), by its own doing, by instance_stop(), or because it could not start. It never comes back: the
 * pool starts another. Whatever ends it, the reason in `ended` names the server and quotes the end of its
 * stderr. Two things hold its memory: the process, until `ended` was called, and each holder, until
 * instance_drop(). All on the loop thread.
 */
#ifndef HUB_INSTANCE_H
#define HUB_INSTANCE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "io/child.h"
#include "io/loop.h"
#include "json/writer.h"
#include "mcp/client.h"

struct instance;

/* What is started, and how. All pointers must outlive the instance. */
struct instance_definition {
	struct str name;		/* for messages */
	const char *const *argv;	/* NULL-terminated */
	const char *const *env;		/* NULL-terminated, complete */
	const char *cwd;		/* NULL: ours */
	const char *supervisor;		/* path of the supervisor program */
	size_t line_max;		/* bytes of one message of the server */
	unsigned depth_max;		/* its nesting; 0: JSON_DEPTH_MAX */
	size_t stderr_keep, noise_keep; /* bytes kept for errors and status */
	size_t input_max;		/* unsent bytes on the way to the server */
	size_t requests_max;		/* in flight at once */
	size_t batch_max;		/* messages in one batch of the server */
	uint64_t close_ms, term_ms;	/* the stop ladder (io/child.h) */
	uint64_t kill_ms;		/* patience with what got SIGKILL (io/child.h) */
	/* Patience with the handshake; with its first try when another can follow. */
	uint64_t start_ms, probe_ms;
	uint64_t ping_ms; /* patience with the answer to a ping */
	enum mcp_open_order order;
	struct str client_info; /* raw Implementation of ours */
};

struct instance_events {
	/* The handshake is done: instance->client is open. */
	void (*opened)(struct instance *instance);
	/* The handshake failed, for the reason in instance->ended, and the process is being ended. Not called
	 * when the process ended by itself. */
	void (*failed)(struct instance *instance);
	/* The process and all that came from it are gone; instance->ended has the reason. The last
	 * callback. */
	void (*ended)(struct instance *instance);
	/* The instance is not `choked` any more. */
	void (*recovered)(struct instance *instance);
	/* instance_doubt() got no sign of life: the instance is retired, and still runs. */
	void (*silent)(struct instance *instance);
	/* A notification other than progress. */
	void (*notified)(struct instance *instance, enum mcp_method method,
			 const struct jsonrpc_message *message);
};

enum instance_state { INSTANCE_STARTING, INSTANCE_READY, INSTANCE_STOPPING, INSTANCE_ENDED };

struct instance {
	const struct instance_definition *definition;
	const struct instance_events *events;
	struct loop *loop;
	void *owner;
	enum instance_state state;
	bool was_ready;
	bool shut;	  /* it closed its stdin before it was ready */
	bool failed;	  /* events->failed was called */
	bool asked;	  /* its end is instance_stop()'s doing, and no failure of its own */
	struct err ended; /* why: from the moment it is known, at the latest when `ended` is called */
	struct child child;
	struct mcp_client client;
	struct mcp_transport transport;
	struct mcp_open open;
	struct mcp_request level; /* logging/setLevel */
	struct mcp_request ping;  /* asks for a sign of life, */
	struct timer doubt;	  /* which is waited for while this runs, */
	uint64_t heard;		  /* and is any message beyond these */
	struct timer mute;	  /* runs once its stdout has ended: it should end, too */
	struct timer choking; /* runs while it writes a line of more than line_max: that should end, too, */
	bool choked;	      /* and until then nothing that it says can be understood */
	struct deferred unstarted; /* tells `ended` of a supervisor that could not be started */
	bool restarted;		   /* a legacy server ended upon the first handshake and was started again */
	unsigned holders;

	/* the pool's */
	struct list_node node;
	const char *retired;	   /* NULL, or why it gets no new holder and is stopped when it has none */
	struct list_node starters; /* struct pool_acquire that wait for `opened` */
	struct arena arena;	   /* of these two */
	struct str key, id;
	uint64_t started_at, used_at;
	uint64_t calls; /* of tools: reading its list is none */
};

/* Starts it. Nothing is called back from within; a command that cannot run is told through `ended`. */
struct instance *instance_start(struct loop *loop, const struct instance_definition *definition,
				const struct instance_events *events, void *owner);

/* Asks a legacy server that runs and can log for messages from this level on. MCP_LOG_NONE: does not ask. */
void instance_want_logs(struct instance *instance, enum mcp_log_level level);

/*
 * A request was not answered in time: asks the server for a sign of life, once at a time, and tells in `err`
 * what comes of it. One that says nothing for ping_ms is of no use to the next caller: it is retired
 * (`silent`). It is not ended here, for others may wait with more patience.
 */
void instance_doubt(struct instance *instance, struct err *err);

/* Begins the stop ladder; running requests fail at once with ERR_CLOSED. `reason` completes "server NAME was
 * stopped: " in their errors. Harmless on one that is stopping or has ended. */
void instance_stop(struct instance *instance, const char *reason);

void instance_hold(struct instance *instance);
/* Gives a hold back and leaves NULL. */
void instance_drop(struct instance **instance);

/* For status: {id, pid, state, holders, key, calls, uptimeSec, idleSec, protocolVersion, noiseLines,
 * noiseFirst, warnings}. */
void instance_describe(const struct instance *instance, struct json_writer *w);

#endif

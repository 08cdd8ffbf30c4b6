/*
 * http_connection.h - one connection of the HTTP server. Private to the files that make up the server:
 *
 *   http_listen.c      binds sockets
 *   http_server.c      listeners, accepting, draining
 *   http_connection.c  the life of a connection: reading, heads, time-outs, the end of a request
 *   http_request.c     what a handler asks about a request
 *   http_body.c        bodies of requests
 *   http_output.c      writing, and what could not be written yet
 *   http_answer.c      heads of answers, whole answers, upgrades
 *   http_file.c        answers from files
 *   http_stream.c      streamed answers
 *
 * All progress is made by connection_run(), which is called from the loop only: when bytes arrived, when
 * output drained, or deferred when a handler did something. So a handler's callbacks never come from within a
 * call of the handler.
 *
 * What is read lands in one scratch buffer of the server and is used from there; only what cannot be used yet
 * is kept with the connection. An idle connection, or one that is being streamed to, holds no buffer at all.
 */
#ifndef IO_HTTP_CONNECTION_H
#define IO_HTTP_CONNECTION_H

#include "base/base.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/time_text.h"
#include "io/http_chunked.h"
#include "io/http_parser.h"
#include "io/http_server.h"
#include "io/loop.h"

#include <sys/socket.h>
#include <sys/uio.h>

struct http_listener {
	struct list_node node;
	struct http_server *server;
	struct watch watch;
	struct timer retry; /* runs while accepting is paused for want of descriptors */
	int fd;
	bool local;
	unsigned connections;
};

struct http_server {
	struct loop *loop;
	struct http_limits limits;
	struct http_handler handler;
	struct list_node listeners;
	struct list_node connections;
	unsigned connection_count;
	struct http_parser *spare_parser; /* for the next head; NULL while one that is incomplete has it */
	char *scratch;			  /* HTTP_SCRATCH bytes */
	struct buf head;		  /* where the head of an answer is put together */
	uint64_t date_second;		  /* of `date` */
	char date[TIME_TEXT_MAX];
	uint64_t accept_pauses;
	bool draining;
	struct timer grace;
	struct deferred drained_later;
	void (*drained)(void *context);
	void *drained_context;
};

/* Grain sizes of ours, not limits of anybody's. */
enum {
	HTTP_SCRATCH = 64 * 1024, /* most bytes of one read */
	/* input kept when one read was left unused and another came */
	HTTP_KEPT_BEYOND_HEAD = 2 * HTTP_SCRATCH,
	HTTP_HEAD_MAX = 256 * 1024,  /* head of an answer: a longer one is a BUG of the handler */
	HTTP_READS_PER_TURN = 4,     /* of one connection, before others have their turn */
	HTTP_REQUESTS_PER_TURN = 16, /* that were pipelined */
	HTTP_FILE_PER_TURN = 512 * 1024,
	/* of an unread body: dropped so that the connection can be kept; beyond, it is closed */
	HTTP_DISCARD_MAX = 64 * 1024,
	HTTP_REFUSAL_MAX = 256,	       /* body of an answer of the server's own */
	HTTP_CHUNK_FRAME = 16 + 2 + 2, /* most bytes that frame a chunk */
	HTTP_ADDRESS_MAX = 56	       /* "[IPv6]:port" */
};

/* -- parts of a connection ------------------------------------------------------------------------------- */

enum http_body_mode {
	BODY_UNCLAIMED, /* the handler has not said what it wants with the body */
	BODY_COLLECT,
	BODY_STREAM,
	BODY_DISCARD, /* it answered without having it all */
	BODY_REFUSED  /* too large: no more of it is taken */
};

struct http_body {
	enum http_body_mode mode;
	bool complete;	  /* its last byte was taken off the input */
	bool delivered;	  /* the handler knows that */
	bool paused;	  /* by the handler */
	bool wants_go_on; /* the peer waits for 100 Continue */
	bool chunked;
	uint64_t left;	    /* of a counted body */
	uint64_t taken;	    /* bytes of it so far */
	uint64_t waited_ms; /* for it so far; not while it was paused */
	uint64_t max;
	struct http_chunked decoder;
	struct buf collected;
	http_body_done *done;
	http_body_data *data;
};

/* What is to be written and could not be yet, in this order. */
struct http_output {
	struct buf bytes; /* heads, chunks */
	size_t bytes_at;
	char *body; /* a whole answer's body that was taken over */
	size_t body_n, body_at;
	int file; /* -1: none */
	uint64_t file_at, file_left;
};

enum http_connection_state {
	CONNECTION_IDLE,    /* between requests */
	CONNECTION_HEAD,    /* a head has begun */
	CONNECTION_REQUEST, /* one request, until its answer is written */
	CONNECTION_LINGER,  /* everything is written; what the peer still sends is dropped */
	CONNECTION_CLOSED   /* about to be freed */
};

enum http_answer_state {
	ANSWER_NONE,
	ANSWER_STREAMING,
	ANSWER_GIVEN /* the handler has no more to do with the request */
};

enum http_waiting { WAITING_NOTHING, WAITING_REQUEST, WAITING_HEAD, WAITING_BODY, WAITING_LINGER };

struct http_connection {
	struct list_node node;
	struct http_server *server;
	struct http_listener *listener; /* NULL when that was closed */
	int fd;
	struct http_peer peer;
	char address[HTTP_ADDRESS_MAX];
	struct watch watch;
	struct timer read_timer, write_timer;
	struct deferred later;

	enum http_connection_state state;
	enum http_answer_state answer;
	enum http_waiting waiting; /* for what the read timer runs */
	bool running;		   /* connection_run() is on the stack */
	bool arrived;		   /* bytes came since the read timer was set */
	uint64_t waits_since;	   /* loop_now() when the read timer was set */
	bool broken;		   /* writing failed, or the stream was aborted */
	bool half_closed;	   /* the peer sends no more, and waits for an answer */
	bool ignores_input;	   /* input came that nobody wants yet: it is not watched for */
	bool close_after;	   /* this answer is the last */
	bool must_linger;	   /* the peer may be sending what nobody will read */
	bool head_only;		   /* HEAD */
	bool keep_alive;	   /* the peer offered to */
	unsigned minor;

	struct http_parser *parser; /* of an incomplete head */
	struct str input; /* while running: what is to be used next, in the scratch buffer or in `kept` */
	struct buf kept;  /* input that could not be used yet */

	struct http_request request;
	struct http_body body;
	struct http_output output;
	struct http_stream *stream;
	size_t refused; /* size of the write that found no room; 0: none did */
};

/* -- http_connection.c ----------------------------------------------------------------------------------- */

/* Takes over `fd`, which has just been accepted. On failure `fd` is closed. */
void http_connection_new(struct http_listener *listener, int fd, const struct sockaddr_storage *address);

/* Makes the connection go on from the loop, if it is not going on already. */
void http_connection_wake(struct http_connection *c);

/* The request's answer is complete as far as the handler is concerned. */
void http_connection_answered(struct http_connection *c);

/* Watches for what the connection waits for now. */
void http_connection_watch(struct http_connection *c);

/* The request ends without an answer of its handler, who is told if it does not know. */
void http_connection_tell_gone(struct http_connection *c);

/* 503 for a request, however much of it has come, that nobody has answered, unless it is complete and
 * `incomplete_only` is set. True when it was one. */
bool http_connection_refuse(struct http_connection *c, bool incomplete_only);

/* Whether it is between two requests, and nothing of the next has been read: a server that drains may end it,
 * and what the peer has sent since is left unread. */
bool http_connection_is_between(const struct http_connection *c);

/* Ends it now; a handler that still has its request is told. */
void http_connection_drop(struct http_connection *c);

/* Lets go of the descriptor without closing it, and of the connection. */
void http_connection_release_fd(struct http_connection *c, int *ret_fd);

static inline struct http_connection *http_connection_of(const struct http_request *request)
{
	return request->connection;
}

/* What was read and not yet used; while it is running, `kept` may still hold what was. */
static inline struct str http_connection_unused(const struct http_connection *c)
{
	return c->running ? c->input : buf_str(&c->kept);
}

/* -- http_body.c ----------------------------------------------------------------------------------------- */

void http_body_begin(struct http_body *body, const struct http_head *head);
void http_body_release(struct http_body *body);

/* Moves input on to whoever wants it. True when something happened, so that there may be more to do. */
bool http_body_step(struct http_connection *c);

/* Whether more input would be used. */
bool http_body_wants_input(const struct http_body *body);

/* The handler has answered: says whether the connection can be kept although some of the body may be
 * unread. */
bool http_body_can_be_dropped(const struct http_connection *c);

/* -- http_output.c --------------------------------------------------------------------------------------- */

void http_output_init(struct http_output *output);
void http_output_release(struct http_output *output);
bool http_output_empty(const struct http_output *output);

/* Bytes of heads and chunks that were not written. */
size_t http_output_held(const struct http_output *output);

/* Writes the parts at once as far as possible and holds the rest. `more` says that a file follows
 * directly. */
void http_output_send(struct http_connection *c, struct iovec *parts, size_t count, bool more);

/* The same for a head and a body whose storage (from malloc) passes to the output. */
void http_output_send_taken(struct http_connection *c, struct str head, struct str body);

/* Sends `count` bytes of `fd` from `from` behind what is held; takes over `fd`. */
void http_output_send_file(struct http_connection *c, int fd, uint64_t from, uint64_t count);

/* Writes what is held as far as possible. */
void http_output_flush(struct http_connection *c);

/* -- http_answer.c --------------------------------------------------------------------------------------- */

enum { HTTP_LENGTH_NONE = -1, HTTP_LENGTH_UNKNOWN = -2 };

/* The head of an answer, in the server's buffer until the next. `length` is that of its body, or one of the
 * above: for statuses without a body, or when it will be streamed. Decides whether the connection is closed
 * after it. */
struct str http_answer_head(struct http_connection *c, const struct http_answer *answer, int64_t length);

/* Answers in the server's own name, {"error": problem} in JSON, and makes this the last answer. `problem` is
 * a sentence of at most 200 bytes. A handler that has the request is told that it is gone. */
void http_answer_refuse(struct http_connection *c, unsigned status, const char *problem);

/* -- http_stream.c --------------------------------------------------------------------------------------- */

/* Output was written: tells a stream that waits for room. True when it did, so that everything may be
 * different. */
bool http_stream_written(struct http_connection *c);

/* -- http_server.c --------------------------------------------------------------------------------------- */

struct http_parser *http_server_new_parser(const struct http_server *server);

/* A connection is closed: the listener may accept another, and a drain may be over. */
void http_server_closed(struct http_server *server, struct http_listener *listener);

#endif

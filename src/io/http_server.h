/*
 * http_server.h - an HTTP/1.1 server for unix sockets and TCP (RFC 9110, RFC 9112), strict on purpose.
 *
 * It refuses everything that could be read in two ways (http_parser.h has the table), puts a limit and a
 * time-out on everything, and notices a peer that goes away. Requests of one connection are answered in
 * order; a pipelined request is not parsed before the one in front is answered. All on the loop thread.
 *
 * A peer may stop sending once its request is complete and still read (RFC 9112, section 9.6), as `nc -N`
 * does. Over a unix socket that is told from a peer that has gone. Over TCP both look the same until
 * something is sent: a peer of HTTP/1.1 that waits for its answer is sent an interim answer (100 Continue,
 * which every client must take; RFC 9110, section 15.2), and one that has gone resets the connection for it.
 * A peer over TCP that reads a stream, or speaks HTTP/1.0, cannot be asked like this and counts as gone:
 * otherwise nobody would notice that the reader of a quiet stream has left.
 *
 * Life of a request: the `request` callback comes when the headers are complete. It must, then or later,
 * choose what to do with the body (http_read_body() or http_stream_body(); not needed when there is none) and
 * give exactly one answer: http_respond(), http_respond_file(), or a stream. If the peer goes away before the
 * answer is complete, `gone` is called and the request must be forgotten; otherwise it ends when the answer
 * was given. The request's arena lives until the answer is sent or `gone` returned.
 */
#ifndef IO_HTTP_SERVER_H
#define IO_HTTP_SERVER_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "io/http_syntax.h"
#include "io/loop.h"
#include "io/sse.h"

struct http_server;
struct http_connection;
struct http_request;
struct http_stream;

struct http_limits {
	size_t header_bytes;	/* request line and all fields; 431 beyond */
	unsigned header_fields; /* 431 beyond */
	size_t target_bytes;	/* 414 beyond */
	unsigned connections;	/* per listener; further ones wait in the backlog */
	uint64_t header_ms;	/* from the first byte of a request to the end of its headers; 408 */
	uint64_t body_ms;	/* between two arrivals of body bytes; 408 */
	uint64_t body_rate;	/* bytes of a body per second, on average, after body_ms; 408 below; 0: any */
	uint64_t idle_ms;	/* between requests of a kept-alive connection; closed silently */
	uint64_t write_ms;	/* an answer of which the peer takes nothing for so long is dropped */
	/* after an answer that ends the connection: what the peer still sends is dropped for so long, so that
	 * it can read the answer before the connection is reset */
	uint64_t linger_ms;
	size_t unsent_bytes;	  /* per stream: high-water mark of what the peer has not taken */
	uint64_t accept_retry_ms; /* pause of a listener that ran out of descriptors */
};

struct http_peer {
	bool local; /* came over a unix socket */
	uid_t uid;  /* SO_PEERCRED, when local */
	pid_t pid;
	struct str address; /* "127.0.0.1:4711", when not local */
};

struct http_request {
	struct arena arena;
	struct str method; /* as sent */
	struct str target; /* as sent, origin form */
	/* percent-decoded UTF-8, "/" first, no control characters, no dot segments (http_target.h); or "*" */
	struct str path;
	struct str query; /* as sent, without "?"; .p NULL when there is none */
	const struct http_field *fields;
	size_t field_count;
	bool has_body;
	uint64_t body_length; /* UINT64_MAX when chunked */
	const struct http_peer *peer;
	void *owner;				    /* free for the handler */
	void (*gone)(struct http_request *request); /* set by the handler; may be NULL */
	struct http_connection *connection;
};

struct http_handler {
	/* The headers are complete. */
	void (*request)(void *context, struct http_request *request);
	void *context;
};

/* ERR_INVALID when header_bytes (below 2 GiB), connections or unsent_bytes is 0. */
int http_server_new(struct http_server **ret_server, struct loop *loop, const struct http_limits *limits,
		    const struct http_handler *handler, struct err *err);

/* Adds a listener on a bound and listening descriptor, which the server takes over, also when it fails. */
int http_server_listen(struct http_server *server, int fd, bool local, struct err *err);
/* Closes the local listeners. Connections that they accepted go on. */
void http_server_unlisten_local(struct http_server *server);

/*
 * Stops accepting, closes idle connections, lets running answers end for at most `grace_ms`, then answers
 * what has no answer yet with 503 (its handler is told that it is gone), drops broken off streams, and closes
 * the rest limits.linger_ms later. Calls `drained` once, when no connection is left. A further call sets a
 * new grace.
 */
void http_server_drain(struct http_server *server, uint64_t grace_ms, void (*drained)(void *context),
		       void *context);
/* For a drain: answers requests whose heads or bodies have not come completely, so that no handler can have
 * answered them, with 503 now. */
void http_server_refuse_incomplete(struct http_server *server);
/* Drops every connection (`gone` is called for requests that were not answered) and closes the listeners. */
void http_server_free(struct http_server **server);
unsigned http_server_connections(const struct http_server *server);
/* How often a listener had to pause because descriptors had run out. */
uint64_t http_server_accept_pauses(const struct http_server *server);

/* Binds and listens. unix: the directory must exist; mode 0600. ERR_EXISTS for a path that is anything but a
 * dead socket, ERR_INVALID for one that is too long. tcp: a numeric address (else ERR_INVALID); port 0 takes
 * a free one, and *ret_port is the one that it is. */
int http_listen_unix(const char *path, int *ret_fd, struct err *err);
int http_listen_tcp(const char *address, uint16_t port, int *ret_fd, uint16_t *ret_port, struct err *err);

/* The field's value, or an empty string with .p NULL. Names compare without case. Several of one name are
 * joined by ", ". */
struct str http_field(const struct http_request *request, struct str name);
/* The decoded value of a query parameter ("+" and %XX), from the request's arena; .p NULL when absent. What
 * does not decode to UTF-8 never passes the parser. */
struct str http_query(struct http_request *request, struct str name);

/* -- bodies ---------------------------------------------------------------------------------------------- */

/* Collects the body, then calls `done` with it, later; it is valid while the request lives. Answers 413
 * itself beyond `max` bytes, and 400 or 408 to a malformed or slow one; then the request is over and `gone`
 * comes instead of `done`. Also sends 100 Continue where the peer asked for it. */
typedef void http_body_done(struct http_request *request, struct str body);
void http_read_body(struct http_request *request, size_t max, http_body_done *done);

/* Delivers the body as it comes, later. `data` may call http_pause_body(); an empty `bytes` with `last` set
 * ends it. Over `max` bytes: `data` is called with `too_large` set as the last call, and the handler answers.
 * After an answer no more data comes. */
typedef void http_body_data(struct http_request *request, struct str bytes, bool last, bool too_large);
void http_stream_body(struct http_request *request, uint64_t max, http_body_data *data);
void http_pause_body(struct http_request *request);
void http_resume_body(struct http_request *request);

/* -- answers --------------------------------------------------------------------------------------------- */

struct http_answer {
	unsigned status;
	struct str content_type; /* empty: none */
	/* further fields; names and values are checked for CR, LF and NUL (BUG) */
	const struct http_field *fields;
	size_t field_count;
	bool close; /* close the connection afterwards */
};

/* Sends a whole answer. The body is copied; http_respond_take() takes over storage from buf_take() instead.
 * HEAD sends no body. */
void http_respond(struct http_request *request, const struct http_answer *answer, struct str body);
void http_respond_take(struct http_request *request, const struct http_answer *answer,
		       struct str body_storage);

/* Serves a file by sendfile(2), with HEAD, a range, and all conditions (http_conditional.h); `status` is to
 * be 200 for these. One that turns out to be shorter than `size` breaks the connection. Takes over `fd`. */
struct http_file {
	int fd;
	uint64_t size;
	uint64_t modified_ms; /* 0: no Last-Modified */
	struct str etag;      /* with its quotes; empty: none */
};
void http_respond_file(struct http_request *request, const struct http_answer *answer,
		       const struct http_file *file);

/*
 * A streamed answer (SSE, NDJSON): chunked. What the peer has not taken is held up to limits.unsent_bytes;
 * http_stream_write() refuses more with ERR_BUSY (nothing is taken then) and `on_room` is called, later, when
 * half of that is free and what was refused would be taken. While nothing is held, a write of any size is
 * taken: a single piece is as large as its maker allows. ERR_CLOSED when the peer is gone; `gone` follows. A
 * peer that goes away is noticed without writing, too.
 */
struct http_stream {
	struct http_request *request;
	void (*on_room)(struct http_stream *stream); /* may be NULL */
	void *owner;
};
void http_stream_start(struct http_stream *stream, struct http_request *request,
		       const struct http_answer *answer);
int http_stream_write(struct http_stream *stream, struct str bytes);
size_t http_stream_room(const struct http_stream *stream);
void http_stream_end(struct http_stream *stream);
/* Drops the connection without the final chunk, so that the peer sees the stream as broken. */
void http_stream_abort(struct http_stream *stream);

/* Whether the request asks to go on in that protocol ("websocket"): GET, HTTP/1.1, no body, Connection and
 * Upgrade say so. */
bool http_wants_upgrade(const struct http_request *request, struct str protocol);

/*
 * Answers 101 with further `fields` and hands the connection over: the descriptor (non-blocking, the caller's
 * from now on), and the bytes already read beyond the request are appended to `ret_read`. The request is
 * over, also after ERR_CLOSED (the peer went away, or takes nothing; there is no descriptor then), and `gone`
 * does not come.
 */
int http_upgrade(struct http_request *request, struct str protocol, const struct http_field *fields,
		 size_t field_count, int *ret_fd, struct buf *ret_read);

#endif

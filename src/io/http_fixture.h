/*
 * http_fixture.h - what the tests of the HTTP server share: a server on a loop, and peers that speak raw
 * bytes to it on the same loop.
 *
 * Nothing here waits for time to pass: bench_run() runs the loop until a callback of the test or the arrival
 * of bytes stops it, and a guard fails the test when that does not happen.
 */
#ifndef IO_HTTP_FIXTURE_H
#define IO_HTTP_FIXTURE_H

#include "base/base.h"
#include "base/buf.h"
#include "io/http_server.h"
#include "io/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct bench {
	struct loop *loop;
	struct http_server *server;
	void (*handle)(struct bench *bench, struct http_request *request);
	struct http_request *held; /* for handlers that answer later */
	unsigned requests, gone;
	char directory[64], path[80];
	uint16_t port;
	struct timer guard;
	void *owner; /* free for the test */
};

/* Limits under which nothing happens by itself. */
struct http_limits bench_limits(void);

/* A server on a unix socket and on a TCP port of its own. */
void bench_start(struct bench *bench, const struct http_limits *limits,
		 void (*handle)(struct bench *bench, struct http_request *request));
void bench_stop(struct bench *bench);

/* Runs the loop until somebody calls bench_wake(). */
void bench_run(struct bench *bench);
void bench_wake(struct bench *bench);
/* Runs it until a request is in bench->held. */
void bench_run_until_held(struct bench *bench);
/* Runs it until what was deferred and what is ready was done. */
void bench_settle(struct bench *bench);

/* The request's `gone`: counts and wakes. */
void bench_gone(struct http_request *request);
struct bench *bench_of(const struct http_request *request);

/* Answers 200 with a text. */
void bench_answer(struct http_request *request, const char *text);
/* A handler that answers with the path that was asked for. */
void bench_answer_path(struct bench *bench, struct http_request *request);
/* What the peer gets of bench_answer(): the text's length in decimal, and the text. The second is the last
 * answer of its connection. */
#define ANSWER(length, text)                                                                                 \
	"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " #length                            \
	"\r\nX-Content-Type-Options: nosniff\r\n\r\n" text
#define LAST_ANSWER(length, text)                                                                            \
	"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " #length                            \
	"\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n" text
/* A handler that keeps the request in bench->held. */
void bench_hold(struct bench *bench, struct http_request *request);

struct peer {
	struct bench *bench;
	int fd;
	struct watch watch;
	struct buf got; /* what came and was not yet expected, without the Date fields */
	bool closed;	/* the server closed or reset */
	bool reset;
	bool deaf; /* does not read */
};

void peer_connect(struct peer *peer, struct bench *bench);
void peer_connect_tcp(struct peer *peer, struct bench *bench);
void peer_connect_and_send(struct peer *peer, struct bench *bench, const char *request);
void peer_close(struct peer *peer);
/* bench_start() with bench_hold(), and the first request, of this peer, in bench->held. */
void bench_start_holding(struct bench *bench, const struct http_limits *limits, struct peer *peer,
			 const char *request);

void peer_send(struct peer *peer, struct str bytes);
/* Sends as much as the socket takes at once, and says how much that was. */
size_t peer_send_some(struct peer *peer, struct str bytes);

/* Waits for exactly these bytes and takes them. */
void peer_expect(struct peer *peer, const char *text);
/* Waits for the head of an answer, of which only the beginning is compared, and takes it. */
void peer_expect_status(struct peer *peer, const char *status_line);
/* Waits for the server to close its side, in order and without sending anything more. */
void peer_expect_closed(struct peer *peer);
/* The same, and then the peer closes. */
void peer_expect_end(struct peer *peer);
/* Whatever comes until the server closes. */
void peer_read_to_end(struct peer *peer);
void peer_set_deaf(struct peer *peer, bool deaf);

#endif

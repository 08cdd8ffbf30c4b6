/*
 * http_client.h - a small blocking HTTP/1.1 client for our own command line, over a unix socket or loopback
 * TCP.
 *
 * It exists because the command line must start in a millisecond and cannot load a general client. One struct
 * is one connection; it holds all memory it needs (36 KiB) and allocates nothing, except into buffers that
 * the caller bounds. An exchange is:
 *
 *     http_client_open_unix(&client, path, &limits, &err)
 *     http_client_send(&client, &request, &answer, &err)     the head: its views live until the next send
 *     http_client_read_all(), _read(), _read_lines() or _read_events()
 *     ... http_client_send() again, if http_client_reusable()
 *     http_client_close(&client)
 *
 * Every wait ends by one of the limits with ERR_TIMEOUT. Answers are parsed strictly (ERR_PROTOCOL). Not
 * thread-safe.
 */
#ifndef IO_HTTP_CLIENT_H
#define IO_HTTP_CLIENT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "io/http_chunked.h"
#include "io/http_syntax.h"
#include "io/sse.h"

enum {
	HTTP_CLIENT_HEAD_MAX = 16 * 1024, /* bytes of an answer's head; ERR_TOO_LARGE beyond */
	HTTP_CLIENT_FIELDS_MAX = 64,	  /* fields of it */
	HTTP_CLIENT_BODY_ROOM = 16 * 1024 /* body bytes read at once */
};

struct http_client_limits {
	uint64_t connect_ms;
	uint64_t write_ms; /* the server takes nothing of the request for so long */
	/* from the end of the request to the head of the answer; 0: as long as it takes */
	uint64_t answer_ms;
	uint64_t quiet_ms; /* between two arrivals of body bytes; 0: as long as it takes */
	/* NULL, or asked each time that nothing has happened for check_ms: 0 to go on waiting, or why not */
	uint64_t check_ms; /* 0: never */
	int (*still_there)(void *context, struct err *err);
	void *context;
};

/* The same patience with everything. */
static inline struct http_client_limits http_client_limits_all(uint64_t ms)
{
	return (struct http_client_limits){
		.connect_ms = ms, .write_ms = ms, .answer_ms = ms, .quiet_ms = ms
	};
}

struct http_client_request {
	struct str method, target;
	const struct http_field *fields; /* further ones; Host and the framing are added */
	size_t field_count;
	struct str body;      /* from memory, or */
	bool has_body_fd;     /* from a descriptor that is read as it is sent, once the server says so */
	int body_fd;	      /* stays the caller's */
	uint64_t body_length; /* of body_fd; UINT64_MAX: until its end, chunked */
};

struct http_client_answer {
	unsigned status;
	const struct http_field *fields;
	size_t field_count;
};

struct http_client {
	bool connected;
	int fd;
	struct http_client_limits limits;
	char host[64];	/* what Host says */
	char peer[128]; /* for messages */

	/* The answer's head, and behind it what else came with it. */
	char head[HTTP_CLIENT_HEAD_MAX];
	struct http_lines lines;
	size_t head_filled;
	struct http_field fields[HTTP_CLIENT_FIELDS_MAX];

	/* The answer's body: bytes as they came, still framed, in `head` or in `room`. */
	struct str input;
	char room[HTTP_CLIENT_BODY_ROOM];
	unsigned framing; /* enum http_framing, private */
	uint64_t body_left;
	struct http_chunked chunked;
	bool keep_alive; /* both sides can go on after it */
	bool unheard;	 /* the last request was not sent, or not read, to its end */
	bool body_begun; /* some of its body_fd may have been read */
};

int http_client_open_unix(struct http_client *client, const char *path,
			  const struct http_client_limits *limits, struct err *err);
/* `address` is numeric, IPv4 or IPv6. */
int http_client_open_tcp(struct http_client *client, const char *address, uint16_t port,
			 const struct http_client_limits *limits, struct err *err);

/* The process that accepted a unix connection, as the kernel says (SO_PEERCRED); 0 when it does not say. */
int http_client_peer_process(const struct http_client *client);

/* Harmless on a closed or zeroed one. */
void http_client_close(struct http_client *client);

/*
 * Sends a request and reads the head of its answer, past any 1xx other than 101. A server that answers before
 * it took the whole body is heard. ERR_CLOSED when the connection ended before an answer: when it was being
 * reused, connect and try again. A body from a descriptor may be there only once, so that none of it is read
 * before the server has said 100 Continue (RFC 9110 section 10.1.1), which ours always does.
 */
int http_client_send(struct http_client *client, const struct http_client_request *request,
		     struct http_client_answer *ret_answer, struct err *err);

/* After ERR_CLOSED from http_client_send(): the server ended before it had read the request to its end, so
 * that it cannot have acted on the whole of it. A unix connection always tells, since Linux resets one that
 * is closed with something unread; over TCP a false says nothing. */
static inline bool http_client_unheard(const struct http_client *client)
{
	return client->unheard;
}

/* Whether the last request can be sent again as it was: nothing of a body from a descriptor is gone. */
static inline bool http_client_repeatable(const struct http_client *client)
{
	return !client->body_begun;
}

/* The value of a field of the answer; .p NULL when there is none. */
static inline struct str http_client_field(const struct http_client_answer *answer, struct str name)
{
	return http_find_field(answer->fields, answer->field_count, name);
}

/* Some bytes of the body, *ret_n of 1..n; 0 at its end. ERR_CLOSED when the connection ended in the middle of
 * it. */
int http_client_read(struct http_client *client, char *room, size_t n, size_t *ret_n, struct err *err);

/* The rest of the body, appended to `body`. ERR_TOO_LARGE beyond its maximum. */
int http_client_read_all(struct http_client *client, struct buf *body, struct err *err);

/* Calls `line` with each line of the rest of the body, without its LF or CR LF, the last one also when it has
 * no end. ERR_TOO_LARGE for one over `line_max`. A callback that returns other than 0 ends the reading with
 * that value and closes the connection, of which nobody could say where it stands. */
typedef int http_client_line(void *context, struct str line);
int http_client_read_lines(struct http_client *client, size_t line_max, http_client_line *line, void *context,
			   struct err *err);

/* The same for server-sent events. */
typedef int http_client_event(void *context, const struct sse_message *message);
int http_client_read_events(struct http_client *client, size_t event_max, http_client_event *event,
			    void *context, struct err *err);

/* The body was read to its end and the server keeps the connection open. */
bool http_client_reusable(const struct http_client *client);

/* After an answer 101: the descriptor passes to the caller (blocking mode as it is: non-blocking), and the
 * bytes that came behind the answer's head are appended to `ret_read`. The client is closed. */
int http_client_hand_over(struct http_client *client, int *ret_fd, struct buf *ret_read, struct err *err);

#endif

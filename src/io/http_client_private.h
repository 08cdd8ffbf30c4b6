/*
 * http_client_private.h - what the client's two files, sending and reading, know of each other.
 */
#ifndef IO_HTTP_CLIENT_PRIVATE_H
#define IO_HTTP_CLIENT_PRIVATE_H

#include "base/base.h"
#include "io/http_client.h"

enum http_framing {
	FRAMING_NONE, /* no body, or it was read to its end */
	FRAMING_LENGTH,
	FRAMING_CHUNKED,
	FRAMING_UNTIL_CLOSE
};

/* Waits until one of poll(2)'s `events` is there, at most until `deadline` (UINT64_MAX: for ever).
 * ERR_TIMEOUT says that the peer "did not `what`". */
int http_client_wait(struct http_client *client, short events, uint64_t deadline, const char *what,
		     struct err *err);
uint64_t http_client_deadline(uint64_t ms);

/* Reads what has arrived, waiting for it. *ret_n is 0 when the peer closed. */
int http_client_receive(struct http_client *client, char *room, size_t n, uint64_t deadline, const char *what,
			size_t *ret_n, struct err *err);

enum { HTTP_CLIENT_CONTINUE = 100 };

enum http_client_until {
	HTTP_CLIENT_UNTIL_ANSWER,
	HTTP_CLIENT_UNTIL_CONTINUE /* or the answer, if that comes instead */
};

/* Nothing of the answer to the next request has come. */
void http_client_begin_answer(struct http_client *client);

/* Reads the head of the answer that is next; of a 100 Continue only the status. `method` of the request
 * decides whether it has a body. */
int http_client_read_head(struct http_client *client, struct str method, enum http_client_until until,
			  struct http_client_answer *ret_answer, struct err *err);

/* The connection is of no use any more; returns `code`. */
int http_client_give_up(struct http_client *client, int code);

#endif

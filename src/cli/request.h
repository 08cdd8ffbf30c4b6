/*
 * request.h - asking the daemon for an operation.
 *
 * The target and the body are made from the operation's inputs and the arguments that were typed. Every
 * request says who asks (X-Mcpx-Cwd, X-Mcpx-Pid, X-Mcpx-Session and the like) and which settings of the call
 * this command line and environment decide (X-Mcpx-Settings). A failure of the daemon's is told with the
 * daemon's own words.
 */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/cli.h"

struct request {
	const struct operation *operation; /* NULL: a GET that is no operation */
	struct str target;		   /* empty: request_from_arguments() makes it */
	struct str body;		   /* JSON */
	bool has_body_fd;		   /* or bytes from a descriptor */
	int body_fd;
	uint64_t body_length;
	struct str session;   /* empty: the one of the environment */
	struct str upgrade;   /* the protocol that the connection is to speak from then on; empty: none */
	bool for_this_daemon; /* and for none that comes after it */
};

/* Target and body of the command's own operation, from cli->arguments. Texts are from cli->arena. */
void request_from_arguments(struct cli *cli, struct request *request);

/* One more "name=value" for a target, encoded: "/v1/tools" becomes "/v1/tools?ns=a". */
struct str request_target(struct cli *cli, struct str target, struct str name, struct str value);

/* Whose session it is: the one that is named, else the one of the environment; may be empty. */
struct str request_session(const struct cli *cli, struct str named);
/* The process that asks, in digits: the one that MCPX_PID names, else this one. */
struct str request_pid(struct cli *cli);

/* Sends it over a fresh or still open connection and reads the head of the answer. A request that its daemon
 * did not hear to its end, that it refused because it ends, or that may be repeated, goes to the next daemon;
 * else ERR_CLOSED. */
int request_send(struct cli *cli, const struct request *request, struct http_client_answer *ret_answer,
		 struct err *err);

/* Says that the daemon ended before it answered, and what is known of the request's effect. ERR_CLOSED. */
int request_lost(const struct request *request, bool unheard, struct err *err);

/* Whether it is the refusal of a daemon that ends, and did nothing. */
bool request_met_end(const struct http_client_answer *answer);

/* As request_send(), with the whole body, of at most http.responseMax bytes; from cli->arena. */
int request_whole(struct cli *cli, const struct request *request, unsigned *ret_status, struct str *ret_body,
		  struct err *err);

/* The body of an answer of success; else the failure was told, and the exit status is returned. */
int request_answered(struct cli *cli, const struct request *request, struct str *ret_body);

/* The rest of the body of an answer. ERR_CLOSED: the daemon ended in the middle of it. */
int request_read_body(struct cli *cli, struct str *ret_body, struct err *err);

/* The same, piece by piece: *ret_n is 0 at its end. */
int request_read(struct cli *cli, char *room, size_t n, size_t *ret_n, struct err *err);

/* Whether the status is one of success. */
static inline bool request_succeeded(unsigned status)
{
	return status >= 200 && status < 300;
}

/* What a refusal says, as an error: ERR_TIMEOUT, ERR_UPSTREAM, or ERR_PROTOCOL when it says nothing. */
int request_refusal(unsigned status, struct str body, struct err *err);

/* Tells what an answer with another status says, and returns the exit status. */
int request_refused(struct cli *cli, unsigned status, struct str body);

#endif

/*
 * access.h - who may ask the daemon anything.
 *
 * Over the unix socket: whoever the kernel says is the user that runs the daemon (or root). Over TCP: whoever
 * presents the bearer token, unless the daemon was told to ask for none, which it does on loopback only.
 * Before that, and over either, a Host that is not this machine's and an Origin that is neither loopback nor
 * allowed are refused, so that no web page can use a browser as its way in (DNS rebinding). On the loop
 * thread.
 */
#ifndef API_ACCESS_H
#define API_ACCESS_H

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "io/http_server.h"
#include "settings/settings.h"

struct access {
	uid_t uid;	   /* that runs the daemon */
	bool token_needed; /* over TCP */
	struct str token;
	/* that the TCP listener is bound to: its own name in Host. Of all interfaces, every address is one */
	struct str address;
	const struct settings *settings; /* transport.allowedOrigins */
};

/* 0, or the HTTP status to refuse with and why. */
unsigned access_check(const struct access *access, struct http_request *request, struct err *err);

/* Who it is, for sessions: "uid:1000" or "token" or "loopback". From the request's arena. */
struct str access_principal(const struct access *access, struct http_request *request);

#endif

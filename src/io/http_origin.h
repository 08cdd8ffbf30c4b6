/*
 * http_origin.h - whom a request says it is for (Host) and where it came from (Origin), and who sent it
 * (Authorization).
 *
 * A web page can make a browser send requests to a daemon on the user's machine, also under a name that it
 * has made resolve to 127.0.0.1 (DNS rebinding). Such a request carries a Host or an Origin that is not ours.
 * These functions say whether a value is loopback or in a list; what follows from it is the caller's rule.
 * Pure.
 */
#ifndef IO_HTTP_ORIGIN_H
#define IO_HTTP_ORIGIN_H

#include "base/base.h"
#include "base/str.h"

struct http_authority {
	struct str host; /* without the brackets of an IPv6 address */
	bool ipv6;	 /* it stood in brackets and is a valid address */
	bool has_port;
	uint16_t port;
};

/* "host", "host:port", "[address]" or "[address]:port". A host is letters, digits, "-", ".", "_" and "~", so
 * that "user@host", lists and escapes are refused. 0 or ERR_INVALID. */
int http_authority_parse(struct str text, struct http_authority *ret_authority);

/* "scheme://authority" without anything behind it. 0 or ERR_INVALID, also for "null". */
int http_origin_parse(struct str text, struct str *ret_scheme, struct http_authority *ret_authority);

/* localhost, 127.0.0.0/8 in plain dotted form, or ::1. */
bool http_authority_is_loopback(const struct http_authority *authority);

/* Whether a Host value is loopback or one of `allowed`: "name" (with any port) or "name:port". */
bool http_host_is_allowed(struct str host, const struct str *allowed, size_t count);

/* Whether an Origin value is http or https on loopback, or one of `allowed`: "scheme://name[:port]" exactly,
 * or as for http_host_is_allowed(). An absent Origin (.p NULL) is for the caller to judge and false here. */
bool http_origin_is_allowed(struct str origin, const struct str *allowed, size_t count);

/* The token of "Bearer TOKEN" (RFC 6750 section 2.1); .p NULL when the value is anything else. Compare it in
 * constant time. */
struct str http_bearer_token(struct str authorization);

#endif

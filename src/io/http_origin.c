#include "base/base.h"
#include "io/http_origin.h"

#include "base/character.h"
#include "base/err.h"

#include <arpa/inet.h>

enum { PORT_DIGITS = 5 };

static bool is_host_char(char c)
{
	return is_letter_or_digit(c) || (c && memchr("-._~", c, 4));
}

static bool is_host_name(struct str host)
{
	for (size_t i = 0; i < host.n; i++)
		if (!is_host_char(host.p[i]))
			return false;
	return host.n > 0;
}

/* A port is digits, so that ":" with nothing behind it is refused. */
static int port_parse(struct str text, uint16_t *ret_port)
{
	uint64_t port;

	if (text.n > PORT_DIGITS || str_to_u64(text, &port) < 0 || port > UINT16_MAX)
		return ERR_INVALID;
	*ret_port = (uint16_t)port;
	return 0;
}

static bool ipv6_parse(struct str text, struct in6_addr *ret_address)
{
	char terminated[INET6_ADDRSTRLEN];

	if (text.n >= sizeof(terminated) || memchr(text.p, '\0', text.n))
		return false;
	memcpy(terminated, text.p, text.n);
	terminated[text.n] = '\0';
	return inet_pton(AF_INET6, terminated, ret_address) == 1;
}

static bool ipv4_parse(struct str text, struct in_addr *ret_address)
{
	char terminated[INET_ADDRSTRLEN];

	if (text.n == 0 || text.n >= sizeof(terminated) || memchr(text.p, '\0', text.n))
		return false;
	memcpy(terminated, text.p, text.n);
	terminated[text.n] = '\0';
	return inet_pton(AF_INET, terminated, ret_address) == 1;
}

/* Splits off the host; *ret_rest is empty or begins with ":". */
static int host_parse(struct str text, struct http_authority *ret_authority, struct str *ret_rest)
{
	struct in6_addr address;
	size_t end;

	if (str_starts_with(text, STR("["))) {
		end = str_find_char(text, ']');
		if (end == STR_NONE || !ipv6_parse(str_slice(text, 1, end - 1), &address))
			return ERR_INVALID;
		ret_authority->host = str_slice(text, 1, end - 1);
		ret_authority->ipv6 = true;
		*ret_rest = str_from(text, end + 1);
		return 0;
	}
	end = str_find_char(text, ':');
	ret_authority->host = str_slice(text, 0, end);
	*ret_rest = str_from(text, end);
	return is_host_name(ret_authority->host) ? 0 : ERR_INVALID;
}

int http_authority_parse(struct str text, struct http_authority *ret_authority)
{
	struct http_authority authority = { .port = 0 };
	struct str rest;

	if (host_parse(text, &authority, &rest) < 0)
		return ERR_INVALID;
	if (rest.n) {
		authority.has_port = true;
		if (rest.p[0] != ':' || port_parse(str_from(rest, 1), &authority.port) < 0)
			return ERR_INVALID;
	}
	*ret_authority = authority;
	return 0;
}

/* RFC 3986 section 3.1, as browsers serialise it: in lower case. */
static bool is_scheme(struct str scheme)
{
	for (size_t i = 0; i < scheme.n; i++)
		if (!(scheme.p[i] >= 'a' && scheme.p[i] <= 'z') &&
		    !(i && scheme.p[i] && memchr("0123456789+-.", scheme.p[i], 13)))
			return false;
	return scheme.n > 0;
}

int http_origin_parse(struct str text, struct str *ret_scheme, struct http_authority *ret_authority)
{
	size_t colon = str_find(text, STR("://"));

	if (colon == STR_NONE || !is_scheme(str_slice(text, 0, colon)))
		return ERR_INVALID;
	if (http_authority_parse(str_from(text, colon + 3), ret_authority) < 0)
		return ERR_INVALID;
	*ret_scheme = str_slice(text, 0, colon);
	return 0;
}

bool http_authority_is_loopback(const struct http_authority *authority)
{
	struct in6_addr v6;
	struct in_addr v4;

	if (authority->ipv6)
		return ipv6_parse(authority->host, &v6) && IN6_IS_ADDR_LOOPBACK(&v6);
	if (ipv4_parse(authority->host, &v4))
		return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
	return str_eq_ignoring_case(authority->host, STR("localhost"));
}

/* An entry without a port stands for every port. */
static bool entry_matches(struct str entry, const struct http_authority *authority)
{
	struct http_authority wanted;

	return http_authority_parse(entry, &wanted) == 0 && wanted.ipv6 == authority->ipv6 &&
	       str_eq_ignoring_case(wanted.host, authority->host) &&
	       (!wanted.has_port || (authority->has_port && wanted.port == authority->port));
}

static bool authority_is_allowed(const struct http_authority *authority, const struct str *allowed,
				 size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (entry_matches(allowed[i], authority))
			return true;
	return http_authority_is_loopback(authority);
}

bool http_host_is_allowed(struct str host, const struct str *allowed, size_t count)
{
	struct http_authority authority;

	return http_authority_parse(host, &authority) == 0 &&
	       authority_is_allowed(&authority, allowed, count);
}

bool http_origin_is_allowed(struct str origin, const struct str *allowed, size_t count)
{
	struct http_authority authority;
	struct str scheme;

	if (http_origin_parse(origin, &scheme, &authority) < 0)
		return false;
	for (size_t i = 0; i < count; i++)
		if (str_eq_ignoring_case(allowed[i], origin))
			return true;
	if (!str_eq(scheme, STR("http")) && !str_eq(scheme, STR("https")))
		return false;
	return authority_is_allowed(&authority, allowed, count);
}

/* RFC 6750 section 2.1: letters, digits and these, then any number of "=". */
static bool is_token68_char(char c)
{
	return is_letter_or_digit(c) || (c && memchr("-._~+/=", c, 7));
}

struct str http_bearer_token(struct str authorization)
{
	struct str token = str_trim(str_from(authorization, 7));

	if (!str_eq_ignoring_case(str_slice(authorization, 0, 7), STR("bearer ")) || token.n == 0)
		return str_make(NULL, 0);
	for (size_t i = 0; i < token.n; i++)
		if (!is_token68_char(token.p[i]))
			return str_make(NULL, 0);
	return token;
}

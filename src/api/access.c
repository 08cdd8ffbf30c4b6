#include "base/base.h"
#include "api/access.h"
#include "base/ids.h"
#include "io/http_origin.h"

static bool is_every_interface(struct str address)
{
	return str_eq(address, STR("0.0.0.0")) || str_eq(address, STR("::"));
}

/* No name, which somebody could make resolve to us: what ends in a number is an address (WHATWG URL, "host
 * parsing"). */
static bool host_is_address(struct str host)
{
	struct http_authority authority;

	if (http_authority_parse(host, &authority) < 0)
		return false;
	for (size_t i = 0; i < authority.host.n && !authority.ipv6; i++)
		if (authority.host.p[i] != '.' && (authority.host.p[i] < '0' || authority.host.p[i] > '9'))
			return false;
	return true;
}

static bool host_allowed(const struct access *access, struct http_request *request)
{
	struct str host = http_field(request, STR("host")), own = access->address;

	/* Nobody can name a unix socket from outside, and its clients send whatever Host they like. */
	if (request->peer->local)
		return true;
	if (is_every_interface(own) && host_is_address(host))
		return true;
	if (str_find_char(own, ':') != STR_NONE)
		own = arena_concat(&request->arena, STR("["), own, STR("]"));
	return http_host_is_allowed(host, &own, own.n ? 1 : 0);
}

static bool origin_allowed(const struct access *access, const struct http_request *request)
{
	struct setting_items allowed = settings_items(access->settings, SETTING_TRANSPORT_ALLOWED_ORIGINS);
	struct str origin = http_field(request, STR("origin"));

	return !origin.p || http_origin_is_allowed(origin, allowed.items, allowed.count);
}

unsigned access_check(const struct access *access, struct http_request *request, struct err *err)
{
	struct str given;

	if (!host_allowed(access, request)) {
		err_set(err, ERR_DENIED,
			"this Host is not served here; use the address that the daemon listens on");
		return 403;
	}
	if (!origin_allowed(access, request)) {
		err_set(err, ERR_DENIED,
			"requests from this Origin are refused; add it to transport.allowedOrigins to allow it");
		return 403;
	}
	if (request->peer->local) {
		if (request->peer->uid == access->uid || request->peer->uid == 0)
			return 0;
		err_set(err, ERR_DENIED, "this daemon belongs to another user");
		return 403;
	}
	if (!access->token_needed)
		return 0;
	given = http_bearer_token(http_field(request, STR("authorization")));
	if (secret_eq(given, access->token))
		return 0;
	err_set(err, ERR_DENIED,
		"%s: it is in the .token file of the daemon's state directory, and new at each start",
		given.n ? "this bearer token is not the daemon's" : "a bearer token is needed over TCP");
	return 401;
}

struct str access_principal(const struct access *access, struct http_request *request)
{
	if (request->peer->local)
		return arena_printf(&request->arena, "uid:%u", (unsigned)request->peer->uid);
	return access->token_needed ? STR("token") : STR("loopback");
}

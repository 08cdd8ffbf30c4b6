#include "base/base.h"
#include "api/access.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

enum { OWNER = 1000, STRANGER = 1001 };

static const struct http_peer unix_owner = { .local = true, .uid = OWNER };
static const struct http_peer unix_root = { .local = true, .uid = 0 };
static const struct http_peer unix_stranger = { .local = true, .uid = STRANGER };
static const struct http_peer tcp = { .address = STR_INIT("127.0.0.1:4711") };

static const char refused_host[] = "this Host is not served here; use the address that the daemon listens on";
static const char refused_origin[] =
	"requests from this Origin are refused; add it to transport.allowedOrigins to allow it";
#define WHERE_IT_IS ": it is in the .token file of the daemon's state directory, and new at each start"
static const char no_token[] = "a bearer token is needed over TCP" WHERE_IT_IS;
static const char wrong_token[] = "this bearer token is not the daemon's" WHERE_IT_IS;

static struct access access_of(const struct settings *settings)
{
	return (struct access){ .uid = OWNER,
				.token_needed = true,
				.token = STR("s3cret"),
				.address = STR("192.168.1.5"),
				.settings = settings };
}

/* The status for a request with these fields; a NULL value leaves the field out. */
static unsigned check(const struct access *access, const struct http_peer *peer, const char *host,
		      const char *origin, const char *authorization, struct err *err)
{
	const struct http_field all[] = {
		{ STR("Host"), host ? str_of(host) : STR("") },
		{ STR("Origin"), origin ? str_of(origin) : STR("") },
		{ STR("Authorization"), authorization ? str_of(authorization) : STR("") },
	};
	const bool given[] = { host, origin, authorization };
	struct http_field fields[ARRAY_LEN(all)];
	struct http_request request = { .peer = peer, .fields = fields };
	unsigned status;

	arena_init(&request.arena, 0);
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (given[i])
			fields[request.field_count++] = all[i];
	status = access_check(access, &request, err);
	arena_release(&request.arena);
	return status;
}

static void refuses(const struct access *access, const struct http_peer *peer, const char *host,
		    const char *origin, const char *authorization, unsigned status, const char *message)
{
	struct err err;

	assert_int_equal(check(access, peer, host, origin, authorization, &err), status);
	assert_int_equal(err.code, ERR_DENIED);
	assert_string_equal(err.message, message);
}

static void admits(const struct access *access, const struct http_peer *peer, const char *host,
		   const char *origin, const char *authorization)
{
	assert_int_equal(check(access, peer, host, origin, authorization, NULL), 0);
}

static void the_socket_is_for_its_user(void **state)
{
	struct settings *set = settings_new();
	struct access access = access_of(set);

	(void)state;
	admits(&access, &unix_owner, "localhost", NULL, NULL);
	admits(&access, &unix_root, "localhost", NULL, NULL);
	/* Whatever its clients call it; a browser cannot reach it by any name. */
	admits(&access, &unix_owner, "evil.example", NULL, NULL);
	refuses(&access, &unix_stranger, "localhost", NULL, NULL, 403, "this daemon belongs to another user");
	refuses(&access, &unix_stranger, "localhost", NULL, "Bearer s3cret", 403,
		"this daemon belongs to another user");
	settings_free(&set);
}

static void tcp_needs_the_token(void **state)
{
	struct settings *set = settings_new();
	struct access access = access_of(set);

	(void)state;
	admits(&access, &tcp, "127.0.0.1:80", NULL, "Bearer s3cret");
	admits(&access, &tcp, "127.0.0.1:80", NULL, "bearer s3cret");
	refuses(&access, &tcp, "127.0.0.1", NULL, NULL, 401, no_token);
	refuses(&access, &tcp, "127.0.0.1", NULL, "Bearer s3cre", 401, wrong_token);
	refuses(&access, &tcp, "127.0.0.1", NULL, "Bearer s3cret2", 401, wrong_token);
	refuses(&access, &tcp, "127.0.0.1", NULL, "Bearer ", 401, no_token);
	refuses(&access, &tcp, "127.0.0.1", NULL, "Basic s3cret", 401, no_token);
	refuses(&access, &tcp, "127.0.0.1", NULL, "s3cret", 401, no_token);
	access.token_needed = false;
	admits(&access, &tcp, "127.0.0.1", NULL, NULL);
	settings_free(&set);
}

/* Should the token ever be missing, nobody knows it: an empty one admits nobody. */
static void no_token_is_no_key(void **state)
{
	struct settings *set = settings_new();
	struct access access = access_of(set);

	(void)state;
	access.token = str_make(NULL, 0);
	refuses(&access, &tcp, "127.0.0.1", NULL, "Bearer ", 401, no_token);
	refuses(&access, &tcp, "127.0.0.1", NULL, NULL, 401, no_token);
	settings_free(&set);
}

/* The token does not help a web page that rebinds its name to this machine. */
static void host_comes_before_the_token(void **state)
{
	struct settings *set = settings_new();
	struct access access = access_of(set);

	(void)state;
	admits(&access, &tcp, "192.168.1.5:4711", NULL, "Bearer s3cret");
	refuses(&access, &tcp, "evil.example", NULL, "Bearer s3cret", 403, refused_host);
	refuses(&access, &tcp, "localhost.evil.example", NULL, "Bearer s3cret", 403, refused_host);
	refuses(&access, &tcp, "127.0.0.1.evil.example", NULL, "Bearer s3cret", 403, refused_host);
	access.address = str_make(NULL, 0);
	refuses(&access, &tcp, "192.168.1.5:4711", NULL, "Bearer s3cret", 403, refused_host);
	settings_free(&set);
}

/* Bound to an address of the network, or to all of them. A name is never ours: anyone could make it resolve
 * to us. */
static void addresses_of_the_network_have_their_own_host(void **state)
{
	struct settings *set = settings_new();
	struct access access = access_of(set);

	(void)state;
	access.address = STR("fd00::5");
	admits(&access, &tcp, "[fd00::5]:4711", NULL, "Bearer s3cret");
	admits(&access, &tcp, "[::1]", NULL, "Bearer s3cret");
	refuses(&access, &tcp, "[fd00::6]:4711", NULL, "Bearer s3cret", 403, refused_host);
	refuses(&access, &tcp, "fd00::5", NULL, "Bearer s3cret", 403, refused_host);
	for (int i = 0; i < 2; i++) {
		access.address = i ? STR("::") : STR("0.0.0.0");
		admits(&access, &tcp, "192.168.1.5:4711", NULL, "Bearer s3cret");
		admits(&access, &tcp, "[fd00::6]", NULL, "Bearer s3cret");
		admits(&access, &tcp, "localhost", NULL, "Bearer s3cret");
		refuses(&access, &tcp, "evil.example", NULL, "Bearer s3cret", 403, refused_host);
		refuses(&access, &tcp, "192.168.1.5.nip.io", NULL, "Bearer s3cret", 403, refused_host);
		refuses(&access, &tcp, "", NULL, "Bearer s3cret", 403, refused_host);
		refuses(&access, &tcp, "192.168.1.5", NULL, NULL, 401, no_token);
	}
	settings_free(&set);
}

static void origins_are_loopback_or_allowed(void **state)
{
	struct settings *set = settings_new();
	struct access access = access_of(set);

	(void)state;
	admits(&access, &tcp, "127.0.0.1", "http://localhost:3000", "Bearer s3cret");
	refuses(&access, &tcp, "127.0.0.1", "https://app.example", "Bearer s3cret", 403, refused_origin);
	refuses(&access, &tcp, "127.0.0.1", "null", "Bearer s3cret", 403, refused_origin);
	refuses(&access, &tcp, "127.0.0.1", "", "Bearer s3cret", 403, refused_origin);
	/* Over the socket too: a page could come by way of something that forwards to it. */
	refuses(&access, &unix_owner, "localhost", "https://app.example", NULL, 403, refused_origin);
	assert_int_equal(settings_add_flag(set, STR("daemon"), "--transport-allowed-origins",
					   "https://app.example", &(unsigned){ 0 }, NULL),
			 1);
	admits(&access, &tcp, "127.0.0.1", "https://app.example", "Bearer s3cret");
	refuses(&access, &tcp, "127.0.0.1", "http://app.example", "Bearer s3cret", 403, refused_origin);
	settings_free(&set);
}

static void principals_are_told_apart(void **state)
{
	struct access access = { .token_needed = true };
	struct http_request request = { .peer = &unix_owner };

	(void)state;
	arena_init(&request.arena, 0);
	assert_true(str_eq(access_principal(&access, &request), STR("uid:1000")));
	request.peer = &tcp;
	assert_true(str_eq(access_principal(&access, &request), STR("token")));
	access.token_needed = false;
	assert_true(str_eq(access_principal(&access, &request), STR("loopback")));
	arena_release(&request.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_socket_is_for_its_user),
		cmocka_unit_test(tcp_needs_the_token),
		cmocka_unit_test(no_token_is_no_key),
		cmocka_unit_test(host_comes_before_the_token),
		cmocka_unit_test(addresses_of_the_network_have_their_own_host),
		cmocka_unit_test(origins_are_loopback_or_allowed),
		cmocka_unit_test(principals_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

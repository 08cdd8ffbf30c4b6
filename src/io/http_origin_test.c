#include "base/base.h"
#include "io/http_origin.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void assert_authority(const char *text, const char *host, int port, bool ipv6)
{
	struct http_authority authority;

	assert_int_equal(http_authority_parse(str_of(text), &authority), 0);
	assert_true(str_eq(authority.host, str_of(host)));
	assert_int_equal(authority.has_port, port >= 0);
	if (port >= 0)
		assert_int_equal(authority.port, port);
	assert_int_equal(authority.ipv6, ipv6);
}

static void test_authority(void **state)
{
	static const char *const bad[] = { "",	   ":80",   "a:",	"a:b",	    "a:65536", "a:000080",
					   "a:-1", "a b",   "a@b",	"a,b",	    "a/b",     "a%20b",
					   "[::1", "[]",    "[::1]x",	"[::1]:",   "[a]",     "[1.2.3.4]",
					   "::1",  "a:1:2", "\xc3\xa4", "[::1%lo]", "a\\b",    "http://a" };

	(void)state;
	assert_authority("localhost", "localhost", -1, false);
	assert_authority("a-b_c.example.:65535", "a-b_c.example.", 65535, false);
	assert_authority("127.0.0.1:0", "127.0.0.1", 0, false);
	assert_authority("[::1]", "::1", -1, true);
	assert_authority("[2001:db8::1]:443", "2001:db8::1", 443, true);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct http_authority authority;

		if (http_authority_parse(str_of(bad[i]), &authority) != ERR_INVALID)
			fail_msg("%s was accepted", bad[i]);
	}
}

static void test_loopback(void **state)
{
	static const char *const loopback[] = { "localhost",   "LocalHost:8080", "127.0.0.1",
						"127.1.2.3:1", "[::1]",		 "[0:0:0:0:0:0:0:1]:80" };
	static const char *const foreign[] = { "evil.example",
					       "localhost.evil.example",
					       "127.0.0.1.evil.example",
					       "127.1",
					       "0127.0.0.1",
					       "2130706433",
					       "0.0.0.0",
					       "10.0.0.1",
					       "[::]",
					       "[::ffff:127.0.0.1]",
					       "localhost.",
					       "",
					       "127.0.0.1@evil.example" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(loopback); i++)
		if (!http_host_is_allowed(str_of(loopback[i]), NULL, 0))
			fail_msg("%s is loopback", loopback[i]);
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
		if (http_host_is_allowed(str_of(foreign[i]), NULL, 0))
			fail_msg("%s is not loopback", foreign[i]);
}

static void test_allowed_hosts(void **state)
{
	static const struct str allowed[] = { STR_INIT("hub.example"), STR_INIT("other.example:8443"),
					      STR_INIT("[2001:db8::1]"), STR_INIT("not a host") };

	(void)state;
	assert_true(http_host_is_allowed(STR("hub.example"), allowed, ARRAY_LEN(allowed)));
	assert_true(http_host_is_allowed(STR("HUB.example:99"), allowed, ARRAY_LEN(allowed)));
	assert_true(http_host_is_allowed(STR("other.example:8443"), allowed, ARRAY_LEN(allowed)));
	assert_false(http_host_is_allowed(STR("other.example:8444"), allowed, ARRAY_LEN(allowed)));
	assert_false(http_host_is_allowed(STR("other.example"), allowed, ARRAY_LEN(allowed)));
	assert_true(http_host_is_allowed(STR("[2001:db8::1]:1"), allowed, ARRAY_LEN(allowed)));
	assert_false(http_host_is_allowed(STR("x.hub.example"), allowed, ARRAY_LEN(allowed)));
	assert_false(http_host_is_allowed(STR("not a host"), allowed, ARRAY_LEN(allowed)));
}

static void test_origins(void **state)
{
	static const struct str allowed[] = { STR_INIT("hub.example"), STR_INIT("https://app.example:8443"),
					      STR_INIT("app://desktop") };
	static const struct {
		const char *origin;
		bool is_allowed;
	} rows[] = {
		{ "http://localhost", true },
		{ "http://localhost:3000", true },
		{ "https://127.0.0.1:3000", true },
		{ "http://[::1]:3000", true },
		{ "http://hub.example", true },
		{ "https://hub.example:99", true },
		{ "https://app.example:8443", true },
		{ "http://app.example:8443", false },
		{ "https://app.example", false },
		{ "app://desktop", true },
		{ "app://localhost", false },
		{ "chrome-extension://localhost", false },
		{ "http://evil.example", false },
		{ "http://localhost.evil.example", false },
		{ "http://localhost/", false },
		{ "http://localhost@evil.example", false },
		{ "HTTP://localhost", false },
		{ "://localhost", false },
		{ "1a://localhost", false },
		{ "localhost", false },
		{ "null", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (http_origin_is_allowed(str_of(rows[i].origin), allowed, ARRAY_LEN(allowed)) !=
		    rows[i].is_allowed)
			fail_msg("%s", rows[i].origin);
	assert_false(http_origin_is_allowed(str_make(NULL, 0), allowed, ARRAY_LEN(allowed)));
}

static void assert_token(const char *value, const char *expected)
{
	struct str token = http_bearer_token(str_of(value));

	assert_int_equal(token.p == NULL, expected == NULL);
	assert_true(str_eq(token, str_of(expected)));
}

static void test_bearer(void **state)
{
	(void)state;
	assert_token("Bearer abc", "abc");
	assert_token("bearer   aZ09-._~+/==", "aZ09-._~+/==");
	assert_token("Bearer", NULL);
	assert_token("Bearer ", NULL);
	assert_token("Bearer a b", NULL);
	assert_token("Bearer a,b", NULL);
	assert_token("Bearer \xc3\xa4", NULL);
	assert_token("Basic abc", NULL);
	assert_token("", NULL);
	assert_null(http_bearer_token(str_make(NULL, 0)).p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_authority),     cmocka_unit_test(test_loopback),
		cmocka_unit_test(test_allowed_hosts), cmocka_unit_test(test_origins),
		cmocka_unit_test(test_bearer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

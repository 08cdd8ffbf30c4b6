/* Who asks: each field, each member of "context", what wins, what is refused, and what a session keeps. */
#include "base/base.h"
#include "api/caller.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static const struct http_field all_fields[] = {
	{ STR_INIT("X-Mcpx-Session"), STR_INIT("a session") },
	{ STR_INIT("x-mcpx-parent-session"), STR_INIT("its parent") },
	{ STR_INIT("X-MCPX-CALL"), STR_INIT("call-1") },
	{ STR_INIT("X-Mcpx-Cwd"), STR_INIT("/home/somebody") },
	{ STR_INIT("X-Mcpx-Run"), STR_INIT("0123456789abcdef") },
	{ STR_INIT("X-Mcpx-Pid"), STR_INIT("4711") },
};

static struct hub_caller from_fields(const struct http_field *fields, size_t count)
{
	return caller_of_request(&(struct http_request){ .fields = fields, .field_count = count });
}

static void assert_str(struct str is, const char *should_be)
{
	assert_int_equal(is.n, strlen(should_be));
	assert_memory_equal(is.p ? is.p : "", should_be, is.n);
}

static void each_field_says_its_part(void **state)
{
	struct hub_caller caller = from_fields(all_fields, ARRAY_LEN(all_fields));
	(void)state;

	assert_str(caller.session, "a session");
	assert_str(caller.parent_session, "its parent");
	assert_str(caller.call_id, "call-1");
	assert_str(caller.cwd, "/home/somebody");
	assert_str(caller.run, "0123456789abcdef");
	assert_int_equal(caller.pid, 4711);
	assert_false(caller.is_client);

	caller = from_fields(NULL, 0);
	assert_str(caller.session, "");
	assert_str(caller.cwd, "");
	assert_int_equal(caller.pid, 0);
}

static void a_pid_that_is_none_is_unknown(void **state)
{
	static const char *const pids[] = { "", "-1", "12x", "2147483648", "99999999999999999999" };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
		const struct http_field field = { STR("X-Mcpx-Pid"), str_of(pids[i]) };

		assert_int_equal(from_fields(&field, 1).pid, 0);
	}
}

static void a_session_keeps_copies_and_no_call(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct arena of_request = { 0 };
	struct http_field fields[ARRAY_LEN(all_fields)];
	struct hub_caller caller;
	(void)state;

	arena_init(&arena, 0);
	arena_init(&of_request, 0);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		fields[i] = (struct http_field){ all_fields[i].name,
						 arena_copy(&of_request, all_fields[i].value) };
	caller = caller_for_session(
		&(struct http_request){ .fields = fields, .field_count = ARRAY_LEN(fields) }, &arena);
	arena_release(&of_request); /* under sanitizers, what were still there is read after its end */
	assert_str(caller.session, "a session");
	assert_str(caller.parent_session, "its parent");
	assert_str(caller.cwd, "/home/somebody");
	assert_str(caller.run, "0123456789abcdef");
	assert_int_equal(caller.pid, 4711);
	assert_str(caller.call_id, "");
}

static void the_context_wins_over_the_fields(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct hub_caller caller;
	struct err err;
	(void)state;

	arena_init(&arena, 0);
	caller = from_fields(all_fields, ARRAY_LEN(all_fields));
	assert_int_equal(caller_take_context(&caller, str_make(NULL, 0), &arena, &err), 0);
	assert_int_equal(caller_take_context(&caller,
					     STR("{\"sessionId\":\"n\\u0061med\",\"parentSessionId\":null,"
						 "\"callId\":\"\",\"cwd\":\"/\",\"pid\":12,\"run\":\"r\"}"),
					     &arena, &err),
			 0);
	assert_str(caller.session, "named");
	assert_str(caller.parent_session, "its parent");
	assert_str(caller.call_id, "call-1");
	assert_str(caller.cwd, "/");
	assert_str(caller.run, "r");
	assert_int_equal(caller.pid, 12);
}

static void what_is_no_context_is_refused(void **state)
{
	static const struct {
		const char *context, *message;
	} refused[] = {
		{ "{\"session\":\"x\"}",
		  "\"context\" has no member \"session\"; there are: sessionId, parentSessionId, callId, cwd, pid, run" },
		{ "{\"cwd\":3}", "\"context.cwd\" must be a string" },
		{ "{\"pid\":\"3\"}", "\"context.pid\" must be the number of a process" },
		{ "{\"pid\":2147483648}", "\"context.pid\" must be the number of a process" },
		{ "{\"pid\":-3}", "\"context.pid\" must be the number of a process" },
	};
	_cleanup_arena_ struct arena arena = { 0 };
	struct hub_caller caller = { 0 };
	struct err err = { 0 };
	(void)state;

	arena_init(&arena, 0);
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		assert_int_equal(caller_take_context(&caller, str_of(refused[i].context), &arena, &err),
				 ERR_INVALID);
		assert_string_equal(err.message, refused[i].message);
	}
	assert_int_equal(caller_take_context(&caller, STR("[]"), &arena, &err), ERR_INVALID);
	assert_int_equal(strncmp(err.message, "context: ", strlen("context: ")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_says_its_part),
		cmocka_unit_test(a_pid_that_is_none_is_unknown),
		cmocka_unit_test(a_session_keeps_copies_and_no_call),
		cmocka_unit_test(the_context_wins_over_the_fields),
		cmocka_unit_test(what_is_no_context_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"
#include "cli/in_flight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define OPEN "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}\n"
#define OPENED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
#define ASK(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}\n"
#define ANSWER(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}\n"
#define LOST(id)                                                                                             \
	"{\"jsonrpc\":\"2.0\",\"id\":" id                                                                    \
	",\"error\":{\"code\":-32603,\"message\":\"the daemon ended while this request was under way: "      \
	"whether it took effect is not known. The next request starts it again\"}}\n"

static struct in_flight flight;

static int set_up(void **state)
{
	(void)state;
	in_flight_init(&flight);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	in_flight_release(&flight);
	return 0;
}

/* Whole, or one byte at a time. */
static void pass(void (*way)(struct in_flight *flight, struct str bytes), const char *text, bool in_bytes)
{
	struct str all = str_of(text);

	if (!in_bytes)
		way(&flight, all);
	for (size_t i = 0; in_bytes && i < all.n; i++)
		way(&flight, str_slice(all, i, 1));
}

static void expect_lost(const char *expected, bool expected_cut)
{
	_cleanup_buf_ struct buf out = { .max = SIZE_MAX };
	bool cut;

	in_flight_lost(&flight, &out, &cut);
	assert_string_equal(buf_cstr(&out), expected);
	assert_int_equal(cut, expected_cut);
	buf_clear(&out, 0);
	in_flight_lost(&flight, &out, &cut);
	assert_string_equal(buf_cstr(&out), "");
	assert_false(cut);
}

static void what_was_not_answered_is_lost(void **state)
{
	(void)state;
	for (int in_bytes = 0; in_bytes < 2; in_bytes++) {
		pass(in_flight_up, OPEN OPENED ASK("1") ASK("\"a\"") ASK("9007199254740993"), in_bytes);
		pass(in_flight_down, ANSWER("0") ANSWER("\"\\u0061\""), in_bytes);
		/* A request of the daemon's has an id of its own, and no answer is one to its namesake. */
		pass(in_flight_down, ASK("1"), in_bytes);
		pass(in_flight_up, ANSWER("9007199254740993"), in_bytes);
		expect_lost(LOST("1") LOST("9007199254740993"), false);
	}
}

static void what_was_cancelled_is_not_waited_for(void **state)
{
	(void)state;
	pass(in_flight_up,
	     ASK("1") "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n",
	     false);
	expect_lost("", false);
}

static void batches_are_looked_into(void **state)
{
	(void)state;
	pass(in_flight_up,
	     "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}]\n",
	     false);
	pass(in_flight_down, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}]\n", false);
	expect_lost(LOST("2"), false);
}

static void lines_that_were_cut_are_ended(void **state)
{
	(void)state;
	pass(in_flight_up, ASK("1") "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"par", false);
	pass(in_flight_down, "{\"jsonrpc\":\"2.0\",\"id\":1,\"res", false);
	expect_lost("\n" LOST("1") LOST("2"), true);
	pass(in_flight_up, "not JSON\n{}\n{\"id\":", false);
	expect_lost("", true);
}

/* Only the beginnings of long lines are kept, and they tell enough. */
static void long_lines_are_known_by_their_beginnings(void **state)
{
	const size_t long_enough = 2 * IN_FLIGHT_LINE;
	char *text = xmalloc(long_enough + 1);

	(void)state;
	memset(text, 'x', long_enough);
	text[long_enough] = '\0';
	for (int id = 1; id <= 2; id++) {
		char begin[128];

		snprintf(begin, sizeof(begin),
			 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"a\":\"", id);
		pass(in_flight_up, begin, false);
		pass(in_flight_up, text, false);
		pass(in_flight_up, "\"}}\n", false);
	}
	pass(in_flight_down, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"", false);
	pass(in_flight_down, text, false);
	pass(in_flight_down, "\"}}\n", false);
	expect_lost(LOST("2"), false);
	free(text);
}

static void the_handshake_is_kept(void **state)
{
	(void)state;
	pass(in_flight_up, OPEN ASK("1") OPENED, true);
	assert_string_equal(buf_cstr(&flight.opening), OPEN OPENED);
	pass(in_flight_up, OPEN, false);
	assert_string_equal(buf_cstr(&flight.opening), OPEN);
}

static void more_than_can_be_noted_are_not(void **state)
{
	bool cut;
	_cleanup_buf_ struct buf out = { .max = SIZE_MAX };

	(void)state;
	for (int i = 0; i < IN_FLIGHT_MAX + 10; i++)
		pass(in_flight_up, ASK("1"), false);
	assert_int_equal(flight.count, IN_FLIGHT_MAX);
	in_flight_lost(&flight, &out, &cut);
	assert_int_equal(flight.count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_not_answered_is_lost),
		TEST(what_was_cancelled_is_not_waited_for),
		TEST(batches_are_looked_into),
		TEST(lines_that_were_cut_are_ended),
		TEST(long_lines_are_known_by_their_beginnings),
		TEST(the_handshake_is_kept),
		TEST(more_than_can_be_noted_are_not),
	};

	return cmocka_run_group_tests_name(__FILE__, tests, NULL, NULL);
}

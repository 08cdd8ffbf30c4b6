/* What is kept of a session's events, and for how long. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "mcp/http_replay.h"

static struct loop *loop;
static struct replay_pool pool;
static struct replay replay;

static void begin(const struct mcp_replay_limits *limits)
{
	assert_int_equal(loop_new(&loop, NULL), 0);
	replay_pool_init(&pool, loop, limits);
	replay_init(&replay, &pool);
}

static void end(void)
{
	replay_release(&replay);
	assert_int_equal(replay.count, 0);
	assert_int_equal(replay.bytes, 0);
	assert_int_equal(pool.bytes, 0);
	assert_true(list_empty(&pool.replays));
	loop_free(&loop);
}

static void keep(struct replay_id *id, const char *message, bool hint)
{
	replay_next(&replay, id);
	replay_keep(&replay, *id, str_of(message), hint);
}

/* The messages that would be sent again, with commas. */
static void expect(struct replay_id from, const char *messages)
{
	const struct replay_event *event = NULL;
	_cleanup_buf_ struct buf got = { 0 };

	buf_init(&got, 1000);
	while ((event = replay_after(&replay, from, event)))
		buf_printf(&got, "%s%.*s", got.n ? "," : "", STR_ARG(event->message));
	assert_string_equal(buf_cstr(&got), messages);
}

static void ids_name_stream_and_event(void **state)
{
	static const struct {
		const char *text;
		bool valid;
		struct replay_id id;
	} rows[] = {
		{ "post-3-17", true, { REPLAY_POST, 3, 17 } },
		{ "get-1-0", true, { REPLAY_GET, 1, 0 } },
		{ "post-18446744073709551615-18446744073709551615",
		  true,
		  { REPLAY_POST, UINT64_MAX, UINT64_MAX } },
		{ "post-0-1", false, { 0 } },
		{ "post-1", false, { 0 } },
		{ "post-1-", false, { 0 } },
		{ "post--1-1", false, { 0 } },
		{ "post-1-1-1", false, { 0 } },
		{ "POST-1-1", false, { 0 } },
		{ "post-1-18446744073709551616", false, { 0 } },
		{ "put-1-1", false, { 0 } },
		{ "", false, { 0 } },
		{ "17", false, { 0 } },
	};
	char text[REPLAY_ID_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct replay_id id = { 0 };

		assert_int_equal(replay_id_read(str_of(rows[i].text), &id), rows[i].valid);
		assert_int_equal(id.kind, rows[i].id.kind);
		assert_true(id.stream == rows[i].id.stream && id.event == rows[i].id.event);
		if (rows[i].valid)
			assert_true(str_eq(replay_id_write(id, text), str_of(rows[i].text)));
	}
}

static void a_stream_is_sent_again_from_any_event(void **state)
{
	const struct mcp_replay_limits limits = { 10, 100, 100, 60000 };
	struct replay_id a, b, first;

	(void)state;
	begin(&limits);
	a = replay_stream(&replay, REPLAY_POST);
	b = replay_stream(&replay, REPLAY_GET);
	assert_false(replay_knows(&replay, a));
	keep(&a, "a1", true);
	first = a;
	keep(&b, "b1", true);
	keep(&a, "a2", false);
	expect(first, "a2");
	expect((struct replay_id){ REPLAY_POST, a.stream, 0 }, "a1,a2");
	expect(a, "");
	assert_true(replay_knows(&replay, a));
	/* Another kind, or another stream, is another matter. */
	expect((struct replay_id){ REPLAY_GET, a.stream, 0 }, "");
	expect((struct replay_id){ REPLAY_GET, b.stream, 0 }, "b1");
	expect((struct replay_id){ REPLAY_POST, 7, 0 }, "");
	end();
}

static void room_is_made_at_the_cost_of_hints(void **state)
{
	const struct mcp_replay_limits few = { 3, 100, 100, 60000 }, small = { 10, 6, 100, 60000 };
	struct replay_id a, all;

	(void)state;
	begin(&few);
	all = a = replay_stream(&replay, REPLAY_POST);
	keep(&a, "answer1", false);
	keep(&a, "hint1", true);
	keep(&a, "hint2", true);
	keep(&a, "hint3", true);
	expect(all, "answer1,hint2,hint3");
	keep(&a, "answer2", false);
	keep(&a, "answer3", false);
	expect(all, "answer1,answer2,answer3");
	keep(&a, "answer4", false);
	expect(all, "answer2,answer3,answer4");
	end();

	begin(&small);
	all = a = replay_stream(&replay, REPLAY_POST);
	keep(&a, "aaa", false);
	keep(&a, "bb", true);
	keep(&a, "cc", false);
	expect(all, "aaa,cc");
	keep(&a, "dddddd", false);
	expect(all, "dddddd");
	keep(&a, "eeeeeee", false); /* more than the bound: it would not fit alone */
	expect(all, "dddddd");
	keep(&a, "", false);
	expect(all, "dddddd,");
	end();
}

/* Many sessions share a bound: whoever keeps most makes room, for others too. */
static void the_largest_session_makes_room(void **state)
{
	const struct mcp_replay_limits limits = { 10, 8, 10, 60000 };
	struct replay_id a, b, all;
	struct replay other;

	(void)state;
	begin(&limits);
	replay_init(&other, &pool);
	all = a = replay_stream(&replay, REPLAY_POST);
	b = replay_stream(&other, REPLAY_POST);
	keep(&a, "aaaa", false);
	keep(&a, "AAA", true);
	replay_next(&other, &b);
	replay_keep(&other, b, STR("bb"), false);
	expect(all, "aaaa,AAA");
	replay_next(&other, &b);
	replay_keep(&other, b, STR("BBB"), false);
	expect(all, "aaaa");
	assert_int_equal(other.bytes, 5);
	keep(&a, "A", false);
	expect(all, "aaaa,A");
	/* As much as the other: then whoever was there first. */
	keep(&a, "B", false);
	expect(all, "A,B");
	assert_int_equal(other.bytes, 5);
	assert_int_equal(pool.bytes, 7);
	replay_release(&other);
	assert_int_equal(pool.bytes, 2);
	end();
}

static void nothing_is_kept_where_nothing_may_be(void **state)
{
	const struct mcp_replay_limits none = { 0, 100, 100, 60000 };
	struct replay_id a;

	(void)state;
	begin(&none);
	a = replay_stream(&replay, REPLAY_POST);
	keep(&a, "a", false);
	assert_int_equal(replay.count, 0);
	end();
}

/* The loop ends when its last timer has: everything is gone then. */
static void events_grow_old(void **state)
{
	const struct mcp_replay_limits limits = { 10, 100, 100, 1 };
	struct replay_id a;

	(void)state;
	begin(&limits);
	a = replay_stream(&replay, REPLAY_POST);
	keep(&a, "a", false);
	keep(&a, "b", true);
	assert_int_equal(replay.count, 2);
	loop_run(loop);
	assert_int_equal(replay.count, 0);
	assert_int_equal(replay.bytes, 0);
	keep(&a, "c", false);
	assert_int_equal(replay.count, 1);
	loop_run(loop);
	assert_int_equal(replay.count, 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_name_stream_and_event),
		cmocka_unit_test(a_stream_is_sent_again_from_any_event),
		cmocka_unit_test(room_is_made_at_the_cost_of_hints),
		cmocka_unit_test(the_largest_session_makes_room),
		cmocka_unit_test(nothing_is_kept_where_nothing_may_be),
		cmocka_unit_test(events_grow_old),
	};

	return cmocka_run_group_tests_name("mcp/http_replay", tests, NULL, NULL);
}

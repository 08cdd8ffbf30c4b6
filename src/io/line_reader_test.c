#include "base/base.h"
#include "io/line_reader.h"
#include "io/tail.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

/* Everything a reader gives out, as text: each line in brackets, "!" behind one that was too long, and "."
 * where that ended. */
static char story[512];

static void tell(const struct line *line)
{
	size_t n = strlen(story);

	if (line->long_ended)
		snprintf(story + n, sizeof(story) - n, ".");
	else
		snprintf(story + n, sizeof(story) - n, "[%.*s]%s", STR_ARG(line->text),
			 line->too_long ? "!" : "");
}

/* Feeds `text` in pieces of `piece` bytes. */
static const char *lines_of(const char *text, size_t max, size_t piece)
{
	struct str rest = str_of(text);
	struct line_reader reader;
	struct line line;

	line_reader_init(&reader, max);
	story[0] = '\0';
	while (rest.n) {
		size_t room;
		char *at = line_reader_room(&reader, &room);
		size_t n = size_min(size_min(piece, room), rest.n);

		memcpy(at, rest.p, n);
		line_reader_claim(&reader, n);
		rest = str_from(rest, n);
		while (line_reader_next(&reader, &line))
			tell(&line);
	}
	if (line_reader_last(&reader, &line))
		tell(&line);
	line_reader_release(&reader);
	return story;
}

static void assert_lines(const char *text, size_t max, const char *expected)
{
	for (size_t piece = 1; piece <= strlen(text); piece++)
		assert_string_equal(lines_of(text, max, piece), expected);
}

static void lines_are_cut_wherever_the_pieces_are(void **state)
{
	(void)state;
	assert_lines("one\ntwo\n\nfour\n", 10, "[one][two][][four]");
	assert_lines("one\r\nlast without end", 100, "[one\r][last without end]");
	assert_lines("\n", 0, "[]");
	assert_string_equal(lines_of("", 10, 1), "");
}

static void a_line_may_be_exactly_as_long_as_allowed(void **state)
{
	(void)state;
	assert_lines("12345\n12345\n", 5, "[12345][12345]");
	assert_lines("12345", 5, "[12345]");
}

static void a_line_that_is_too_long_is_cut_once(void **state)
{
	(void)state;
	assert_lines("123456\nnext\n", 5, "[12345]!.[next]");
	assert_lines("1234567890123456789\n12345\n", 5, "[12345]!.[12345]");
	assert_lines("ok\n1234567890", 5, "[ok][12345]!");
	assert_lines("123456789\n987654321\n\n", 5, "[12345]!.[98765]!.[]");
}

static void nothing_is_kept_after_a_large_line(void **state)
{
	enum { LARGE = 1 << 20 };
	struct line_reader reader;
	struct line line;
	size_t fed = 0, room;

	(void)state;
	line_reader_init(&reader, LARGE);
	while (fed < LARGE) {
		char *at = line_reader_room(&reader, &room);

		room = size_min(room, LARGE - fed);
		memset(at, 'x', room);
		line_reader_claim(&reader, room);
		fed += room;
		assert_false(line_reader_next(&reader, &line));
		assert_true(reader.bytes.capacity <= 2 * LARGE + 65536);
	}
	*line_reader_room(&reader, &room) = '\n';
	line_reader_claim(&reader, 1);
	assert_true(line_reader_next(&reader, &line));
	assert_int_equal(line.text.n, LARGE);
	assert_false(line_reader_next(&reader, &line));
	assert_true(reader.bytes.capacity <= 16384);
	line_reader_release(&reader);
}

/* What no user asks of it while it is full: room behind bytes of which only a few were taken out. */
static void a_queue_keeps_its_bytes_in_order(void **state)
{
	struct byte_queue queue = { 0 };
	unsigned char in = 0, out = 0;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		char piece[97];
		size_t n = round * 31 % sizeof(piece), drop;

		for (size_t i = 0; i < n; i++)
			piece[i] = (char)in++;
		byte_queue_append(&queue, str_make(piece, n));
		drop = size_min(byte_queue_length(&queue), round * 17 % sizeof(piece));
		for (size_t i = 0; i < drop; i++)
			assert_int_equal((unsigned char)byte_queue_str(&queue).p[i], out++);
		byte_queue_drop(&queue, drop);
	}
	assert_int_equal((unsigned char)(in - out), (unsigned char)byte_queue_length(&queue));
	byte_queue_release(&queue);
	assert_int_equal(byte_queue_str(&queue).n, 0);
}

static void a_tail_is_the_end_of_what_came(void **state)
{
	char all[2000];

	(void)state;
	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (char)('a' + i % 26);
	for (size_t keep = 0; keep < 40; keep += 3) {
		struct tail tail;
		size_t at = 0;

		tail_init(&tail, keep);
		for (size_t n = 0; at + n <= sizeof(all); at += n, n = (n + 5) % 61) {
			tail_append(&tail, str_make(all + at, n));
			assert_int_equal(tail_str(&tail).n, size_min(keep, at + n));
			assert_true(str_eq(tail_str(&tail),
					   str_make(all + at + n - tail_str(&tail).n, tail_str(&tail).n)));
			assert_true(tail.capacity <= 2 * keep);
		}
		tail_release(&tail);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_cut_wherever_the_pieces_are),
		cmocka_unit_test(a_line_may_be_exactly_as_long_as_allowed),
		cmocka_unit_test(a_line_that_is_too_long_is_cut_once),
		cmocka_unit_test(nothing_is_kept_after_a_large_line),
		cmocka_unit_test(a_queue_keeps_its_bytes_in_order),
		cmocka_unit_test(a_tail_is_the_end_of_what_came),
	};

	return cmocka_run_group_tests_name("line_reader", tests, NULL, NULL);
}

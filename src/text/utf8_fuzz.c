/* Whatever the bytes: the functions agree with each other, and what is replaced or cut is what they
 * promise. */
#include "base/base.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Walks by single characters; returns where the first broken one is, and the characters. */
static size_t walk(struct str s, size_t *ret_count)
{
	size_t valid = SIZE_MAX, at = 0, count = 0;

	while (at < s.n) {
		char bytes[4];
		uint32_t c = 0;
		unsigned n = utf8_decode(str_from(s, at), &c);

		if (n == 0) {
			valid = size_min(valid, at);
			break;
		}
		BUG_ON(utf8_encode(c, bytes) != n || memcmp(bytes, s.p + at, n) != 0);
		at += n;
		count++;
	}
	*ret_count = count;
	return size_min(valid, s.n);
}

static void check_replacement(struct str s)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct str clean;

	arena_init(&arena, 0);
	clean = utf8_clean(&arena, s);
	BUG_ON(!utf8_valid(clean) || clean.n > 3 * s.n);
	BUG_ON(utf8_count(clean) != utf8_count(s));
}

static void check_cut(struct str s, size_t max)
{
	struct str front = utf8_cut(s, max), back = utf8_cut_front(s, max);

	BUG_ON(front.n > max || back.n > max);
	BUG_ON(front.n + 3 < size_min(max, s.n) || back.n + 3 < size_min(max, s.n));
	BUG_ON(!str_starts_with(s, front) || !str_ends_with(s, back));
	BUG_ON(utf8_valid(s) && (!utf8_valid(front) || !utf8_valid(back)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str s = str_make((const char *)data, size);
	size_t count, valid = walk(s, &count), held = utf8_incomplete(s);

	BUG_ON(utf8_valid_length(s) != valid);
	BUG_ON(utf8_valid(s) && utf8_count(s) != count);
	BUG_ON((utf8_check(s, NULL) == 0) != (valid == s.n));
	BUG_ON(held > 3 || held > s.n || (held > 0 && utf8_valid(s)));
	check_replacement(s);
	for (size_t max = 0; max < size_min(s.n, 16) + 1; max++)
		check_cut(s, max);
	return 0;
}

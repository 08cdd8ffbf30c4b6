#include "base/base.h"
#include "base/str.h"
#include "base/character.h"
#include "base/err.h"

#include <limits.h>

int str_printf_length(struct str s)
{
	return s.n > INT_MAX ? INT_MAX : (int)s.n;
}

struct str str_of(const char *terminated)
{
	return terminated ? str_make(terminated, strlen(terminated)) : str_make(NULL, 0);
}

bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_eq_ignoring_case(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (to_lower(a.p[i]) != to_lower(b.p[i]))
			return false;
	return true;
}

int str_compare(struct str a, struct str b)
{
	size_t n = size_min(a.n, b.n);
	int order = n ? memcmp(a.p, b.p, n) : 0;

	if (order)
		return order;
	return (a.n > b.n) - (a.n < b.n);
}

bool str_starts_with(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq(str_make(s.p, prefix.n), prefix);
}

bool str_ends_with(struct str s, struct str suffix)
{
	return s.n >= suffix.n && str_eq(str_from(s, s.n - suffix.n), suffix);
}

struct str str_slice(struct str s, size_t from, size_t n)
{
	from = size_min(from, s.n);
	return str_make(from ? s.p + from : s.p, size_min(n, s.n - from));
}

size_t str_find(struct str s, struct str needle)
{
	const char *at;

	if (needle.n == 0)
		return 0;
	if (needle.n > s.n)
		return STR_NONE;
	at = memmem(s.p, s.n, needle.p, needle.n);
	return at ? (size_t)(at - s.p) : STR_NONE;
}

size_t str_find_char(struct str s, char c)
{
	const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

	return at ? (size_t)(at - s.p) : STR_NONE;
}

size_t str_find_last_char(struct str s, char c)
{
	const char *at = s.n ? memrchr(s.p, c, s.n) : NULL;

	return at ? (size_t)(at - s.p) : STR_NONE;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
	size_t from = 0;

	while (from < s.n && is_blank(s.p[from]))
		from++;
	while (s.n > from && is_blank(s.p[s.n - 1]))
		s.n--;
	return str_from(s, from);
}

bool str_split(struct str *rest, char separator, struct str *ret_part)
{
	size_t at;

	if (rest->n == SIZE_MAX)
		return false;
	at = str_find_char(*rest, separator);
	if (at == STR_NONE) {
		*ret_part = *rest;
		*rest = str_make(NULL, SIZE_MAX);
		return true;
	}
	*ret_part = str_slice(*rest, 0, at);
	*rest = str_from(*rest, at + 1);
	return true;
}

struct str str_take_digits(struct str *rest)
{
	struct str digits = str_make(rest->p, 0);

	while (digits.n < rest->n && is_digit(rest->p[digits.n]))
		digits.n++;
	*rest = str_from(*rest, digits.n);
	return digits;
}

bool str_is_digits(struct str s)
{
	return str_take_digits(&s).n > 0 && s.n == 0;
}

bool str_take_char(struct str *rest, char c)
{
	if (rest->n == 0 || rest->p[0] != c)
		return false;
	*rest = str_from(*rest, 1);
	return true;
}

int str_to_u64(struct str s, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (s.n == 0)
		return ERR_INVALID;
	for (size_t i = 0; i < s.n; i++) {
		if (!is_digit(s.p[i]))
			return ERR_INVALID;
		if (mul_overflows(value, (uint64_t)10, &value) ||
		    add_overflows(value, (uint64_t)(s.p[i] - '0'), &value))
			return ERR_INVALID;
	}
	*ret_value = value;
	return 0;
}

int str_to_i64(struct str s, int64_t *ret_value)
{
	bool negative = s.n > 0 && s.p[0] == '-';
	uint64_t magnitude;

	if (str_to_u64(negative ? str_from(s, 1) : s, &magnitude) < 0)
		return ERR_INVALID;
	if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
		return ERR_INVALID;
	*ret_value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return 0;
}

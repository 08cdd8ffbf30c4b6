#include "base/base.h"
#include "json/number.h"
#include "json/json.h"

#include <float.h>

/*
 * A number's text taken apart. Its value is 0.d1d2d3... * 10^(exponent + point), where d1 is the first digit
 * that is not zero and the last one is not zero either.
 */
struct decimal {
	bool negative, exponent_negative;
	struct str whole, fraction, exponent; /* digits only */
	size_t first, end;		      /* the significant digits, counted through whole and fraction */
	int64_t point;
};

/* Far more than any text has digits, far less than INT64_MAX. */
static const int64_t exponent_huge = (int64_t)1 << 40;

static int digit_at(const struct decimal *d, size_t at)
{
	return (at < d->whole.n ? d->whole.p[at] : d->fraction.p[at - d->whole.n]) - '0';
}

static void decimal_read(struct decimal *d, struct str text)
{
	*d = (struct decimal){ 0 };
	d->negative = str_take_char(&text, '-');
	d->whole = str_take_digits(&text);
	if (str_take_char(&text, '.'))
		d->fraction = str_take_digits(&text);
	if (str_take_char(&text, 'e') || str_take_char(&text, 'E')) {
		d->exponent_negative = str_take_char(&text, '-');
		str_take_char(&text, '+');
		d->exponent = str_take_digits(&text);
	}
	d->end = d->whole.n + d->fraction.n;
	while (d->end > 0 && digit_at(d, d->end - 1) == 0)
		d->end--;
	while (d->first < d->end && digit_at(d, d->first) == 0)
		d->first++;
	d->point = (int64_t)d->whole.n - (int64_t)d->first;
}

/* The exponent as written, held at +-exponent_huge. */
static int64_t decimal_exponent(const struct decimal *d)
{
	int64_t value = 0;

	for (size_t i = 0; i < d->exponent.n && value < exponent_huge; i++)
		value = value * 10 + (d->exponent.p[i] - '0');
	value = value < exponent_huge ? value : exponent_huge;
	return d->exponent_negative ? -value : value;
}

/* Magnitude and sign of an integer: ERR_INVALID when it has a fraction, ERR_TOO_LARGE beyond 64 bits. */
static int decimal_integer(const struct decimal *d, uint64_t *ret_magnitude)
{
	int64_t digits = (int64_t)(d->end - d->first), places = d->point + decimal_exponent(d);
	uint64_t magnitude = 0;

	if (digits > 0 && places < digits)
		return ERR_INVALID;
	for (int64_t i = 0; digits > 0 && i < places; i++) {
		int digit = i < digits ? digit_at(d, d->first + (size_t)i) : 0;

		if (mul_overflows(magnitude, (uint64_t)10, &magnitude) ||
		    add_overflows(magnitude, (uint64_t)digit, &magnitude))
			return ERR_TOO_LARGE;
	}
	*ret_magnitude = magnitude;
	return 0;
}

static int read_integer(const struct json *v, bool *ret_negative, uint64_t *ret_magnitude)
{
	struct decimal d;

	if (!json_is(v, JSON_NUMBER))
		return ERR_INVALID;
	decimal_read(&d, json_number_text(v));
	*ret_negative = d.negative;
	return decimal_integer(&d, ret_magnitude);
}

int json_i64(const struct json *v, int64_t *ret_value)
{
	uint64_t magnitude;
	bool negative;
	int code = read_integer(v, &negative, &magnitude);

	if (code < 0)
		return code;
	if (magnitude > (uint64_t)INT64_MAX + negative)
		return ERR_TOO_LARGE;
	*ret_value = (int64_t)(negative ? 0 - magnitude : magnitude);
	return 0;
}

int json_u64(const struct json *v, uint64_t *ret_value)
{
	uint64_t magnitude;
	bool negative;
	int code = read_integer(v, &negative, &magnitude);

	if (code < 0)
		return code;
	if (negative && magnitude > 0)
		return ERR_TOO_LARGE;
	*ret_value = magnitude;
	return 0;
}

int json_double(const struct json *v, double *ret_value)
{
	double value;

	if (!json_is(v, JSON_NUMBER))
		return ERR_INVALID;
	/* The tape ends every number's text with a NUL. */
	value = strtod(v->u.text, NULL);
	if (value > DBL_MAX || value < -DBL_MAX)
		return ERR_TOO_LARGE;
	*ret_value = value;
	return 0;
}

static int exponent_digit(const struct decimal *d, size_t place)
{
	int digit = place < d->exponent.n ? d->exponent.p[d->exponent.n - 1 - place] - '0' : 0;

	return d->exponent_negative ? -digit : digit;
}

/* Whether exponent + point is the same in both. Exponents may have any number of digits: their difference is
 * built from the highest digit down, and once it is huge, no lower digit can make it small again. */
static bool same_scale(const struct decimal *a, const struct decimal *b)
{
	int64_t difference = 0;

	for (size_t place = size_max(a->exponent.n, b->exponent.n); place-- > 0;) {
		difference = difference * 10 + exponent_digit(a, place) - exponent_digit(b, place);
		if (difference > exponent_huge || difference < -exponent_huge)
			return false;
	}
	return difference == b->point - a->point;
}

bool number_equal(struct str text_a, struct str text_b)
{
	struct decimal a, b;

	if (str_eq(text_a, text_b))
		return true;
	decimal_read(&a, text_a);
	decimal_read(&b, text_b);
	if (a.end - a.first != b.end - b.first)
		return false;
	if (a.end == a.first)
		return true;
	if (a.negative != b.negative)
		return false;
	for (size_t i = 0; i < a.end - a.first; i++)
		if (digit_at(&a, a.first + i) != digit_at(&b, b.first + i))
			return false;
	return same_scale(&a, &b);
}

#include "base/base.h"
#include "base/units.h"
#include "base/character.h"
#include "base/quote.h"

#include <inttypes.h>

/*
 * Both readers share the number: digits, then perhaps a point and more digits. Durations are added up in
 * nanoseconds and fractions taken digit by digit, each with the unit divided by ten once more, so that
 * nothing is ever rounded: a digit that is left when the unit no longer divides is finer than a nanosecond.
 */

/* The digits before and after the point; both are empty when there is no number. */
struct number {
	struct str whole, fraction;
};

static bool take_number(struct str *rest, struct number *ret_number)
{
	struct number number = { str_take_digits(rest), { NULL, 0 } };

	if (str_take_char(rest, '.'))
		number.fraction = str_take_digits(rest);
	*ret_number = number;
	return number.whole.n > 0 || number.fraction.n > 0;
}

/* The digits as a number times `unit`; false when that does not fit. No digits are 0. */
static bool whole_times(struct str digits, uint64_t unit, uint64_t *ret_product)
{
	uint64_t value = 0;

	if (digits.n > 0 && str_to_u64(digits, &value) < 0)
		return false;
	return !mul_overflows(value, unit, ret_product);
}

/* -- durations ------------------------------------------------------------------------------------------- */

#define NS_PER_MS UINT64_C(1000000)

struct duration_unit {
	struct str name;
	uint64_t ns;
};

static const struct duration_unit duration_units[] = {
	{ STR_INIT("ns"), 1 },
	{ STR_INIT("us"), 1000 },
	{ STR_INIT("\xc2\xb5s"), 1000 }, /* U+00B5 micro sign */
	{ STR_INIT("\xce\xbcs"), 1000 }, /* U+03BC Greek mu */
	{ STR_INIT("ms"), NS_PER_MS },
	{ STR_INIT("s"), 1000 * NS_PER_MS },
	{ STR_INIT("m"), 60 * 1000 * NS_PER_MS },
	{ STR_INIT("h"), 3600 * 1000 * NS_PER_MS },
};

#define DURATION_SYNTAX "write a number with a unit (ms, s, m, h), such as 250ms, 1.5s or 1m30s"

/* Takes what stands between two numbers. */
static struct str take_unit_name(struct str *rest)
{
	size_t n = 0;

	while (n < rest->n && !is_digit(rest->p[n]) && rest->p[n] != '.')
		n++;
	struct str name = str_slice(*rest, 0, n);

	*rest = str_from(*rest, n);
	return name;
}

static const struct duration_unit *find_duration_unit(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(duration_units); i++)
		if (str_eq(duration_units[i].name, name))
			return &duration_units[i];
	return NULL;
}

/* Adds the fraction of `unit` nanoseconds; false when a digit is finer than a nanosecond. Cannot overflow: it
 * adds less than an hour to at most INT64_MAX. */
static bool add_fraction(struct str digits, uint64_t unit, uint64_t *ns)
{
	for (size_t i = 0; i < digits.n; i++) {
		unsigned digit = (unsigned)(digits.p[i] - '0');

		if (unit % 10 != 0) {
			if (digit != 0)
				return false;
			continue;
		}
		unit /= 10;
		*ns += digit * unit;
	}
	return true;
}

static int duration_too_fine(struct str text, struct err *err)
{
	return err_set(err, ERR_INVALID, "duration %s is not a whole number of milliseconds", QUOTE(text));
}

static int duration_too_long(struct str text, struct err *err)
{
	return err_set(err, ERR_TOO_LARGE, "duration %s is too long: at most %" PRIu64 " hours are allowed",
		       QUOTE(text), (uint64_t)(DURATION_MAX_MS / 3600000));
}

/* Takes one number and its unit off *rest and adds them to *ns. */
static int duration_add_part(struct str text, struct str *rest, uint64_t *ns, struct err *err)
{
	const struct duration_unit *unit;
	struct str from = *rest, name;
	struct number number;
	uint64_t part;

	if (!take_number(rest, &number))
		return err_set(err, ERR_INVALID, "duration %s has no number at %s; " DURATION_SYNTAX,
			       QUOTE(text), QUOTE(from));
	name = take_unit_name(rest);
	unit = find_duration_unit(name);
	if (name.n == 0)
		return err_set(err, ERR_INVALID, "duration %s has no unit; " DURATION_SYNTAX, QUOTE(text));
	if (!unit)
		return err_set(err, ERR_INVALID, "duration %s has an unknown unit %s; " DURATION_SYNTAX,
			       QUOTE(text), QUOTE(name));
	if (!whole_times(number.whole, unit->ns, &part) || add_overflows(*ns, part, ns) || *ns > INT64_MAX)
		return duration_too_long(text, err);
	if (!add_fraction(number.fraction, unit->ns, ns))
		return duration_too_fine(text, err);
	return 0;
}

int duration_parse(struct str text, uint64_t *ret_ms, struct err *err)
{
	struct str rest = text;
	uint64_t ns = 0;

	if (text.n > 0 && text.p[0] == '-')
		return err_set(err, ERR_INVALID, "duration %s is negative", QUOTE(text));
	str_take_char(&rest, '+');
	if (rest.n == 0)
		return err_set(err, ERR_INVALID, "duration %s is empty; " DURATION_SYNTAX, QUOTE(text));
	if (str_eq(rest, STR("0"))) {
		*ret_ms = 0;
		return 0;
	}
	while (rest.n > 0) {
		int r = duration_add_part(text, &rest, &ns, err);

		if (r < 0)
			return r;
	}
	if (ns % NS_PER_MS != 0)
		return duration_too_fine(text, err);
	if (ns > INT64_MAX)
		return duration_too_long(text, err);
	*ret_ms = ns / NS_PER_MS;
	return 0;
}

/* The thousandths `ms` (below 1000) behind a point, without trailing zeros, or nothing. */
static int print_thousandths(char *out, size_t room, unsigned ms)
{
	int digits = 3;

	if (ms == 0)
		return 0;
	while (ms % 10 == 0) {
		ms /= 10;
		digits--;
	}
	return snprintf(out, room, ".%0*u", digits, ms);
}

struct str duration_text(char storage[DURATION_TEXT_MAX], uint64_t ms)
{
	uint64_t hours = ms / 3600000;
	unsigned minutes = (unsigned)(ms / 60000 % 60), seconds = (unsigned)(ms / 1000 % 60);
	unsigned rest = (unsigned)(ms % 1000);
	size_t n = 0;

	if (ms > 0 && ms < 1000)
		return str_make(storage, (size_t)snprintf(storage, DURATION_TEXT_MAX, "%ums", rest));
	if (hours)
		n += (size_t)snprintf(storage + n, DURATION_TEXT_MAX - n, "%" PRIu64 "h", hours);
	if (minutes)
		n += (size_t)snprintf(storage + n, DURATION_TEXT_MAX - n, "%um", minutes);
	if (seconds || rest || ms == 0) {
		n += (size_t)snprintf(storage + n, DURATION_TEXT_MAX - n, "%u", seconds);
		n += (size_t)print_thousandths(storage + n, DURATION_TEXT_MAX - n, rest);
		n += (size_t)snprintf(storage + n, DURATION_TEXT_MAX - n, "s");
	}
	return str_make(storage, n);
}

struct str duration_rough(char storage[DURATION_TEXT_MAX], uint64_t ms)
{
	uint64_t s = ms / 1000, m = s / 60, h = m / 60;
	unsigned hundredths = (unsigned)(ms / 10 % 100);
	int n;

	if (ms < 1000)
		n = snprintf(storage, DURATION_TEXT_MAX, "%" PRIu64 "ms", ms);
	else if (s < 10)
		n = snprintf(storage, DURATION_TEXT_MAX, "%" PRIu64 ".%02us", s, hundredths);
	else if (s < 60)
		n = snprintf(storage, DURATION_TEXT_MAX, "%" PRIu64 ".%us", s, hundredths / 10);
	else if (m < 60)
		n = snprintf(storage, DURATION_TEXT_MAX, "%" PRIu64 "m%" PRIu64 "s", m, s % 60);
	else if (h < 48)
		n = snprintf(storage, DURATION_TEXT_MAX, "%" PRIu64 "h%" PRIu64 "m", h, m % 60);
	else
		n = snprintf(storage, DURATION_TEXT_MAX, "%" PRIu64 "d%" PRIu64 "h", h / 24, h % 24);
	return str_make(storage, (size_t)n);
}

/* -- byte sizes ------------------------------------------------------------------------------------------ */

struct byte_unit {
	struct str name;
	uint64_t bytes;
};

/* Larger units first, and the binary one of each pair, which is the order in which byte_size_text() prefers
 * them. */
static const struct byte_unit byte_units[] = {
	{ STR_INIT("TiB"), UINT64_C(1) << 40 },
	{ STR_INIT("TB"), UINT64_C(1000000000000) },
	{ STR_INIT("GiB"), UINT64_C(1) << 30 },
	{ STR_INIT("GB"), UINT64_C(1000000000) },
	{ STR_INIT("MiB"), UINT64_C(1) << 20 },
	{ STR_INIT("MB"), UINT64_C(1000000) },
	{ STR_INIT("KiB"), UINT64_C(1) << 10 },
	{ STR_INIT("KB"), UINT64_C(1000) },
	{ STR_INIT("B"), 1 },
};

#define BYTE_SIZE_SYNTAX                                                                                     \
	"write a number of bytes, or one with B, KB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB "     \
	"(powers of 1024)"

static const struct byte_unit *find_byte_unit(struct str name)
{
	if (name.n == 0)
		return &byte_units[ARRAY_LEN(byte_units) - 1];
	for (size_t i = 0; i < ARRAY_LEN(byte_units); i++)
		if (str_eq_ignoring_case(byte_units[i].name, name))
			return &byte_units[i];
	return NULL;
}

/*
 * The whole bytes in 0.DIGITS times `unit`: schoolbook multiplication from the last digit, where only the
 * carry into the integer part is wanted. carry < unit <= 2^40, so nothing overflows, and any number of digits
 * is exact.
 */
static uint64_t fraction_floor(struct str digits, uint64_t unit)
{
	uint64_t carry = 0;

	for (size_t i = digits.n; i > 0; i--)
		carry = ((uint64_t)(digits.p[i - 1] - '0') * unit + carry) / 10;
	return carry;
}

int byte_size_parse(struct str text, uint64_t *ret_bytes, struct err *err)
{
	const struct byte_unit *unit;
	struct str rest = text;
	struct number number;
	uint64_t bytes;

	if (text.n > 0 && text.p[0] == '-')
		return err_set(err, ERR_INVALID, "byte size %s is negative", QUOTE(text));
	if (!take_number(&rest, &number))
		return err_set(err, ERR_INVALID, "byte size %s has no number; " BYTE_SIZE_SYNTAX,
			       QUOTE(text));
	unit = find_byte_unit(rest);
	if (!unit)
		return err_set(err, ERR_INVALID, "byte size %s has an unknown unit %s; " BYTE_SIZE_SYNTAX,
			       QUOTE(text), QUOTE(rest));
	if (unit->bytes == 1 && number.fraction.n > 0)
		return err_set(err, ERR_INVALID, "byte size %s is a fraction of a byte", QUOTE(text));
	if (!whole_times(number.whole, unit->bytes, &bytes) ||
	    add_overflows(bytes, fraction_floor(number.fraction, unit->bytes), &bytes))
		return err_set(err, ERR_TOO_LARGE,
			       "byte size %s is too large: at most %" PRIu64 " bytes are allowed",
			       QUOTE(text), UINT64_MAX);
	*ret_bytes = bytes;
	return 0;
}

struct str byte_size_text(char storage[BYTE_SIZE_TEXT_MAX], uint64_t bytes)
{
	int best = 0;

	for (size_t i = 0; i < ARRAY_LEN(byte_units); i++) {
		char text[BYTE_SIZE_TEXT_MAX];
		int n;

		if (bytes % byte_units[i].bytes != 0 || (bytes == 0 && byte_units[i].bytes != 1))
			continue;
		n = snprintf(text, sizeof(text), "%" PRIu64 "%.*s", bytes / byte_units[i].bytes,
			     STR_ARG(byte_units[i].name));
		if (best == 0 || n < best) {
			memcpy(storage, text, (size_t)n + 1);
			best = n;
		}
	}
	return str_make(storage, (size_t)best);
}

struct str byte_size_rough(char storage[BYTE_SIZE_TEXT_MAX], uint64_t bytes)
{
	static const char names[] = "KMGTP";
	unsigned power = 0;
	uint64_t whole, hundredths, scale;
	int n;

	while (power < sizeof(names) - 1 && bytes >> (10 * (power + 1)) != 0)
		power++;
	if (power == 0)
		return str_make(storage,
				(size_t)snprintf(storage, BYTE_SIZE_TEXT_MAX, "%" PRIu64 " B", bytes));
	scale = UINT64_C(1) << (10 * power);
	whole = bytes / scale;
	hundredths = bytes % scale * 100 / scale; /* below 2^57 */
	if (whole < 10)
		n = snprintf(storage, BYTE_SIZE_TEXT_MAX, "%" PRIu64 ".%02" PRIu64 " %ciB", whole, hundredths,
			     names[power - 1]);
	else if (whole < 100)
		n = snprintf(storage, BYTE_SIZE_TEXT_MAX, "%" PRIu64 ".%" PRIu64 " %ciB", whole,
			     hundredths / 10, names[power - 1]);
	else
		n = snprintf(storage, BYTE_SIZE_TEXT_MAX, "%" PRIu64 " %ciB", whole, names[power - 1]);
	return str_make(storage, (size_t)n);
}

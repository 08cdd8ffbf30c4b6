/*
 * Days and dates are converted with the March-based calendar of Howard Hinnant's "chrono-compatible low-level
 * date algorithms": years begin on 1 March, so that the leap day is the last day of a year and months follow
 * a linear rule.
 */
#include "base/base.h"
#include "base/time_text.h"
#include "base/quote.h"

enum { MS_PER_DAY = 86400000, DAYS_PER_ERA = 146097 /* 400 years */, DAYS_TO_1970 = 719468 };

static const char day_names[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
static const char month_names[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

/* -- calendar -------------------------------------------------------------------------------------------- */

struct civil_time civil_of_ms(uint64_t wall_ms)
{
	uint64_t ms = wall_ms < TIME_MAX_MS ? wall_ms : TIME_MAX_MS;
	unsigned days = (unsigned)(ms / MS_PER_DAY), rest = (unsigned)(ms % MS_PER_DAY);
	unsigned from_march_0 = days + DAYS_TO_1970;
	unsigned era = from_march_0 / DAYS_PER_ERA, day_of_era = from_march_0 % DAYS_PER_ERA;
	unsigned year_of_era =
		(day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	unsigned month_from_march = (5 * day_of_year + 2) / 153;
	unsigned month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;

	return (struct civil_time){
		.year = era * 400 + year_of_era + (month <= 2 ? 1 : 0),
		.month = month,
		.day = day_of_year - (153 * month_from_march + 2) / 5 + 1,
		.hour = rest / 3600000,
		.minute = rest / 60000 % 60,
		.second = rest / 1000 % 60,
		.millisecond = rest % 1000,
		.weekday = (days + 4) % 7, /* 1970-01-01 was a Thursday */
	};
}

static unsigned days_in_month(unsigned year, unsigned month)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap ? 1u : 0u);
}

static bool civil_valid(const struct civil_time *t)
{
	return t->year >= 1970 && t->year <= 9999 && t->month >= 1 && t->month <= 12 && t->day >= 1 &&
	       t->day <= days_in_month(t->year, t->month) && t->hour <= 23 && t->minute <= 59 &&
	       t->second <= 60 && t->millisecond <= 999;
}

/* Days from 1970-01-01 to a valid date. */
static unsigned civil_days(const struct civil_time *t)
{
	unsigned year = t->month <= 2 ? t->year - 1 : t->year;
	unsigned month_from_march = t->month > 2 ? t->month - 3 : t->month + 9;
	unsigned day_of_year = (153 * month_from_march + 2) / 5 + t->day - 1;
	unsigned year_of_era = year % 400;
	unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

	return year / 400 * DAYS_PER_ERA + day_of_era - DAYS_TO_1970;
}

int civil_to_ms(const struct civil_time *civil, uint64_t *ret_ms)
{
	uint64_t seconds;

	if (!civil_valid(civil))
		return ERR_INVALID;
	seconds =
		(uint64_t)civil_days(civil) * 86400 + civil->hour * 3600 + civil->minute * 60 + civil->second;
	*ret_ms = seconds * 1000 + civil->millisecond;
	return 0;
}

/* -- writing --------------------------------------------------------------------------------------------- */

struct str time_rfc3339(char storage[TIME_TEXT_MAX], uint64_t wall_ms)
{
	struct civil_time t = civil_of_ms(wall_ms);
	int n = snprintf(storage, TIME_TEXT_MAX, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", t.year % 10000,
			 t.month % 100, t.day % 100, t.hour % 100, t.minute % 100, t.second % 100,
			 t.millisecond % 1000);

	return str_make(storage, (size_t)n);
}

struct str time_http(char storage[TIME_TEXT_MAX], uint64_t wall_ms)
{
	struct civil_time t = civil_of_ms(wall_ms);
	int n = snprintf(storage, TIME_TEXT_MAX, "%s, %02u %s %04u %02u:%02u:%02u GMT", day_names[t.weekday],
			 t.day % 100, month_names[t.month - 1], t.year % 10000, t.hour % 100, t.minute % 100,
			 t.second % 100);

	return str_make(storage, (size_t)n);
}

/* -- reading --------------------------------------------------------------------------------------------- */

/* Reads on, left to right; once something is missing every further step fails too, so that one check at the
 * end is enough. */
struct reader {
	struct str rest;
	bool failed;
};

static void read_literal(struct reader *r, struct str literal)
{
	if (!str_starts_with(r->rest, literal))
		r->failed = true;
	r->rest = str_from(r->rest, literal.n);
}

/* Exactly `digits` digits, of which `blanks` at the front may be spaces. */
static unsigned read_number(struct reader *r, unsigned digits, unsigned blanks)
{
	struct str field = str_slice(r->rest, 0, digits);
	uint64_t value = 0;

	r->rest = str_from(r->rest, digits);
	while (blanks > 0 && field.n > 1 && field.p[0] == ' ') {
		field = str_from(field, 1);
		digits--;
		blanks--;
	}
	if (field.n != digits || str_to_u64(field, &value) < 0)
		r->failed = true;
	return (unsigned)value;
}

/* The position of one of `count` names of three letters. */
static unsigned read_name(struct reader *r, const char (*names)[4], unsigned count)
{
	struct str field = str_slice(r->rest, 0, 3);

	r->rest = str_from(r->rest, 3);
	for (unsigned i = 0; i < count; i++)
		if (str_eq(field, str_make(names[i], 3)))
			return i;
	r->failed = true;
	return 0;
}

static void read_clock(struct reader *r, struct civil_time *t)
{
	t->hour = read_number(r, 2, 0);
	read_literal(r, STR(":"));
	t->minute = read_number(r, 2, 0);
	read_literal(r, STR(":"));
	t->second = read_number(r, 2, 0);
}

/* "." and one digit or more; what is finer than a millisecond is dropped. */
static unsigned read_fraction(struct reader *r)
{
	unsigned ms = 0, weight = 100;
	struct str digits;

	if (!str_take_char(&r->rest, '.'))
		return 0;
	digits = str_take_digits(&r->rest);
	if (digits.n == 0)
		r->failed = true;
	for (size_t i = 0; i < digits.n; i++, weight /= 10)
		ms += (unsigned)(digits.p[i] - '0') * weight;
	return ms;
}

/* "Z" or "+hh:mm" or "-hh:mm", as milliseconds that must be taken away. */
static int64_t read_offset(struct reader *r)
{
	char sign = r->rest.n ? r->rest.p[0] : '\0';
	unsigned hours, minutes;

	r->rest = str_from(r->rest, 1);
	if (sign == 'Z' || sign == 'z')
		return 0;
	hours = read_number(r, 2, 0);
	read_literal(r, STR(":"));
	minutes = read_number(r, 2, 0);
	if ((sign != '+' && sign != '-') || hours > 23 || minutes > 59)
		r->failed = true;
	return (sign == '-' ? -1 : 1) * (int64_t)(hours * 3600000 + minutes * 60000);
}

int time_parse_rfc3339(struct str text, uint64_t *ret_ms, struct err *err)
{
	struct reader r = { text, false };
	struct civil_time t = { 0 };
	uint64_t ms = 0;
	int64_t offset;

	t.year = read_number(&r, 4, 0);
	read_literal(&r, STR("-"));
	t.month = read_number(&r, 2, 0);
	read_literal(&r, STR("-"));
	t.day = read_number(&r, 2, 0);
	if (r.rest.n > 0 && (r.rest.p[0] == 't' || r.rest.p[0] == ' '))
		r.rest = str_from(r.rest, 1);
	else
		read_literal(&r, STR("T"));
	read_clock(&r, &t);
	t.millisecond = read_fraction(&r);
	offset = read_offset(&r);
	if (r.failed || r.rest.n > 0)
		return err_set(err, ERR_INVALID, "%s is no time; write one such as 2026-07-28T09:08:07Z",
			       QUOTE(text));
	if (civil_to_ms(&t, &ms) < 0 || (offset > 0 && (uint64_t)offset > ms))
		return err_set(err, ERR_INVALID, "%s does not exist or lies before 1970", QUOTE(text));
	*ret_ms = ms - (uint64_t)offset;
	return 0;
}

/* "28 Jul 2026 09:08:07 GMT", what follows "Tue, ". */
static void read_imf_fixdate(struct reader *r, struct civil_time *t)
{
	read_literal(r, STR(", "));
	t->day = read_number(r, 2, 0);
	read_literal(r, STR(" "));
	t->month = read_name(r, month_names, 12) + 1;
	read_literal(r, STR(" "));
	t->year = read_number(r, 4, 0);
	read_literal(r, STR(" "));
	read_clock(r, t);
	read_literal(r, STR(" GMT"));
}

/* "day, 28-Jul-26 09:08:07 GMT", what follows the first three letters of the day's name, with the rest of
 * that name. */
static void read_rfc850(struct reader *r, struct civil_time *t, uint64_t now_ms)
{
	static const struct str name_ends[7] = { STR_INIT("day"),    STR_INIT("day"),	STR_INIT("sday"),
						 STR_INIT("nesday"), STR_INIT("rsday"), STR_INIT("day"),
						 STR_INIT("urday") };
	unsigned this_year = civil_of_ms(now_ms).year;

	read_literal(r, name_ends[t->weekday]);
	read_literal(r, STR(", "));
	t->day = read_number(r, 2, 0);
	read_literal(r, STR("-"));
	t->month = read_name(r, month_names, 12) + 1;
	read_literal(r, STR("-"));
	t->year = read_number(r, 2, 0) + (this_year + 50) / 100 * 100;
	if (t->year > this_year + 50)
		t->year -= 100;
	read_literal(r, STR(" "));
	read_clock(r, t);
	read_literal(r, STR(" GMT"));
}

/* " Jul 28 09:08:07 2026", what follows "Tue" in the form of C's asctime(). */
static void read_asctime(struct reader *r, struct civil_time *t)
{
	read_literal(r, STR(" "));
	t->month = read_name(r, month_names, 12) + 1;
	read_literal(r, STR(" "));
	t->day = read_number(r, 2, 1);
	read_literal(r, STR(" "));
	read_clock(r, t);
	read_literal(r, STR(" "));
	t->year = read_number(r, 4, 0);
}

int time_parse_http(struct str text, uint64_t now_ms, uint64_t *ret_ms, struct err *err)
{
	struct reader r = { text, false };
	struct civil_time t = { 0 };
	uint64_t ms = 0;

	t.weekday = read_name(&r, day_names, 7);
	if (str_starts_with(r.rest, STR(", ")))
		read_imf_fixdate(&r, &t);
	else if (str_starts_with(r.rest, STR(" ")))
		read_asctime(&r, &t);
	else
		read_rfc850(&r, &t, now_ms);
	if (r.failed || r.rest.n > 0)
		return err_set(err, ERR_INVALID,
			       "%s is no HTTP date; it looks like Tue, 28 Jul 2026 09:08:07 GMT",
			       QUOTE(text));
	if (civil_to_ms(&t, &ms) < 0)
		return err_set(err, ERR_INVALID, "%s does not exist or lies before 1970", QUOTE(text));
	if ((civil_days(&t) + 4) % 7 != t.weekday)
		return err_set(err, ERR_INVALID, "%s names the wrong day of the week", QUOTE(text));
	*ret_ms = ms;
	return 0;
}

#include "base/base.h"
#include "io/http_date.h"

#include "base/err.h"

/* strftime() would use the locale's names, so the names stand here. */

enum { TM_YEAR_ZERO = 1900 /* struct tm counts years from there */ };

static const char days[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
static const char long_days[7][10] = { "Sunday",   "Monday", "Tuesday", "Wednesday",
				       "Thursday", "Friday", "Saturday" };
static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
				    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

void http_date_write(char room[HTTP_DATE_LENGTH], uint64_t seconds)
{
	time_t at = (time_t)seconds;
	struct tm tm;
	char text[64];

	gmtime_r(&at, &tm);
	snprintf(text, sizeof(text), "%s, %02d %s %04d %02d:%02d:%02d GMT", days[tm.tm_wday], tm.tm_mday,
		 months[tm.tm_mon], tm.tm_year + TM_YEAR_ZERO, tm.tm_hour, tm.tm_min, tm.tm_sec);
	memcpy(room, text, HTTP_DATE_LENGTH);
}

/* -- reading: a cursor that fails once and for all --------------------------------------------------------------------- */

struct date_cursor {
	struct str rest;
	bool failed;
};

static void date_expect(struct date_cursor *cursor, struct str text)
{
	if (!str_starts_with(cursor->rest, text))
		cursor->failed = true;
	cursor->rest = str_from(cursor->rest, text.n);
}

static int date_number(struct date_cursor *cursor, size_t digits)
{
	struct str text = str_slice(cursor->rest, 0, digits);
	uint64_t value = 0;

	if (text.n != digits || str_to_u64(text, &value) < 0)
		cursor->failed = true;
	cursor->rest = str_from(cursor->rest, digits);
	return (int)value;
}

static int date_month(struct date_cursor *cursor)
{
	for (int i = 0; i < 12; i++)
		if (str_starts_with(cursor->rest, str_make(months[i], 3))) {
			cursor->rest = str_from(cursor->rest, 3);
			return i;
		}
	cursor->failed = true;
	return 0;
}

static void date_clock(struct date_cursor *cursor, struct tm *tm)
{
	tm->tm_hour = date_number(cursor, 2);
	date_expect(cursor, STR(":"));
	tm->tm_min = date_number(cursor, 2);
	date_expect(cursor, STR(":"));
	tm->tm_sec = date_number(cursor, 2);
}

/* " 06 Nov 1994 08:49:37 GMT", behind "Sun," */
static void date_read_fixed(struct date_cursor *cursor, struct tm *tm)
{
	date_expect(cursor, STR(" "));
	tm->tm_mday = date_number(cursor, 2);
	date_expect(cursor, STR(" "));
	tm->tm_mon = date_month(cursor);
	date_expect(cursor, STR(" "));
	tm->tm_year = date_number(cursor, 4) - TM_YEAR_ZERO;
	date_expect(cursor, STR(" "));
	date_clock(cursor, tm);
	date_expect(cursor, STR(" GMT"));
}

/* " 06-Nov-94 08:49:37 GMT", behind "Sunday,". RFC 9110 wants a date that seems over 50 years ahead to be taken for the past; with 1970 as
 * the first year that we know, two digits have only one meaning. */
static void date_read_rfc850(struct date_cursor *cursor, struct tm *tm)
{
	date_expect(cursor, STR(" "));
	tm->tm_mday = date_number(cursor, 2);
	date_expect(cursor, STR("-"));
	tm->tm_mon = date_month(cursor);
	date_expect(cursor, STR("-"));
	tm->tm_year = date_number(cursor, 2);
	if (tm->tm_year < 70)
		tm->tm_year += 100;
	date_expect(cursor, STR(" "));
	date_clock(cursor, tm);
	date_expect(cursor, STR(" GMT"));
}

/* " Nov  6 08:49:37 1994", behind "Sun" */
static void date_read_asctime(struct date_cursor *cursor, struct tm *tm)
{
	date_expect(cursor, STR(" "));
	tm->tm_mon = date_month(cursor);
	date_expect(cursor, STR(" "));
	if (str_starts_with(cursor->rest, STR(" "))) {
		date_expect(cursor, STR(" "));
		tm->tm_mday = date_number(cursor, 1);
	} else {
		tm->tm_mday = date_number(cursor, 2);
	}
	date_expect(cursor, STR(" "));
	date_clock(cursor, tm);
	date_expect(cursor, STR(" "));
	tm->tm_year = date_number(cursor, 4) - TM_YEAR_ZERO;
}

static bool skip_day(struct date_cursor *cursor, struct str name, struct str behind)
{
	struct str rest = str_from(cursor->rest, name.n);

	if (!str_starts_with(cursor->rest, name) || !str_starts_with(rest, behind))
		return false;
	cursor->rest = str_from(rest, behind.n);
	return true;
}

typedef void date_reader(struct date_cursor *cursor, struct tm *tm);

/* The day's name and what is behind it tell the form. */
static date_reader *date_form(struct date_cursor *cursor)
{
	for (size_t i = 0; i < ARRAY_LEN(days); i++) {
		if (skip_day(cursor, str_of(days[i]), STR(",")))
			return date_read_fixed;
		if (skip_day(cursor, str_of(long_days[i]), STR(",")))
			return date_read_rfc850;
		if (skip_day(cursor, str_of(days[i]), STR("")))
			return date_read_asctime;
	}
	return NULL;
}

/* timegm() makes a 2 March of a 30 February: such a date is none. */
static bool same_date(const struct tm *a, const struct tm *b)
{
	return a->tm_mon == b->tm_mon && a->tm_mday == b->tm_mday && a->tm_hour == b->tm_hour &&
	       a->tm_min == b->tm_min && a->tm_sec == b->tm_sec;
}

int http_date_read(struct str text, uint64_t *ret_seconds)
{
	struct date_cursor cursor = { .rest = text };
	date_reader *read = date_form(&cursor);
	struct tm tm = { 0 }, asked;
	time_t seconds;

	if (!read)
		return ERR_INVALID;
	read(&cursor, &tm);
	if (cursor.failed || cursor.rest.n)
		return ERR_INVALID;
	if (tm.tm_sec == 60) /* a leap second, which time_t does not have */
		tm.tm_sec = 59;
	asked = tm;
	seconds = timegm(&tm);
	if (seconds < 0 || !same_date(&tm, &asked))
		return ERR_INVALID;
	*ret_seconds = (uint64_t)seconds;
	return 0;
}

#include "base/base.h"
#include "io/http_conditional.h"
#include "base/time_text.h"

/* -- conditions (RFC 9110 section 13.2.2 gives the order) ------------------------------------------------ */

static struct str without_weakness(struct str etag)
{
	return str_starts_with(etag, STR("W/")) ? str_from(etag, 2) : etag;
}

static bool etags_match(struct str a, struct str b, bool strong)
{
	if (strong)
		return str_eq(a, b) && !str_starts_with(a, STR("W/"));
	return str_eq(without_weakness(a), without_weakness(b));
}

/* Whether some entity tag in the fields of that name, which make one list (section 5.3), is the file's. "*"
 * matches any file: there is one. */
static bool fields_match(const struct http_field *fields, size_t count, struct str name, struct str etag,
			 bool strong)
{
	for (size_t i = 0; i < count; i++) {
		struct str list = fields[i].value, member;

		if (!str_eq_ignoring_case(fields[i].name, name))
			continue;
		if (str_eq(list, STR("*")))
			return true;
		while (etag.n && http_next_member(&list, &member))
			if (etags_match(member, etag, strong))
				return true;
	}
	return false;
}

/* Whether the file changed after the date; unknown and malformed dates answer `otherwise`. Dates are in whole
 * seconds. */
static bool modified_since(struct str date, const struct http_validators *validators, bool otherwise)
{
	uint64_t since;

	if (validators->modified_ms == 0 || time_parse_http(date, validators->now_ms, &since, NULL) < 0)
		return otherwise;
	return validators->modified_ms / 1000 > since / 1000;
}

static bool is_get_or_head(struct str method)
{
	return str_eq(method, STR("GET")) || str_eq(method, STR("HEAD"));
}

/* 200 when nothing forbids it, else 304 or 412. */
static unsigned check_conditions(struct str method, const struct http_field *fields, size_t count,
				 const struct http_validators *validators)
{
	bool match = http_find_field(fields, count, STR("if-match")).p;
	struct str unmodified = http_find_field(fields, count, STR("if-unmodified-since"));
	bool none_match = http_find_field(fields, count, STR("if-none-match")).p;
	struct str modified = http_find_field(fields, count, STR("if-modified-since"));

	if (match && !fields_match(fields, count, STR("if-match"), validators->etag, true))
		return 412;
	if (!match && unmodified.p && modified_since(unmodified, validators, false))
		return 412;
	if (none_match && fields_match(fields, count, STR("if-none-match"), validators->etag, false))
		return is_get_or_head(method) ? 304 : 412;
	if (!none_match && modified.p && is_get_or_head(method) &&
	    !modified_since(modified, validators, true))
		return 304;
	return 200;
}

/* -- ranges (section 14) --------------------------------------------------------------------------------- */

/* Section 13.1.5: an entity tag must match strongly, a date exactly. */
static bool if_range_holds(struct str condition, const struct http_validators *validators)
{
	uint64_t date;

	if (!condition.p)
		return true;
	if (str_ends_with(condition, STR("\"")))
		return validators->etag.n && etags_match(condition, validators->etag, true);
	return validators->modified_ms && time_parse_http(condition, validators->now_ms, &date, NULL) == 0 &&
	       date / 1000 == validators->modified_ms / 1000;
}

struct byte_range {
	bool has_first, has_last;
	uint64_t first, last;
};

/* A position beyond what can be counted is beyond the end of any file (section 14.1.2). */
static bool position_parse(struct str digits, uint64_t *ret_position)
{
	if (!str_is_digits(digits))
		return false;
	if (str_to_u64(digits, ret_position) < 0)
		*ret_position = UINT64_MAX;
	return true;
}

/* "bytes=1-2", "bytes=1-" or "bytes=-2". */
static bool range_parse(struct str text, struct byte_range *ret_range)
{
	struct byte_range range = { 0 };
	struct str first, last;
	size_t dash;

	if (!str_eq_ignoring_case(str_slice(text, 0, 6), STR("bytes=")))
		return false;
	text = str_from(text, 6);
	dash = str_find_char(text, '-');
	if (dash == STR_NONE)
		return false;
	first = str_slice(text, 0, dash);
	last = str_from(text, dash + 1);
	range.has_first = first.n > 0;
	range.has_last = last.n > 0;
	if ((range.has_first && !position_parse(first, &range.first)) ||
	    (range.has_last && !position_parse(last, &range.last)))
		return false;
	if (!range.has_first && !range.has_last)
		return false;
	if (range.has_first && range.has_last && range.first > range.last)
		return false;
	*ret_range = range;
	return true;
}

static struct http_selected range_apply(const struct byte_range *range, uint64_t size)
{
	uint64_t from = range->first, end = size;

	/* The end of an empty file is all of it, though no Content-Range could name it (section 14.1.2). */
	if (!range->has_first && range->last > 0 && size == 0)
		return (struct http_selected){ .status = 200 };
	if (!range->has_first)
		from = range->last < size ? size - range->last : 0;
	else if (range->has_last && range->last < size)
		end = range->last + 1;
	if (from >= end)
		return (struct http_selected){ .status = 416 };
	return (struct http_selected){ .status = 206, .from = from, .count = end - from };
}

struct http_selected http_select(struct str method, const struct http_field *fields, size_t field_count,
				 const struct http_validators *validators)
{
	struct http_selected whole = { .status = 200, .count = validators->size };
	struct str range_text = http_find_field(fields, field_count, STR("range"));
	struct byte_range range;

	whole.status = check_conditions(method, fields, field_count, validators);
	if (whole.status != 200)
		return (struct http_selected){ .status = whole.status };
	/* Section 14.2: ranges are defined for GET only. */
	if (!str_eq(method, STR("GET")) || !range_text.p || !range_parse(range_text, &range))
		return whole;
	if (!if_range_holds(http_find_field(fields, field_count, STR("if-range")), validators))
		return whole;
	return range_apply(&range, validators->size);
}

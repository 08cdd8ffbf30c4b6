#include "base/base.h"
#include "io/http_syntax.h"
#include "base/character.h"

static bool is_control(unsigned char c)
{
	return (c < 0x20 && c != '\t') || c == 0x7f;
}

/* Where the first control character stands, or the end. */
static size_t skip_text(struct str bytes, size_t at)
{
	while (at < bytes.n && !is_control((unsigned char)bytes.p[at]))
		at++;
	return at;
}

enum http_line http_next_line(struct http_lines *lines, struct str bytes, struct str *ret_line)
{
	lines->at = skip_text(bytes, lines->at);
	if (lines->at == bytes.n)
		return HTTP_LINE_MORE;
	if (bytes.p[lines->at] != '\r')
		return HTTP_LINE_BAD;
	if (lines->at + 1 == bytes.n)
		return HTTP_LINE_MORE;
	if (bytes.p[lines->at + 1] != '\n')
		return HTTP_LINE_BAD;
	*ret_line = str_slice(bytes, lines->from, lines->at - lines->from);
	lines->at += 2;
	lines->from = lines->at;
	return HTTP_LINE_WHOLE;
}

/* RFC 9110 section 5.6.2: letters, digits and these. */
static bool is_token_char(char c)
{
	static const char marks[] = "!#$%&'*+-.^_`|~";

	return is_letter_or_digit(c) || (c && memchr(marks, c, sizeof(marks) - 1));
}

bool http_is_token(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_token_char(s.p[i]))
			return false;
	return s.n > 0;
}

bool http_is_field_value(struct str s)
{
	return skip_text(s, 0) == s.n;
}

const char *http_parse_field(struct str line, struct http_field *ret_field)
{
	size_t colon = str_find_char(line, ':');
	struct str name;

	if (line.n && (line.p[0] == ' ' || line.p[0] == '\t'))
		return "begins with a blank: folded lines are not accepted";
	if (colon == STR_NONE)
		return "has no colon";
	name = str_slice(line, 0, colon);
	if (colon && (name.p[colon - 1] == ' ' || name.p[colon - 1] == '\t'))
		return "has a blank in front of its colon";
	if (!http_is_token(name))
		return "has a name that is not a token";
	ret_field->name = name;
	ret_field->value = str_trim(str_from(line, colon + 1));
	return NULL;
}

struct str http_find_field(const struct http_field *fields, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq_ignoring_case(fields[i].name, name))
			return fields[i].value;
	return str_make(NULL, 0);
}

/* Offset of the comma that ends the first member, or the length. A backslash inside quotes hides the next
 * character. */
static size_t member_end(struct str list)
{
	bool quoted = false;

	for (size_t i = 0; i < list.n; i++) {
		if (list.p[i] == '"')
			quoted = !quoted;
		else if (quoted && list.p[i] == '\\')
			i++;
		else if (!quoted && list.p[i] == ',')
			return i;
	}
	return list.n;
}

bool http_next_member(struct str *rest, struct str *ret_member)
{
	while (rest->n) {
		size_t end = member_end(*rest);
		struct str member = str_trim(str_slice(*rest, 0, end));

		*rest = str_from(*rest, end + 1);
		if (member.n) {
			*ret_member = member;
			return true;
		}
	}
	return false;
}

bool http_list_has(struct str list, struct str member)
{
	struct str found;

	while (http_next_member(&list, &found))
		if (str_eq_ignoring_case(found, member))
			return true;
	return false;
}

static const struct {
	unsigned status;
	const char *phrase;
} phrases[] = {
	{ 100, "Continue" },
	{ 101, "Switching Protocols" },
	{ 200, "OK" },
	{ 201, "Created" },
	{ 202, "Accepted" },
	{ 204, "No Content" },
	{ 205, "Reset Content" },
	{ 206, "Partial Content" },
	{ 301, "Moved Permanently" },
	{ 302, "Found" },
	{ 303, "See Other" },
	{ 304, "Not Modified" },
	{ 307, "Temporary Redirect" },
	{ 308, "Permanent Redirect" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 406, "Not Acceptable" },
	{ 408, "Request Timeout" },
	{ 409, "Conflict" },
	{ 410, "Gone" },
	{ 411, "Length Required" },
	{ 412, "Precondition Failed" },
	{ 413, "Content Too Large" },
	{ 414, "URI Too Long" },
	{ 415, "Unsupported Media Type" },
	{ 416, "Range Not Satisfiable" },
	{ 417, "Expectation Failed" },
	{ 421, "Misdirected Request" },
	{ 422, "Unprocessable Content" },
	{ 423, "Locked" },
	{ 425, "Too Early" },
	{ 426, "Upgrade Required" },
	{ 428, "Precondition Required" },
	{ 429, "Too Many Requests" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 502, "Bad Gateway" },
	{ 503, "Service Unavailable" },
	{ 504, "Gateway Timeout" },
	{ 505, "HTTP Version Not Supported" },
	{ 507, "Insufficient Storage" },
};

const char *http_status_phrase(unsigned status)
{
	for (size_t i = 0; i < ARRAY_LEN(phrases); i++)
		if (phrases[i].status == status)
			return phrases[i].phrase;
	return "Unknown";
}

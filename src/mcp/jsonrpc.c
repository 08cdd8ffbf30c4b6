#include "base/base.h"
#include "mcp/jsonrpc.h"

#include "json/writer.h"
#include "mcp/revision.h"

static const struct str envelope_names[] = {
	STR_INIT("jsonrpc"), STR_INIT("id"),	 STR_INIT("method"),
	STR_INIT("params"),  STR_INIT("result"), STR_INIT("error"),
};
enum { AT_VERSION, AT_ID, AT_METHOD, AT_PARAMS, AT_RESULT, AT_ERROR, ENVELOPE_NAMES };

struct envelope {
	const struct json_member *at[ENVELOPE_NAMES];
};

static struct str skip_blanks(struct str text)
{
	size_t n = 0;

	while (n < text.n && memchr(" \t\r\n", text.p[n], 4))
		n++;
	return str_from(text, n);
}

static bool begins_with(struct str text, char c)
{
	text = skip_blanks(text);
	return text.n > 0 && text.p[0] == c;
}

bool jsonrpc_is_batch(struct str text)
{
	return begins_with(text, '[');
}

/* -- one message ----------------------------------------------------------------------------------------- */

static int fault_set(struct jsonrpc_fault *fault, int code, int64_t answer, const char *message)
{
	fault->code = answer;
	return err_set(&fault->err, code, "%s", message);
}

/* The text is no object: is it JSON at all? */
static int classify_foreign(struct str text, const struct json_limits *limits, struct jsonrpc_fault *fault)
{
	int code = json_check(text, limits, &fault->err);

	fault->code = code == ERR_INVALID ? MCP_PARSE_ERROR : MCP_INVALID_REQUEST;
	return code < 0 ? code
			: fault_set(fault, ERR_INVALID, MCP_INVALID_REQUEST, "a message is a JSON object");
}

static int open_envelope(const struct json_member *members, size_t count, struct envelope *envelope)
{
	*envelope = (struct envelope){ 0 };
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < ENVELOPE_NAMES; k++) {
			if (!str_eq(members[i].key, envelope_names[k]))
				continue;
			if (envelope->at[k])
				return ERR_INVALID;
			envelope->at[k] = &members[i];
			break;
		}
	return 0;
}

bool jsonrpc_is_id(struct str raw, enum json_type type)
{
	if (type == JSON_STRING)
		return true;
	return type == JSON_NUMBER && str_find_char(raw, '.') == STR_NONE &&
	       str_find_char(raw, 'e') == STR_NONE && str_find_char(raw, 'E') == STR_NONE;
}

static bool is_version_2(const struct json_member *member, struct arena *arena)
{
	return member && str_eq(jsonrpc_decode_str(member->raw, arena), STR("2.0"));
}

static int read_call(const struct envelope *envelope, struct arena *arena, struct jsonrpc_message *m,
		     struct jsonrpc_fault *fault)
{
	const struct json_member *method = envelope->at[AT_METHOD], *params = envelope->at[AT_PARAMS];

	if (envelope->at[AT_RESULT] || envelope->at[AT_ERROR])
		return fault_set(fault, ERR_INVALID, MCP_INVALID_REQUEST,
				 "a message has a method, a result or an error, not two of them");
	if (method->type != JSON_STRING)
		return fault_set(fault, ERR_INVALID, MCP_INVALID_REQUEST, "\"method\" must be a string");
	if (envelope->at[AT_ID] && !fault->id.n)
		return fault_set(fault, ERR_INVALID, MCP_INVALID_REQUEST,
				 "\"id\" must be a string or an integer");
	if (params && params->type != JSON_OBJECT && params->type != JSON_NULL)
		return fault_set(fault, ERR_INVALID, MCP_INVALID_REQUEST, "\"params\" must be an object");
	m->kind = envelope->at[AT_ID] ? JSONRPC_REQUEST : JSONRPC_NOTIFICATION;
	m->id = fault->id;
	m->method = jsonrpc_decode_str(method->raw, arena);
	m->params = params && params->type == JSON_OBJECT ? params->raw : (struct str){ 0 };
	return 0;
}

/* Whatever stands in the error member, it ends the request: read what can be read. */
static void read_error(const struct json_member *error, struct arena *arena, struct jsonrpc_message *m)
{
	struct jsonrpc_members members = { 0 };

	m->kind = JSONRPC_ERROR;
	m->error_code = MCP_INTERNAL_ERROR;
	m->error_message = STR("");
	if (error->type == JSON_STRING)
		m->error_message = jsonrpc_decode_str(error->raw, arena);
	if (error->type != JSON_OBJECT || jsonrpc_members(error->raw, arena, &members, NULL) < 0)
		return;
	if (str_to_i64(jsonrpc_member(&members, STR("code")), &m->error_code) < 0)
		m->error_code = MCP_INTERNAL_ERROR;
	m->error_message = jsonrpc_member_str(&members, STR("message"), arena);
	m->error_data = jsonrpc_member(&members, STR("data"));
}

static int read_response(const struct envelope *envelope, struct arena *arena, struct jsonrpc_message *m,
			 struct jsonrpc_fault *fault)
{
	const struct json_member *result = envelope->at[AT_RESULT], *error = envelope->at[AT_ERROR];

	/* Some serialisers write both, one of them null. */
	if (result && error && error->type == JSON_NULL)
		error = NULL;
	else if (result && error && result->type == JSON_NULL)
		result = NULL;
	if (result && error)
		return fault_set(fault, ERR_INVALID, 0, "a response has a result or an error, not both");
	if (result && !fault->id.n)
		return fault_set(fault, ERR_INVALID, 0, "a result needs the id of its request");
	m->id = fault->id;
	if (!result) {
		read_error(error, arena, m);
		return 0;
	}
	m->kind = JSONRPC_RESULT;
	m->result = result->raw;
	return 0;
}

static int read_envelope(const struct envelope *envelope, struct arena *arena,
			 struct jsonrpc_message *ret_message, struct jsonrpc_fault *fault)
{
	const struct json_member *id = envelope->at[AT_ID];
	bool response = !envelope->at[AT_METHOD] && (envelope->at[AT_RESULT] || envelope->at[AT_ERROR]);
	struct jsonrpc_message m = { 0 };
	int code;

	if (id && jsonrpc_is_id(id->raw, id->type))
		fault->id = id->raw;
	if (!is_version_2(envelope->at[AT_VERSION], arena))
		return fault_set(fault, ERR_INVALID, response ? 0 : MCP_INVALID_REQUEST,
				 "\"jsonrpc\" must be \"2.0\"");
	if (envelope->at[AT_METHOD])
		code = read_call(envelope, arena, &m, fault);
	else if (response)
		code = read_response(envelope, arena, &m, fault);
	else
		code = fault_set(fault, ERR_INVALID, MCP_INVALID_REQUEST,
				 "a message needs a method, a result or an error");
	if (code == 0)
		*ret_message = m;
	return code;
}

int jsonrpc_read(struct str text, const struct json_limits *limits, struct arena *arena,
		 struct jsonrpc_message *ret_message, struct jsonrpc_fault *fault)
{
	struct json_member members[JSONRPC_ENVELOPE_MAX];
	struct envelope envelope;
	size_t count;
	int code;

	*fault = (struct jsonrpc_fault){ .code = MCP_PARSE_ERROR };
	if (!begins_with(text, '{'))
		return classify_foreign(text, limits, fault);
	code = json_skim_foreign(&text, limits, arena, members, ARRAY_LEN(members), &count, &fault->err);
	if (code < 0) {
		fault->code = code == ERR_INVALID ? MCP_PARSE_ERROR : MCP_INVALID_REQUEST;
		return code;
	}
	if (open_envelope(members, count, &envelope) < 0)
		return fault_set(fault, ERR_INVALID, MCP_INVALID_REQUEST,
				 "a member of the message comes twice");
	return read_envelope(&envelope, arena, ret_message, fault);
}

/* -- arrays ---------------------------------------------------------------------------------------------- */

/* The offset behind the string whose opening quote is at `at`; text.n when it does not end. */
static size_t string_end(struct str text, size_t at)
{
	for (at++; at < text.n; at++) {
		if (text.p[at] == '\\')
			at++;
		else if (text.p[at] == '"')
			return at + 1;
	}
	return text.n;
}

/* The offset of the ',' or closing bracket that ends the value at `at`. Only looks at strings and brackets:
 * what it cuts out is validated afterwards. */
static size_t value_end(struct str text, size_t at)
{
	size_t depth = 0;

	while (at < text.n) {
		switch (text.p[at]) {
		case '"':
			at = string_end(text, at);
			continue;
		case '[':
		case '{':
			depth++;
			break;
		case ']':
		case '}':
			if (depth == 0)
				return at;
			depth--;
			break;
		case ',':
			if (depth == 0)
				return at;
			break;
		default:
			break;
		}
		at++;
	}
	return text.n;
}

/* What is left after the '[' or ',' before `at`: nothing when the array ends there. */
static struct str elements_from(struct str text, size_t at)
{
	struct str rest = skip_blanks(str_from(text, at));

	return rest.n && rest.p[0] != ']' ? rest : (struct str){ 0 };
}

int jsonrpc_elements(struct str array, const struct json_limits *limits,
		     struct jsonrpc_elements *ret_elements, struct err *err)
{
	int code;

	if (!jsonrpc_is_batch(array))
		return err_set(err, ERR_INVALID, "expected an array");
	code = json_check(array, limits, err);
	if (code == 0)
		ret_elements->rest = elements_from(skip_blanks(array), 1);
	return code;
}

bool jsonrpc_element(struct jsonrpc_elements *elements, struct str *ret_item)
{
	struct str text = elements->rest;
	size_t end;

	if (!text.n)
		return false;
	end = value_end(text, 0);
	*ret_item = str_trim(str_slice(text, 0, end));
	elements->rest = text.p[end] == ',' ? elements_from(text, end + 1) : (struct str){ 0 };
	return true;
}

int jsonrpc_split(struct str array, const struct json_limits *limits, struct arena *arena, size_t max,
		  const struct str **ret_items, size_t *ret_count, struct err *err)
{
	struct jsonrpc_elements elements, ahead;
	size_t count = 0, at = 0;
	struct str *items, item;
	int code = jsonrpc_elements(array, limits, &elements, err);

	if (code == ERR_INVALID && json_mend_surrogates(array, arena, &array))
		code = jsonrpc_elements(array, limits, &elements, err);
	if (code < 0)
		return code;
	for (ahead = elements; count <= max && jsonrpc_element(&ahead, &item);)
		count++;
	if (count > max)
		return err_set(err, ERR_TOO_LARGE, "more than %zu elements in one array", max);
	items = arena_array(arena, struct str, count);
	while (jsonrpc_element(&elements, &item))
		items[at++] = item;
	*ret_items = items;
	*ret_count = count;
	return 0;
}

/* -- ids ------------------------------------------------------------------------------------------------- */

static struct str id_of_cut_value(struct str text, size_t at, size_t end)
{
	struct str raw = str_trim(str_slice(text, at, end - at));
	_cleanup_json_ struct json_doc doc = { 0 };

	/* A number at the cut may have lost digits. */
	if (end >= text.n || json_parse(&doc, raw, NULL, NULL) < 0 ||
	    !jsonrpc_is_id(raw, json_type(json_root(&doc))))
		return (struct str){ 0 };
	return raw;
}

struct str jsonrpc_peek_id(struct str beginning)
{
	struct str text = skip_blanks(beginning);
	size_t at = 1, end, colon;

	if (!begins_with(text, '{'))
		return (struct str){ 0 };
	for (;; at = end + 1) {
		at = text.n - skip_blanks(str_from(text, at)).n;
		if (at >= text.n || text.p[at] != '"')
			return (struct str){ 0 };
		colon = string_end(text, at);
		end = value_end(text, colon);
		if (str_eq(str_slice(text, at, colon - at), STR("\"id\""))) {
			at = text.n - skip_blanks(str_from(text, colon)).n;
			if (at >= text.n || text.p[at] != ':')
				return (struct str){ 0 };
			return id_of_cut_value(text, at + 1, end);
		}
		if (end >= text.n || text.p[end] != ',')
			return (struct str){ 0 };
	}
}

bool jsonrpc_id_equal(struct str a, struct str b)
{
	_cleanup_json_ struct json_doc left = { 0 }, right = { 0 };

	if (str_eq(a, b))
		return true;
	if (str_find_char(a, '\\') == STR_NONE && str_find_char(b, '\\') == STR_NONE)
		return false;
	return json_parse(&left, a, NULL, NULL) == 0 && json_parse(&right, b, NULL, NULL) == 0 &&
	       json_equal(json_root(&left), json_root(&right));
}

/* -- members --------------------------------------------------------------------------------------------- */

int jsonrpc_members(struct str object, struct arena *arena, struct jsonrpc_members *ret_members,
		    struct err *err)
{
	struct json_member members[JSONRPC_MEMBERS_MAX];
	size_t count = 0;
	int code = object.n ? json_skim(object, NULL, arena, members, ARRAY_LEN(members), &count, err) : 0;

	if (code < 0)
		return code;
	*ret_members = (struct jsonrpc_members){ .count = count };
	if (count) {
		ret_members->at = arena_array(arena, struct json_member, count);
		memcpy(ret_members->at, members, count * sizeof(*members));
	}
	return 0;
}

const struct json_member *jsonrpc_member_find(const struct jsonrpc_members *members, struct str key)
{
	return json_member_find(members->at, members->count, key);
}

struct str jsonrpc_member(const struct jsonrpc_members *members, struct str key)
{
	const struct json_member *member = jsonrpc_member_find(members, key);

	return member ? member->raw : (struct str){ 0 };
}

struct str jsonrpc_member_str(const struct jsonrpc_members *members, struct str key, struct arena *arena)
{
	return jsonrpc_decode_str(jsonrpc_member(members, key), arena);
}

struct str jsonrpc_decode_str(struct str raw, struct arena *arena)
{
	_cleanup_json_ struct json_doc doc = { 0 };

	if (raw.n < 2 || raw.p[0] != '"')
		return (struct str){ 0 };
	if (str_find_char(raw, '\\') == STR_NONE)
		return str_slice(raw, 1, raw.n - 2);
	if (json_parse(&doc, raw, NULL, NULL) < 0)
		return (struct str){ 0 };
	return arena_copy(arena, json_str(json_root(&doc)));
}

/* -- writing --------------------------------------------------------------------------------------------- */

static void write_head(struct buf *out, struct str id)
{
	buf_append(out, STR("{\"jsonrpc\":\"2.0\""));
	if (id.n) {
		buf_append(out, STR(",\"id\":"));
		buf_append(out, id);
	}
}

static void write_call(struct buf *out, struct str id, struct str method, struct str params)
{
	write_head(out, id);
	buf_append(out, STR(",\"method\":"));
	json_quote(out, method);
	if (params.n) {
		buf_append(out, STR(",\"params\":"));
		buf_append(out, params);
	}
	buf_append_char(out, '}');
}

void jsonrpc_write_request(struct buf *out, struct str id, struct str method, struct str params)
{
	BUG_ON(!id.n);
	write_call(out, id, method, params);
}

void jsonrpc_write_notification(struct buf *out, struct str method, struct str params)
{
	write_call(out, (struct str){ 0 }, method, params);
}

void jsonrpc_write_result(struct buf *out, struct str id, struct str result)
{
	BUG_ON(!id.n || !result.n);
	/* One allocation of the right size: the result may be megabytes. */
	buf_reserve(out, id.n + result.n + sizeof("{\"jsonrpc\":\"2.0\",\"id\":,\"result\":}"));
	write_head(out, id);
	buf_append(out, STR(",\"result\":"));
	buf_append(out, result);
	buf_append_char(out, '}');
}

void jsonrpc_write_error(struct buf *out, struct str id, int64_t code, struct str message, struct str data)
{
	write_head(out, id);
	buf_printf(out, ",\"error\":{\"code\":%lld,\"message\":", (long long)code);
	json_quote(out, message);
	if (data.n) {
		buf_append(out, STR(",\"data\":"));
		buf_append(out, data);
	}
	buf_append(out, STR("}}"));
}

void jsonrpc_write_member(struct buf *out, bool *first, struct str key, struct str raw)
{
	if (!*first)
		buf_append_char(out, ',');
	*first = false;
	json_quote(out, key);
	buf_append_char(out, ':');
	buf_append(out, raw);
}

void jsonrpc_make_line(struct buf *out, size_t from)
{
	char *p, *end;

	if (buf_failed(out) || from >= out->n)
		return;
	end = out->p + out->n;
	for (p = out->p + from; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		*p = ' ';
	for (p = out->p + from; (p = memchr(p, '\r', (size_t)(end - p))); p++)
		*p = ' ';
}

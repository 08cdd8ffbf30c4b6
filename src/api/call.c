#include "base/base.h"
#include "api/call.h"
#include "api/api.h"
#include "api/long_text.h"
#include "mcp/jsonrpc.h"
#include "text/nearest.h"
#include "text/percent.h"

enum {
	/* Bytes of one answer. What operations write is bounded by what they list; this only keeps a mistake
	 * from taking all memory. */
	ANSWER_MAX = 256 << 20,
	/* Longest wrong value that an error repeats. */
	VALUE_QUOTED = 40,
};

/* -- inputs ---------------------------------------------------------------------------------------------- */

static struct api_value *call_slot(const struct api_call *call, const struct operation_input *input)
{
	return &call->values[input - call->operation->inputs];
}

static const struct api_value *call_value(const struct api_call *call, struct str name)
{
	const struct operation_input *input = operation_input_find(call->operation, name);
	const struct api_value *value;

	BUG_ON(!input);
	value = call_slot(call, input);
	return value->input ? value : NULL;
}

static struct str json_join_strings(struct str raw, struct arena *arena)
{
	_cleanup_buf_ struct buf joined = { 0 };
	struct jsonrpc_elements elements;
	struct str item;

	if (jsonrpc_elements(raw, NULL, &elements, NULL) < 0)
		return str_make(NULL, 0);
	buf_init(&joined, raw.n); /* no string is longer than its source, nor is a comma */
	for (bool first = true; jsonrpc_element(&elements, &item); first = false) {
		_cleanup_arena_ struct arena scratch = { 0 };

		arena_init(&scratch, 0);
		if (!first)
			buf_append_char(&joined, ',');
		buf_append(&joined, jsonrpc_decode_str(item, &scratch));
	}
	return arena_copy(arena, buf_str(&joined));
}

struct str api_input_str(const struct api_call *call, struct str name)
{
	const struct api_value *value = call_value(call, name);

	if (!value)
		return str_make(NULL, 0);
	if (value->text.p)
		return value->text;
	if (str_starts_with(value->raw, STR("[")))
		return json_join_strings(value->raw, call->arena);
	return jsonrpc_decode_str(value->raw, call->arena);
}

static struct str value_source(const struct api_value *value)
{
	return value->text.p ? value->text : value->raw;
}

int64_t api_input_int(const struct api_call *call, struct str name, int64_t otherwise)
{
	const struct api_value *value = call_value(call, name);
	int64_t number;

	return value && str_to_i64(value_source(value), &number) == 0 ? number : otherwise;
}

static bool number_of(struct str text, double *ret_number)
{
	_cleanup_json_ struct json_doc doc = { 0 };

	return json_parse(&doc, text, NULL, NULL) == 0 && json_double(json_root(&doc), ret_number) == 0;
}

double api_input_number(const struct api_call *call, struct str name, double otherwise)
{
	const struct api_value *value = call_value(call, name);
	double number;

	return value && number_of(value_source(value), &number) ? number : otherwise;
}

bool api_input_bool(const struct api_call *call, struct str name, bool otherwise)
{
	const struct api_value *value = call_value(call, name);

	if (!value)
		return otherwise;
	return str_eq(value_source(value), STR("true")) || str_eq(value_source(value), STR("1"));
}

struct str api_input_raw(const struct api_call *call, struct str name)
{
	const struct api_value *value = call_value(call, name);

	return value ? value->raw : str_make(NULL, 0);
}

/* The value itself when that is short, else what it is. */
static struct str raw_in_words(struct str raw)
{
	if (raw.n <= VALUE_QUOTED)
		return raw;
	switch (raw.p[0]) {
	case '"':
		return STR("another string");
	case '{':
		return STR("an object");
	case '[':
		return STR("an array");
	default:
		return STR("another number");
	}
}

static bool integer_fits(const struct operation_input *input, struct str text)
{
	int64_t number;

	return str_to_i64(text, &number) == 0 && (!input->has_minimum || number >= input->minimum);
}

static bool number_fits(const struct operation_input *input, struct str text)
{
	double number;

	return number_of(text, &number) && (!input->has_minimum || number >= input->minimum);
}

static bool is_choice(const struct operation_input *input, struct str text)
{
	struct str rest = input->choices, word;

	while (str_split(&rest, '|', &word))
		if (str_eq(word, text))
			return true;
	return input->choices.n == 0;
}

/* An input that takes several strings takes them in an array, too, beside one string with commas between
 * them. An empty one is as if it were not there. */
static bool is_strings(const struct operation_input *input, struct str raw)
{
	struct jsonrpc_elements elements;
	struct str item;

	if (!input->tool_list || jsonrpc_elements(raw, NULL, &elements, NULL) < 0)
		return false;
	while (jsonrpc_element(&elements, &item))
		if (!str_starts_with(item, STR("\"")))
			return false;
	return true;
}

static bool raw_fits(const struct operation_input *input, struct str raw, struct arena *arena)
{
	switch (input->kind) {
	case INPUT_STRING:
		return raw.p[0] == '"' ? is_choice(input, jsonrpc_decode_str(raw, arena))
				       : is_strings(input, raw);
	case INPUT_INTEGER:
		return integer_fits(input, raw);
	case INPUT_NUMBER:
		return number_fits(input, raw);
	case INPUT_BOOLEAN:
		return raw.p[0] == 't' || raw.p[0] == 'f';
	case INPUT_OBJECT:
		return raw.p[0] == '{';
	}
	return false;
}

static bool text_fits(const struct operation_input *input, struct str text)
{
	switch (input->kind) {
	case INPUT_STRING:
		return is_choice(input, text);
	case INPUT_INTEGER:
		return integer_fits(input, text);
	case INPUT_NUMBER:
		return number_fits(input, text);
	case INPUT_BOOLEAN:
		return str_eq(text, STR("true")) || str_eq(text, STR("false")) || str_eq(text, STR("1")) ||
		       str_eq(text, STR("0"));
	case INPUT_OBJECT:
		break;
	}
	return false;
}

static bool is_integer_too_large(const struct operation_input *input, struct str is)
{
	struct str text = str_starts_with(is, STR("\"")) ? str_slice(is, 1, is.n - 2) : is;
	int64_t number;

	return input->kind == INPUT_INTEGER && str_is_digits(text) && str_to_i64(text, &number) < 0;
}

/* "an integer of at least 1", "one of daemon, client"; the bound that is to be named depends on what `is`. */
static struct str wanted(const struct operation_input *input, struct str is, struct arena *arena)
{
	static const char *const kinds[] = {
		[INPUT_STRING] = "a string",   [INPUT_INTEGER] = "an integer", [INPUT_NUMBER] = "a number",
		[INPUT_BOOLEAN] = "a boolean", [INPUT_OBJECT] = "an object",
	};
	struct str rest = input->choices, word, list = { NULL, 0 };

	while (rest.n && str_split(&rest, '|', &word))
		list = list.n ? arena_concat(arena, list, STR(", "), word) : word;
	if (list.n)
		return arena_concat(arena, STR("one of "), list, STR(""));
	if (input->tool_list)
		return STR("a string, or an array of strings");
	if (is_integer_too_large(input, is))
		return arena_printf(arena, "an integer of at most %lld", (long long)INT64_MAX);
	if (input->has_minimum)
		return arena_printf(arena, "%s of at least %d", kinds[input->kind], input->minimum);
	return str_of(kinds[input->kind]);
}

/* The name that the caller knows it by. */
static struct str name_of(const struct api_call *call, const struct operation_input *input)
{
	return call->mcp && input->tool_name.n ? input->tool_name : input->name;
}

static int refuse_value(const struct api_call *call, const struct operation_input *input, struct str is,
			struct err *err)
{
	return err_set(err, ERR_INVALID, "\"%.*s\" must be %.*s, and is %.*s", STR_ARG(name_of(call, input)),
		       STR_ARG(wanted(input, is, call->arena)), STR_ARG(is));
}

static int call_set(struct api_call *call, const struct operation_input *input, struct str raw,
		    struct str text, struct err *err)
{
	struct api_value *slot = call_slot(call, input);

	if (slot->input)
		return err_set(err, ERR_INVALID, "\"%.*s\" is given twice", STR_ARG(name_of(call, input)));
	*slot = (struct api_value){ input, raw, text };
	return 0;
}

int api_take_text(struct api_call *call, const struct operation_input *input, struct str text,
		  struct err *err)
{
	if (!text_fits(input, text))
		return refuse_value(call, input, arena_concat(call->arena, STR("\""), text, STR("\"")), err);
	return call_set(call, input, str_make(NULL, 0), arena_copy(call->arena, text), err);
}

/* -- names ----------------------------------------------------------------------------------------------- */

/* What whoever asks may give: models are not offered everything, and what is the command line's own comes
 * through no door. */
static bool is_offered(const struct api_call *call, const struct operation_input *input)
{
	return input->place != INPUT_COMMAND_LINE && (!call->mcp || input->tool_name.n);
}

static struct str add_name(struct arena *arena, struct str names, struct str name)
{
	return names.n ? arena_concat(arena, names, STR(", "), name) : name;
}

/* A misspelt name that was passed over would change what happens, in silence. */
static int refuse_name(const struct api_call *call, struct str name, struct err *err)
{
	const struct operation *operation = call->operation;
	struct nearest nearest;
	struct str names;

	nearest_init(&nearest, name);
	for (size_t i = 0; i < operation->input_count; i++)
		if (is_offered(call, &operation->inputs[i]))
			nearest_consider(&nearest, name_of(call, &operation->inputs[i]));
	names = nearest.best;
	for (size_t i = 0; i < operation->input_count; i++)
		if (is_offered(call, &operation->inputs[i]) &&
		    !str_eq(name_of(call, &operation->inputs[i]), nearest.best))
			names = add_name(call->arena, names, name_of(call, &operation->inputs[i]));
	if (!names.n)
		return err_set(err, ERR_INVALID, "%.*s takes no input, and was given \"%.*s\"",
			       STR_ARG(call->mcp ? operation->tool : operation->name), STR_ARG(name));
	return err_set(err, ERR_INVALID, "%.*s has no input \"%.*s\"; there are: %.*s",
		       STR_ARG(call->mcp ? operation->tool : operation->name), STR_ARG(name), STR_ARG(names));
}

static const struct operation_input *find_offered(const struct api_call *call, struct str name,
						  struct err *err)
{
	const struct operation_input *input = operation_input_find(call->operation, name);

	if (input && is_offered(call, input))
		return input;
	(void)refuse_name(call, name, err);
	return NULL;
}

static int take_member(struct api_call *call, const struct json_member *member, struct err *err)
{
	const struct operation_input *input = find_offered(call, member->key, err);

	if (!input)
		return err->code;
	if (member->type == JSON_NULL)
		return 0;
	if (!raw_fits(input, member->raw, call->arena))
		return refuse_value(call, input, raw_in_words(member->raw), err);
	return call_set(call, input, member->raw, str_make(NULL, 0), err);
}

/* Too deep, or too many members: not what 413 stands for, nor is it no object. */
static int refuse_object(int code, struct err *err)
{
	if (code != ERR_TOO_LARGE)
		return err_prefix(err, ERR_INVALID, "the input is not a JSON object");
	err_prefix(err, code, "the input");
	return err->code = ERR_INVALID;
}

/* The body is one input: its members are nobody's here. */
static int take_whole(struct api_call *call, const struct operation_input *whole, struct str object,
		      const struct json_limits *limits, struct err *err)
{
	struct str raw = str_trim(object);
	struct json_member none;
	size_t count;
	int code = json_check_foreign(&raw, limits, call->arena, err);

	if (code == 0 && raw.p[0] != '{')
		code = json_skim(raw, limits, call->arena, &none, 1, &count, err);
	return code < 0 ? refuse_object(code, err) : call_set(call, whole, raw, str_make(NULL, 0), err);
}

int api_take_object(struct api_call *call, struct str object, struct err *err)
{
	const struct json_limits limits = {
		.depth_max = (unsigned)settings_int(call->api->settings, SETTING_JSON_MAX_DEPTH),
	};
	const struct operation_input *whole = operation_input_whole_body(call->operation);
	struct json_member members[JSONRPC_MEMBERS_MAX];
	size_t count;
	int code;

	if (!object.n)
		return 0;
	if (whole)
		return take_whole(call, whole, object, &limits, err);
	code = json_skim_foreign(&object, &limits, call->arena, members, ARRAY_LEN(members), &count, err);
	if (code < 0)
		return refuse_object(code, err);
	for (size_t i = 0; i < count; i++)
		if (take_member(call, &members[i], err) < 0)
			return ERR_INVALID;
	return 0;
}

static int decode_form(struct arena *arena, struct str text, struct str *ret_decoded)
{
	char *out = arena_alloc(arena, text.n + 1);
	size_t n;

	if (percent_decode_into(out, text, PERCENT_PLUS_IS_SPACE, &n, NULL) < 0)
		return ERR_INVALID;
	out[n] = '\0';
	*ret_decoded = str_make(out, n);
	return 0;
}

int api_take_query(struct api_call *call, struct str query, struct err *err)
{
	struct str pair;

	while (query.p && str_split(&query, '&', &pair)) {
		size_t equals = str_find_char(pair, '=');
		struct str name, value;
		const struct operation_input *input;

		if (pair.n == 0)
			continue;
		if (decode_form(call->arena, str_slice(pair, 0, equals), &name) < 0 ||
		    decode_form(call->arena, equals == STR_NONE ? STR("") : str_from(pair, equals + 1),
				&value) < 0)
			return err_set(err, ERR_INVALID, "the query has a malformed escape in \"%.*s\"",
				       STR_ARG(pair));
		input = find_offered(call, name, err);
		if (!input)
			return ERR_INVALID;
		if (input->place == INPUT_PATH)
			return err_set(err, ERR_INVALID,
				       "\"%.*s\" is what the path says, and not for the query",
				       STR_ARG(name));
		/* "?plumbing" switches it on. */
		if (equals == STR_NONE && input->kind == INPUT_BOOLEAN)
			value = STR("true");
		if (api_take_text(call, input, value, err) < 0)
			return ERR_INVALID;
	}
	return 0;
}

int api_check_required(const struct api_call *call, struct err *err)
{
	for (size_t i = 0; i < call->operation->input_count; i++) {
		const struct operation_input *input = &call->operation->inputs[i];

		if (input->required && !call->values[i].input)
			return err_set(err, ERR_INVALID, "\"%.*s\" is missing: %.*s",
				       STR_ARG(name_of(call, input)), STR_ARG(input->description));
	}
	return 0;
}

/* -- answers --------------------------------------------------------------------------------------------- */

void api_writer_init(struct json_writer *w, struct buf *out)
{
	buf_init(out, ANSWER_MAX);
	json_writer_init(w, out, false);
}

unsigned api_status_of(int code)
{
	switch (code) {
	case ERR_INVALID:
		return 400;
	case ERR_DENIED:
		return 403;
	case ERR_NOT_FOUND:
		return 404;
	case ERR_EXISTS:
		return 409;
	case ERR_TOO_LARGE:
		return 413;
	case ERR_UNSUPPORTED:
		return 501;
	case ERR_BUSY:
	case ERR_UNAVAILABLE:
		return 503;
	case ERR_TIMEOUT:
		return 504;
	case ERR_FULL:
		return 507;
	case ERR_UPSTREAM:
	case ERR_CLOSED:
	case ERR_PROTOCOL:
		return 502;
	default:
		return 500;
	}
}

void api_call_over(struct api_call *call)
{
	call->api->active--;
	call->cancelled = NULL;
}

/* What a tool says, while it is stored because it is too long to be said. */
struct tool_text {
	struct long_text text;
	struct api_call *call;
	struct str body; /* storage */
};

static void tool_text_kept(struct long_text *text)
{
	struct tool_text *state = container_of(text, struct tool_text, text);
	struct api_call *call = state->call;
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	api_writer_init(&w, &out);
	long_text_write_result(text, false, &w);
	free((char *)state->body.p);
	api_answer_model(call, &out);
}

static void tool_text_cancelled(struct api_call *call)
{
	struct tool_text *state = call->state;

	long_text_cancel(&state->text);
	free((char *)state->body.p);
}

static void keep_tool_text(struct api_call *call, struct str body, bool json)
{
	struct tool_text *state = arena_new(call->arena, struct tool_text);
	const struct artifact_spec spec = {
		.name = arena_concat(call->arena, call->operation->name, json ? STR(".json") : STR(".txt"),
				     STR("")),
		.mime = json ? STR("application/json") : STR("text/plain"),
		.session = call->caller.session,
	};

	state->call = call;
	state->body = body;
	call->state = state;
	call->cancelled = tool_text_cancelled;
	long_text_start(&state->text, call, body, &spec, tool_text_kept);
}

/* A tool's result for a model: the JSON as text, and as structured content when it is an object. */
static void answer_tool(struct api_call *call, struct str body, bool json)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	if (long_text_is(call, body)) {
		keep_tool_text(call, body, json);
		return;
	}
	api_writer_init(&w, &out);
	json_write_object_begin(&w);
	api_write_text_content(&w, body);
	if (json && str_starts_with(body, STR("{")))
		json_member_raw(&w, STR("structuredContent"), body);
	json_write_object_end(&w);
	free((char *)body.p);
	api_answer_model(call, &out);
}

static void answer_body(struct api_call *call, unsigned status, struct str type, struct str body)
{
	const struct http_answer answer = { .status = status, .content_type = type };

	if (call->mcp) {
		answer_tool(call, body, !str_starts_with(type, STR("text/")));
		return;
	}
	api_call_over(call);
	http_respond_take(call->http, &answer, body);
}

static void answer_too_long(struct err *err)
{
	err_set(err, ERR_TOO_LARGE,
		"the answer is longer than %d MiB: ask for less, such as the tools of one server at a time",
		ANSWER_MAX >> 20);
}

void api_write_text_block(struct json_writer *w, struct str text)
{
	json_write_object_begin(w);
	json_member_str(w, STR("type"), STR("text"));
	json_member_str(w, STR("text"), text);
	json_write_object_end(w);
}

void api_write_text_content(struct json_writer *w, struct str text)
{
	json_write_key(w, STR("content"));
	json_write_array_begin(w);
	api_write_text_block(w, text);
	json_write_array_end(w);
}

void api_answer_model(struct api_call *call, const struct buf *out)
{
	struct err err;

	api_call_over(call);
	if (!buf_failed(out)) {
		mcp_answer_result(call->mcp, buf_str(out));
		return;
	}
	answer_too_long(&err);
	mcp_answer_tool_error(call->mcp, str_of(err.message));
}

void api_answer_json(struct api_call *call, unsigned status, struct buf *out)
{
	struct err err;

	if (!buf_failed(out)) {
		answer_body(call, status, STR("application/json"), buf_take(out));
		return;
	}
	buf_release(out);
	answer_too_long(&err);
	/* Not 413, which is about the request. */
	api_answer_status(call, 500, &err);
}

void api_answer_written(struct api_call *call, struct buf *out)
{
	api_answer_json(call, 200, out);
}

void api_answer_text(struct api_call *call, struct str type, struct str body)
{
	answer_body(call, 200, type, body);
}

void api_respond_error(struct http_request *request, unsigned status, struct str message,
		       const struct http_field *fields, size_t count)
{
	const struct http_answer answer = { .status = status,
					    .content_type = STR("application/json"),
					    .fields = fields,
					    .field_count = count };
	struct json_writer w;
	struct buf out;

	api_writer_init(&w, &out);
	json_write_object_begin(&w);
	json_member_str(&w, STR("error"), message);
	json_write_object_end(&w);
	http_respond_take(request, &answer, buf_take(&out));
}

void api_answer_status(struct api_call *call, unsigned status, const struct err *err)
{
	api_call_over(call);
	if (call->mcp)
		mcp_answer_tool_error(call->mcp, str_of(err->message));
	else
		api_respond_error(call->http, status, str_of(err->message), NULL, 0);
}

void api_answer_error(struct api_call *call, const struct err *err)
{
	api_answer_status(call, api_status_of(err->code), err);
}

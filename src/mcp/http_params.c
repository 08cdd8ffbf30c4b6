#include "base/base.h"
#include "mcp/http_params.h"

#include "io/http_syntax.h"
#include "json/json.h"
#include "mcp/http_headers.h"
#include "mcp/revision.h"

enum {
	PARAMS_MAX = 64, /* marked properties of one tool: a request could not carry many more headers */
};

/* One property that is marked. */
struct param {
	struct str header; /* the name after the prefix */
	const struct json *value;
};

struct params {
	const struct json *arguments;
	struct param at[PARAMS_MAX];
	size_t count;
	bool invalid; /* an annotation breaks the rules */
};

/* The way from the root to a property. */
struct step {
	struct str key;
	const struct step *parent;
};

static const struct json *value_at(const struct json *arguments, const struct step *step)
{
	return step ? json_get(value_at(arguments, step->parent), step->key) : arguments;
}

static bool may_be_marked(const struct json *property)
{
	struct str type = json_str(json_get(property, STR("type")));

	return str_eq(type, STR("string")) || str_eq(type, STR("integer")) || str_eq(type, STR("boolean"));
}

static bool is_known(const struct params *params, struct str header)
{
	for (size_t i = 0; i < params->count; i++)
		if (str_eq_ignoring_case(params->at[i].header, header))
			return true;
	return false;
}

static void params_mark(struct params *params, const struct json *annotation, const struct json *property,
			const struct step *step)
{
	struct str header = json_str(annotation);

	if (params->count == PARAMS_MAX || !http_is_token(header) || !may_be_marked(property) ||
	    is_known(params, header)) {
		params->invalid = true;
		return;
	}
	params->at[params->count++] =
		(struct param){ .header = header, .value = value_at(params->arguments, step) };
}

/* As deep as a document may be at most. */
static void params_collect(struct params *params, const struct json *schema, const struct step *parent)
{
	const struct json *key, *property;

	json_for_each_member(key, property, json_get(schema, STR("properties"))) {
		const struct json *annotation = json_get(property, STR("x-mcp-header"));
		const struct step step = { json_str(key), parent };

		if (annotation)
			params_mark(params, annotation, property, &step);
		if (params->invalid)
			return;
		params_collect(params, property, &step);
	}
}

/* 42.0 is 42. */
static bool is_same_number(struct str header, const struct json *value)
{
	_cleanup_json_ struct json_doc doc = { 0 };

	return json_parse(&doc, header, NULL, NULL) == 0 && json_is(json_root(&doc), JSON_NUMBER) &&
	       json_equal(json_root(&doc), value);
}

static bool is_same(struct str header, const struct json *value)
{
	switch (json_type(value)) {
	case JSON_STRING:
		return str_eq(header, json_str(value));
	case JSON_NUMBER:
		return is_same_number(header, value);
	case JSON_TRUE:
		return str_eq(header, STR("true"));
	case JSON_FALSE:
		return str_eq(header, STR("false"));
	default:
		return false;
	}
}

static int refuse(struct err *err, const struct param *param, const char *what)
{
	return err_set(err, ERR_INVALID, "the header " MCP_HEADER_PARAM_PREFIX "%.*s %s",
		       STR_ARG(param->header), what);
}

static int param_check(const struct param *param, const struct http_request *request, struct arena *arena,
		       struct err *err)
{
	struct str name = arena_concat(arena, STR(MCP_HEADER_PARAM_PREFIX), param->header, (struct str){ 0 });
	struct str field = http_field(request, name), value;
	bool given = json_type(param->value) != JSON_NULL;

	if (!field.p)
		return given ? refuse(err, param, "is missing: the tool's input schema asks for it") : 0;
	if (!given)
		return refuse(err, param, "stands for an argument that the body does not have");
	if (!header_value_is_plain(field))
		return refuse(err, param, "has characters that must be sent in Base64");
	if (!header_value_decode(field, arena, &value))
		return refuse(err, param, "is malformed Base64");
	return is_same(value, param->value) ? 0 : refuse(err, param, "does not say what the body says");
}

int64_t params_check(const struct http_request *request, struct str tool, struct str arguments,
		     struct arena *arena, struct err *err)
{
	_cleanup_json_ struct json_doc tool_doc = { 0 }, arguments_doc = { 0 };
	struct params params = { 0 };

	/* What cannot be read marks nothing, and arguments are checked by who serves the call. */
	if (!tool.n || json_parse(&tool_doc, tool, NULL, NULL) < 0)
		return 0;
	if (arguments.n && json_parse(&arguments_doc, arguments, NULL, NULL) < 0)
		return 0;
	params.arguments = json_root(&arguments_doc);
	params_collect(&params, json_get(json_root(&tool_doc), STR("inputSchema")), NULL);
	for (size_t i = 0; i < params.count && !params.invalid; i++)
		if (param_check(&params.at[i], request, arena, err) < 0)
			return MCP_HEADER_MISMATCH;
	return 0;
}

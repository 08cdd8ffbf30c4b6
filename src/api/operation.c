#include "base/base.h"
#include "api/operation.h"

/* -- finding --------------------------------------------------------------------------------------------- */

static bool route_matches(struct str route, struct str path, struct operation_parameters *ret_parameters)
{
	*ret_parameters = (struct operation_parameters){ 0 };
	for (;;) {
		size_t brace = str_find_char(route, '{'), end;
		struct str literal = str_slice(route, 0, brace);

		if (brace == STR_NONE)
			return str_eq(route, path);
		if (!str_starts_with(path, literal))
			return false;
		path = str_from(path, literal.n);
		route = str_from(route, str_find_char(route, '}') + 1);
		end = size_min(str_find_char(path, '/'), path.n);
		if (!route.n && ret_parameters->count > 0)
			end = path.n;
		if (end == 0)
			return false;
		BUG_ON(ret_parameters->count == OPERATION_PARAMETERS_MAX);
		ret_parameters->at[ret_parameters->count++] = str_slice(path, 0, end);
		path = str_from(path, end);
	}
}

const struct operation *operation_route(struct str method, struct str path,
					struct operation_parameters *ret_parameters)
{
	struct str served = str_eq(method, STR("HEAD")) ? STR("GET") : method;

	for (size_t i = 0; i < OPERATION_COUNT; i++)
		if (str_eq(operations[i].method, served) &&
		    route_matches(operations[i].route, path, ret_parameters))
			return &operations[i];
	*ret_parameters = (struct operation_parameters){ 0 };
	return NULL;
}

struct str operation_allow(struct str path, char storage[OPERATION_ALLOW_MAX])
{
	struct operation_parameters parameters;
	size_t n = 0;

	for (size_t i = 0; i < OPERATION_COUNT; i++) {
		struct str method = operations[i].method;

		if (!route_matches(operations[i].route, path, &parameters))
			continue;
		n += (size_t)snprintf(storage + n, OPERATION_ALLOW_MAX - n, "%s%.*s%s", n ? ", " : "",
				      STR_ARG(method), str_eq(method, STR("GET")) ? ", HEAD" : "");
		BUG_ON(n >= OPERATION_ALLOW_MAX);
	}
	return str_make(storage, n);
}

const struct operation *operation_tool(struct str tool)
{
	for (size_t i = 0; i < OPERATION_COUNT; i++)
		if (operations[i].tool.n && str_eq(operations[i].tool, tool))
			return &operations[i];
	return NULL;
}

const struct operation_input *operation_input_find(const struct operation *operation, struct str name)
{
	for (size_t i = 0; i < operation->input_count; i++) {
		const struct operation_input *input = &operation->inputs[i];

		if (str_eq(input->name, name))
			return input;
		for (size_t a = 0; a < ARRAY_LEN(input->aliases); a++)
			if (input->aliases[a].n && str_eq(input->aliases[a], name))
				return input;
	}
	return NULL;
}

const struct operation_input *operation_input_whole_body(const struct operation *operation)
{
	for (size_t i = 0; i < operation->input_count; i++)
		if (operation->inputs[i].place == INPUT_WHOLE_BODY)
			return &operation->inputs[i];
	return NULL;
}

/* -- describing ------------------------------------------------------------------------------------------ */

enum { FOR_TOOL = -1 }; /* in place of an enum input_place */

static struct str kind_name(enum input_kind kind)
{
	static const struct str names[] = {
		[INPUT_STRING] = STR_INIT("string"), [INPUT_INTEGER] = STR_INIT("integer"),
		[INPUT_NUMBER] = STR_INIT("number"), [INPUT_BOOLEAN] = STR_INIT("boolean"),
		[INPUT_OBJECT] = STR_INIT("object"),
	};

	return names[kind];
}

static void write_choices(struct json_writer *w, struct str choices)
{
	struct str word;

	json_write_key(w, STR("enum"));
	json_write_array_begin(w);
	while (str_split(&choices, '|', &word))
		json_write_str(w, word);
	json_write_array_end(w);
}

static void write_property(const struct operation_input *input, bool list, struct json_writer *w)
{
	json_write_object_begin(w);
	json_member_str(w, STR("type"), list ? STR("array") : kind_name(input->kind));
	if (list)
		json_member_raw(w, STR("items"), STR("{\"type\":\"string\"}"));
	json_member_str(w, STR("description"), input->description);
	if (input->choices.n)
		write_choices(w, input->choices);
	if (input->has_minimum)
		json_member_i64(w, STR("minimum"), input->minimum);
	json_write_object_end(w);
}

/* What an input is called in the schema of a tool, or of what stands in a place; empty: it is not there. */
static struct str name_for(const struct operation_input *input, int place)
{
	if (place == FOR_TOOL)
		return input->place == INPUT_COMMAND_LINE ? str_make(NULL, 0) : input->tool_name;
	return (int)input->place == place ? input->name : str_make(NULL, 0);
}

static void write_required(const struct operation *operation, int place, struct json_writer *w)
{
	bool any = false;

	for (size_t i = 0; i < operation->input_count; i++) {
		const struct operation_input *input = &operation->inputs[i];
		struct str name = name_for(input, place);

		if (!(place == FOR_TOOL ? input->tool_required : input->required) || !name.n)
			continue;
		if (!any) {
			json_write_key(w, STR("required"));
			json_write_array_begin(w);
		}
		any = true;
		json_write_str(w, name);
	}
	if (any)
		json_write_array_end(w);
}

/* The schema of those inputs that stand in `place`, or of all that a tool lists. */
static void write_schema(const struct operation *operation, int place, struct json_writer *w)
{
	json_write_object_begin(w);
	json_member_str(w, STR("type"), STR("object"));
	json_write_key(w, STR("properties"));
	json_write_object_begin(w);
	for (size_t i = 0; i < operation->input_count; i++) {
		const struct operation_input *input = &operation->inputs[i];
		struct str name = name_for(input, place);

		if (!name.n)
			continue;
		json_write_key(w, name);
		write_property(input, place == FOR_TOOL && input->tool_list, w);
	}
	json_write_object_end(w);
	write_required(operation, place, w);
	json_write_object_end(w);
}

void operation_write_input_schema(const struct operation *operation, struct json_writer *w)
{
	write_schema(operation, FOR_TOOL, w);
}

void operation_write_tool(const struct operation *operation, struct json_writer *w)
{
	json_write_object_begin(w);
	json_member_str(w, STR("name"), operation->tool);
	json_member_str(w, STR("description"), operation->summary);
	json_write_key(w, STR("inputSchema"));
	operation_write_input_schema(operation, w);
	json_write_key(w, STR("annotations"));
	json_write_object_begin(w);
	json_member_bool(w, STR("readOnlyHint"), !(operation->flags & OPERATION_MUTATES));
	json_member_bool(w, STR("destructiveHint"), operation->flags & OPERATION_DESTROYS);
	json_member_bool(w, STR("idempotentHint"), operation->flags & OPERATION_REPEATS);
	json_member_bool(w, STR("openWorldHint"), operation->flags & OPERATION_OPEN);
	json_write_object_end(w);
	json_write_object_end(w);
}

/* -- OpenAPI 3.1 ----------------------------------------------------------------------------------------- */

static void write_parameter(const struct operation_input *input, struct json_writer *w)
{
	json_write_object_begin(w);
	json_member_str(w, STR("name"), input->name);
	json_member_str(w, STR("in"), input->place == INPUT_PATH ? STR("path") : STR("query"));
	json_member_bool(w, STR("required"), input->required);
	json_write_key(w, STR("schema"));
	write_property(input, false, w);
	json_write_object_end(w);
}

static void write_request_body(const struct operation *operation, struct json_writer *w)
{
	const struct operation_input *whole = operation_input_whole_body(operation);
	bool has_body = whole != NULL;

	for (size_t i = 0; i < operation->input_count; i++)
		has_body |= operation->inputs[i].place == INPUT_BODY;
	if (!has_body && !((operation->flags & OPERATION_BODY) && str_eq(operation->method, STR("POST"))))
		return;
	json_write_key(w, STR("requestBody"));
	json_write_object_begin(w);
	json_write_key(w, STR("content"));
	json_write_object_begin(w);
	json_write_key(w, has_body ? STR("application/json") : STR("application/octet-stream"));
	json_write_object_begin(w);
	if (has_body)
		json_write_key(w, STR("schema"));
	if (whole)
		write_property(whole, false, w);
	else if (has_body)
		write_schema(operation, INPUT_BODY, w);
	json_write_object_end(w);
	json_write_object_end(w);
	json_write_object_end(w);
}

static void write_answers(const struct operation *operation, struct json_writer *w)
{
	bool bytes = (operation->flags & OPERATION_BODY) && str_eq(operation->method, STR("GET"));

	json_write_key(w, STR("responses"));
	json_write_object_begin(w);
	json_write_key(w, operation->id == OPERATION_ARTIFACT_PUT ? STR("201") : STR("200"));
	json_write_object_begin(w);
	json_member_str(w, STR("description"), STR("done"));
	json_write_key(w, STR("content"));
	json_write_object_begin(w);
	json_write_key(w, bytes				      ? STR("application/octet-stream")
			  : operation->id == OPERATION_CLIENT ? STR("application/typescript")
			  : operation->flags & OPERATION_TEXT ? STR("text/plain")
							      : STR("application/json"));
	json_write_object_begin(w);
	json_write_key(w, STR("schema"));
	json_write_raw(w, operation->output_schema);
	json_write_object_end(w);
	json_write_object_end(w);
	json_write_object_end(w);
	json_write_key(w, STR("default"));
	json_write_raw(w, STR("{\"description\":\"{\\\"error\\\": what was wrong, and what to do next}\"}"));
	json_write_object_end(w);
}

static void write_openapi_operation(const struct operation *operation, struct json_writer *w)
{
	char method[8];

	snprintf(method, sizeof(method), "%.*s", STR_ARG(operation->method));
	for (char *c = method; *c; c++)
		*c = (char)(*c | 0x20);
	json_write_key(w, str_of(method));
	json_write_object_begin(w);
	json_member_str(w, STR("operationId"), operation->name);
	json_member_str(w, STR("summary"), operation->summary);
	json_write_key(w, STR("parameters"));
	json_write_array_begin(w);
	for (size_t i = 0; i < operation->input_count; i++)
		if (operation->inputs[i].place == INPUT_PATH || operation->inputs[i].place == INPUT_QUERY)
			write_parameter(&operation->inputs[i], w);
	json_write_array_end(w);
	write_request_body(operation, w);
	write_answers(operation, w);
	json_write_object_end(w);
}

static bool route_seen_before(size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (str_eq(operations[i].route, operations[at].route))
			return true;
	return false;
}

void operation_write_openapi(struct json_writer *w, struct str version)
{
	json_write_object_begin(w);
	json_member_str(w, STR("openapi"), STR("3.1.0"));
	json_write_key(w, STR("info"));
	json_write_object_begin(w);
	json_member_str(w, STR("title"), STR("mcpx"));
	json_member_str(w, STR("version"), version);
	json_write_object_end(w);
	json_write_key(w, STR("paths"));
	json_write_object_begin(w);
	for (size_t i = 0; i < OPERATION_COUNT; i++) {
		if (route_seen_before(i))
			continue;
		json_write_key(w, operations[i].route);
		json_write_object_begin(w);
		for (size_t k = i; k < OPERATION_COUNT; k++)
			if (str_eq(operations[k].route, operations[i].route))
				write_openapi_operation(&operations[k], w);
		json_write_object_end(w);
	}
	json_write_object_end(w);
	json_write_object_end(w);
}

#include "base/base.h"
#include "mcp/http_headers.h"

#include "text/base64.h"

/* "q=0", "q=0.0", "q=0.000": not acceptable (RFC 9110, section 12.4.2). */
static bool has_weight_zero(struct str parameters)
{
	struct str parameter;

	while (str_split(&parameters, ';', &parameter)) {
		parameter = str_trim(parameter);
		if (parameter.n < 3 || !str_eq_ignoring_case(str_slice(parameter, 0, 2), STR("q=")))
			continue;
		for (size_t i = 2; i < parameter.n; i++)
			if (parameter.p[i] != '0' && parameter.p[i] != '.')
				return false;
		return true;
	}
	return false;
}

static bool range_admits(struct str range, struct str type)
{
	size_t slash = str_find_char(type, '/');

	if (str_eq(range, STR("*/*")) || str_eq_ignoring_case(range, type))
		return true;
	return str_ends_with(range, STR("/*")) && range.n == slash + 2 &&
	       str_eq_ignoring_case(str_slice(range, 0, slash), str_slice(type, 0, slash));
}

bool accept_admits(struct str accept, struct str type)
{
	struct str range, name;

	if (!accept.p)
		return true;
	while (str_split(&accept, ',', &range)) {
		struct str parameters = range;

		if (!str_split(&parameters, ';', &name))
			continue;
		if (range_admits(str_trim(name), type) && !has_weight_zero(parameters))
			return true;
	}
	return false;
}

bool content_type_is_json(struct str content_type)
{
	struct str name;

	return str_split(&content_type, ';', &name) &&
	       str_eq_ignoring_case(str_trim(name), STR("application/json"));
}

#define SENTINEL_BEGIN "=?base64?"
#define SENTINEL_END "?="

bool header_value_is_plain(struct str value)
{
	for (size_t i = 0; i < value.n; i++)
		if ((value.p[i] < ' ' && value.p[i] != '\t') || value.p[i] > '~')
			return false;
	return true;
}

bool header_value_decode(struct str value, struct arena *arena, struct str *ret_value)
{
	struct str encoded;
	char *bytes;
	size_t n;

	*ret_value = value;
	if (value.n < sizeof(SENTINEL_BEGIN SENTINEL_END) - 1 ||
	    !str_starts_with(value, STR(SENTINEL_BEGIN)) || !str_ends_with(value, STR(SENTINEL_END)))
		return true;
	encoded = str_slice(value, sizeof(SENTINEL_BEGIN) - 1,
			    value.n - (sizeof(SENTINEL_BEGIN SENTINEL_END) - 1));
	bytes = arena_alloc(arena, base64_decoded_bound(encoded.n) + 1);
	if (base64_decode_into(bytes, encoded, &n, NULL) < 0)
		return false;
	*ret_value = str_make(bytes, n);
	return true;
}

static int64_t mismatch(struct err *err, const char *header, struct str value, struct str body)
{
	if (!value.p)
		err_set(err, ERR_INVALID, "the header %s is missing", header);
	else
		err_set(err, ERR_INVALID, "the header %s is \"%.*s\", but the body says \"%.*s\"", header,
			STR_ARG(value), STR_ARG(body));
	return MCP_HEADER_MISMATCH;
}

static int64_t check_name(const struct http_request *request, const struct mcp_incoming *in,
			  struct arena *arena, struct err *err)
{
	struct str parameter = mcp_method_row(in->method)->routing_name, body, value;
	struct str field = http_field(request, STR(MCP_HEADER_NAME));

	if (!parameter.n)
		return 0;
	body = jsonrpc_member_str(&in->params, parameter, arena);
	/* A request without the parameter is wrong for another reason, which its method will name. */
	if (!body.p && !field.p)
		return 0;
	if (!header_value_is_plain(field)) {
		err_set(err, ERR_INVALID,
			"the header " MCP_HEADER_NAME " has characters that must be sent in Base64");
		return MCP_HEADER_MISMATCH;
	}
	if (!header_value_decode(field, arena, &value)) {
		err_set(err, ERR_INVALID, "the header " MCP_HEADER_NAME " is malformed Base64");
		return MCP_HEADER_MISMATCH;
	}
	return field.p && body.p && str_eq(value, body) ? 0 : mismatch(err, MCP_HEADER_NAME, field, body);
}

int64_t headers_check(const struct http_request *request, const struct mcp_incoming *in, struct str method,
		      struct arena *arena, struct err *err)
{
	struct str version = http_field(request, STR(MCP_HEADER_PROTOCOL_VERSION));
	struct str header_method = http_field(request, STR(MCP_HEADER_METHOD));

	if (!version.p || !str_eq(version, in->version))
		return mismatch(err, MCP_HEADER_PROTOCOL_VERSION, version, in->version);
	if (!header_method.p || !str_eq(header_method, method))
		return mismatch(err, MCP_HEADER_METHOD, header_method, method);
	return check_name(request, in, arena, err);
}

#include "base/base.h"
#include "io/http_server.h"

#include "io/http_connection.h"
#include "io/http_target.h"

struct str http_field(const struct http_request *request, struct str name)
{
	struct str value = { NULL, 0 };

	for (size_t i = 0; i < request->field_count; i++) {
		const struct http_field *field = &request->fields[i];

		if (!str_eq_ignoring_case(field->name, name))
			continue;
		/* The arena is the one part of a request that questions may change. */
		value = value.p ? arena_concat(&http_connection_of(request)->request.arena, value, STR(", "),
					       field->value)
				: field->value;
	}
	return value;
}

struct str http_query(struct http_request *request, struct str name)
{
	return http_query_get(request->query, name, &request->arena);
}

bool http_wants_upgrade(const struct http_request *request, struct str protocol)
{
	return http_connection_of(request)->minor == 1 && str_eq(request->method, STR("GET")) &&
	       !request->has_body && http_list_has(http_field(request, STR("connection")), STR("upgrade")) &&
	       http_list_has(http_field(request, STR("upgrade")), protocol);
}

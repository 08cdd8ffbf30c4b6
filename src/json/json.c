#include "base/base.h"
#include "json/json.h"

/* A container is followed by all within it; everything else is one node. */
static uint32_t span(const struct json *v)
{
	return v->tag >= JSON_ARRAY ? v->size : 1;
}

enum json_type json_type(const struct json *v)
{
	return v ? (enum json_type)v->tag : JSON_NULL;
}

bool json_is(const struct json *v, enum json_type type)
{
	return v && v->tag == type;
}

bool json_is_bool(const struct json *v)
{
	return json_is(v, JSON_TRUE) || json_is(v, JSON_FALSE);
}

struct str json_str(const struct json *v)
{
	return json_str_or(v, str_make(NULL, 0));
}

struct str json_str_or(const struct json *v, struct str otherwise)
{
	return json_is(v, JSON_STRING) ? str_make(v->u.text, v->size) : otherwise;
}

bool json_bool_or(const struct json *v, bool otherwise)
{
	return json_is_bool(v) ? v->tag == JSON_TRUE : otherwise;
}

struct str json_number_text(const struct json *v)
{
	return json_is(v, JSON_NUMBER) ? str_make(v->u.text, v->size) : str_make(NULL, 0);
}

size_t json_count(const struct json *v)
{
	return v && v->tag >= JSON_ARRAY ? (size_t)v->u.count : 0;
}

const struct json *json_get(const struct json *v, struct str key)
{
	const struct json *name, *value, *found = NULL;

	json_for_each_member(name, value, v)
		if (name->size == key.n && (key.n == 0 || memcmp(name->u.text, key.p, key.n) == 0))
			found = value;
	return found;
}

const struct json *json_at(const struct json *v, size_t at)
{
	const struct json *item;

	json_for_each(item, v)
		if (at-- == 0)
			return item;
	return NULL;
}

const struct json *json_first(const struct json *container)
{
	return json_count(container) > 0 ? container + 1 : NULL;
}

const struct json *json_after(const struct json *v)
{
	return v + span(v);
}

const struct json *json_begin(const struct json *v, enum json_type type, const struct json **ret_first)
{
	if (!json_is(v, type))
		return *ret_first = NULL;
	*ret_first = v + 1;
	return v + v->size;
}

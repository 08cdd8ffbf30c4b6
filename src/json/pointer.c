#include "base/base.h"
#include "json/json.h"

/* Takes one character off the front of a reference token: ~0 is '~', ~1 is '/' (RFC 6901, section 4). -1 when
 * it is malformed. */
static int next_char(struct str *token)
{
	char c = token->p[0];

	*token = str_from(*token, 1);
	if (c != '~')
		return (unsigned char)c;
	if (token->n == 0 || (token->p[0] != '0' && token->p[0] != '1'))
		return -1;
	c = token->p[0] == '0' ? '~' : '/';
	*token = str_from(*token, 1);
	return c;
}

static bool token_is_valid(struct str token)
{
	while (token.n > 0)
		if (next_char(&token) < 0)
			return false;
	return true;
}

static bool token_names(struct str token, struct str key)
{
	for (size_t i = 0; i < key.n; i++)
		if (token.n == 0 || next_char(&token) != (unsigned char)key.p[i])
			return false;
	return token.n == 0;
}

static const struct json *step_into_object(const struct json *object, struct str token)
{
	const struct json *key, *value, *found = NULL;

	json_for_each_member(key, value, object)
		if (token_names(token, json_str(key)))
			found = value;
	return found;
}

/* An index has no sign and no leading zeros; "-", the element after the last, never exists. */
static const struct json *step_into_array(const struct json *array, struct str token)
{
	uint64_t at;

	if ((token.n > 1 && token.p[0] == '0') || str_to_u64(token, &at) < 0)
		return NULL;
	return json_at(array, at);
}

const struct json *json_pointer(const struct json *v, struct str pointer)
{
	struct str token;

	if (pointer.n == 0)
		return v;
	if (!str_split(&pointer, '/', &token) || token.n > 0)
		return NULL;
	while (str_split(&pointer, '/', &token)) {
		if (!token_is_valid(token))
			return NULL;
		v = json_is(v, JSON_ARRAY) ? step_into_array(v, token) : step_into_object(v, token);
	}
	return v;
}

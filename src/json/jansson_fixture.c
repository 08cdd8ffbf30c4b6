#include "base/base.h"
#include "json/jansson_fixture.h"

#include <jansson.h>

enum jansson_opinion jansson_judge(struct str text, char **ret_dumped)
{
	json_error_t error;
	json_t *value = json_loadb(text.p, text.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	enum json_error_code code;

	*ret_dumped = NULL;
	if (value) {
		*ret_dumped = json_dumps(value, JSON_ENCODE_ANY);
		json_decref(value);
		/* It takes a NUL behind the text for its end. */
		return str_find_char(text, '\0') == STR_NONE ? JANSSON_ACCEPTS : JANSSON_CANNOT_SAY;
	}
	code = json_error_code(&error);
	if (code == json_error_numeric_overflow || code == json_error_null_byte_in_key)
		return JANSSON_CANNOT_SAY;
	return JANSSON_REFUSES;
}

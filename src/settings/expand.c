#include "base/base.h"
#include "settings/expand.h"

#include "base/buf.h"
#include "base/quote.h"
#include "text/identifier.h"

/* The value that `inner`, the text between the braces, stands for. */
static int variable_value(const struct expander *expander, struct str inner, struct str *ret_value,
			  struct err *err)
{
	size_t at = str_find(inner, STR(":-"));
	struct str name = at == STR_NONE ? inner : str_slice(inner, 0, at);
	struct str value;

	if (!identifier_well_formed(name))
		return err_set(err, ERR_INVALID,
			       "${%.*s} does not name a variable (write $${ where ${ stands for itself)",
			       STR_ARG(str_slice(inner, 0, QUOTE_SHOWN_MAX)));
	value = environment_get(expander->environment, name);
	if (at != STR_NONE && value.n == 0)
		value = str_from(inner, at + 2);
	else if (!value.p)
		return err_set(
			err, ERR_INVALID,
			"the variable %.*s is not set (set it, and `mcpx stop` a daemon that was started without it; "
			"or give a default: ${%.*s:-text})",
			STR_ARG(name), STR_ARG(name));
	*ret_value = value;
	return 0;
}

/* Takes one "${...}" off *rest, which begins with it. */
static int expand_one(const struct expander *expander, struct str *rest, struct buf *out, struct err *err)
{
	size_t end = str_find_char(*rest, '}');
	struct str value;
	int r;

	if (end == STR_NONE)
		return err_set(err, ERR_INVALID,
			       "${ is not closed by } (write $${ where ${ stands for itself)");
	r = variable_value(expander, str_slice(*rest, 2, end - 2), &value, err);
	if (r < 0)
		return r;
	*rest = str_from(*rest, end + 1);
	buf_append(out, value);
	return 0;
}

static int expand_into(const struct expander *expander, struct str text, struct buf *out, struct err *err)
{
	size_t dollar;

	while ((dollar = str_find(text, STR("${"))) != STR_NONE) {
		bool escaped = dollar > 0 && text.p[dollar - 1] == '$';
		int r;

		buf_append(out, str_slice(text, 0, dollar - escaped));
		text = str_from(text, dollar);
		if (escaped) {
			buf_append(out, STR("${"));
			text = str_from(text, 2);
			continue;
		}
		r = expand_one(expander, &text, out, err);
		if (r < 0)
			return r;
	}
	buf_append(out, text);
	return 0;
}

int expand(struct expander *expander, struct str text, struct str *ret_text, struct err *err)
{
	_cleanup_buf_ struct buf out = { 0 };
	int r;

	buf_init(&out, expander->budget);
	if (text.n > 0 && memchr(text.p, '\0', text.n))
		return err_set(err, ERR_INVALID, "a string here cannot hold a NUL character");
	r = expand_into(expander, text, &out, err);
	if (r < 0)
		return r;
	if (buf_failed(&out))
		return err_set(err, ERR_TOO_LARGE,
			       "the variables in the configuration come to more than %d bytes",
			       EXPAND_BUDGET);
	expander->budget -= out.n;
	*ret_text = arena_copy(expander->arena, buf_str(&out));
	return 0;
}

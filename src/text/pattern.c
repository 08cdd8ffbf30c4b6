#include "base/base.h"
#include "text/pattern.h"
#include "base/quote.h"
#include "text/glob.h"

static bool is_regular_expression(struct str text)
{
	return text.n >= 2 && text.p[0] == '/' && text.p[text.n - 1] == '/';
}

int pattern_parse(struct str text, struct pattern *ret_pattern, struct err *err)
{
	enum pattern_kind kind = glob_magic(text) ? PATTERN_GLOB : PATTERN_EXACT;
	int r;

	if (text.n == 0)
		return err_set(err, ERR_INVALID, "an empty pattern names nothing; write * for all");
	if (is_regular_expression(text))
		return err_set(err, ERR_UNSUPPORTED,
			       "%s: regular expressions are not offered; write a glob, such as read_*",
			       QUOTE(text));
	r = glob_check(text, err);
	if (r < 0)
		return r;
	*ret_pattern = (struct pattern){ kind, text };
	return 0;
}

bool pattern_matches(const struct pattern *pattern, struct str name)
{
	if (pattern->kind == PATTERN_EXACT)
		return str_eq(pattern->text, name);
	return glob_matches(pattern->text, name);
}

#include "base/base.h"
#include "json/json.h"

#include "json/grammar.h"
#include "json/scan.h"
#include "json/tape.h"

static const char *build(struct scan *s, struct tape *tape)
{
	struct tape local = *tape;
	const char *p = grammar_value(s, s->begin, &local);

	*tape = local;
	return p ? scan_end(s, p) : NULL;
}

static int parse(struct json_doc *doc, struct str text, const struct json_limits *limits, bool jsonc,
		 struct err *err)
{
	struct tape tape;
	struct scan s;
	int code;

	*doc = (struct json_doc){ 0 };
	code = scan_init(&s, text, limits, jsonc, err);
	if (code < 0)
		return code;
	tape_init(&tape, text.n, SCAN_SLACK);
	code = build(&s, &tape) ? 0 : scan_error(&s, err);
	*doc = (struct json_doc){ .tape = tape.nodes, .block = tape.block };
	if (code < 0)
		json_release(doc);
	return code;
}

int json_parse(struct json_doc *doc, struct str text, const struct json_limits *limits, struct err *err)
{
	return parse(doc, text, limits, false, err);
}

int json_parse_jsonc(struct json_doc *doc, struct str text, const struct json_limits *limits, struct err *err)
{
	return parse(doc, text, limits, true, err);
}

void json_release(struct json_doc *doc)
{
	if (doc->tape != doc->block)
		free(doc->tape);
	free(doc->block);
	*doc = (struct json_doc){ 0 };
}

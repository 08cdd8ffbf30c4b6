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
	doc->text_size = text.n + 1 + SCAN_SLACK;
	doc->text = xmalloc(doc->text_size);
	tape_init(&tape, text.n, doc->text);
	if (!build(&s, &tape)) {
		free(tape.nodes);
		json_release(doc);
		return scan_error(&s, err);
	}
	tape_trim(&tape);
	doc->tape = tape.nodes;
	return 0;
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
	free(doc->tape);
	free(doc->text);
	*doc = (struct json_doc){ 0 };
}

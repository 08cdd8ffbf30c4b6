/*
 * grammar.h - the grammar of JSON (RFC 8259) as one loop. Private to the room.
 *
 * It is written once and expanded twice: with a tape, by the parser, and with NULL in its place, by the
 * checks that build nothing. So both accept exactly the same texts. Nesting is a stack of the brackets that
 * are due, not recursion.
 */
#ifndef JSON_GRAMMAR_H
#define JSON_GRAMMAR_H

#include "base/base.h"
#include "json/scan.h"
#include "json/tape.h"

struct nest {
	unsigned depth;
	unsigned char closing[JSON_DEPTH_MAX + 1]; /* of the innermost container at [depth]; 0 at the root */
};

_hot_inline_ const char *grammar_string(struct scan *s, const char *p, struct tape *tape)
{
	struct copy c = scan_string(s, (struct copy){ p + 1, tape ? tape->text : NULL });

	if (tape && likely(c.in))
		tape_add_string(tape, c.out);
	return c.in;
}

/* A member's name and its colon. */
_hot_inline_ const char *grammar_key(struct scan *s, const char *p, struct tape *tape)
{
	if (unlikely(scan_peek(s, p) != '"'))
		return scan_fail(s, p, "a member name in double quotes");
	p = grammar_string(s, p, tape);
	if (unlikely(!p))
		return NULL;
	p = scan_blanks(s, p);
	if (unlikely(scan_peek(s, p) != ':'))
		return scan_fail(s, p, "':' after a member name");
	return p + 1;
}

_hot_inline_ const char *grammar_number(struct scan *s, const char *p, struct tape *tape)
{
	const char *end = scan_number(s, p);

	if (tape && likely(end))
		tape_add_number(tape, str_make(p, (size_t)(end - p)));
	return end;
}

_hot_inline_ const char *grammar_literal(struct scan *s, const char *p, struct str literal,
					 enum json_type type, struct tape *tape)
{
	p = scan_literal(s, p, literal);
	if (tape && likely(p))
		tape_add_literal(tape, type);
	return p;
}

/* A value that is no container. */
_hot_inline_ const char *grammar_scalar(struct scan *s, const char *p, struct tape *tape)
{
	unsigned char first = scan_peek(s, p);

	if (first == '"')
		return grammar_string(s, p, tape);
	if (first == '-' || is_digit(first))
		return grammar_number(s, p, tape);
	if (first == 't')
		return grammar_literal(s, p, STR("true"), JSON_TRUE, tape);
	if (first == 'f')
		return grammar_literal(s, p, STR("false"), JSON_FALSE, tape);
	if (first == 'n')
		return grammar_literal(s, p, STR("null"), JSON_NULL, tape);
	return scan_fail(s, p, "a value");
}

/* An opening bracket, up to the first element, the value of the first member, or the closing bracket. */
_hot_inline_ const char *grammar_open(struct scan *s, const char *p, struct nest *nest, struct tape *tape,
				      bool *ret_empty)
{
	bool object = *p == '{';
	unsigned char closing = object ? '}' : ']';

	if (unlikely(nest->depth + s->depth_outside == s->depth_max))
		return scan_fail_limit(s, p, "levels of nested arrays and objects", s->depth_max);
	nest->closing[++nest->depth] = closing;
	if (tape)
		tape_open(tape, object ? JSON_OBJECT : JSON_ARRAY);
	p = scan_blanks(s, p + 1);
	*ret_empty = scan_peek(s, p) == closing;
	return object && !*ret_empty ? grammar_key(s, p, tape) : p;
}

_cold_ static const char *grammar_fail_after(struct scan *s, const char *p, const struct nest *nest)
{
	return scan_fail(s, p,
			 nest->closing[nest->depth] == '}' ? "',' or '}' after a member"
							   : "',' or ']' after an element");
}

/* From behind a value to where the next one begins, closing what ends in between. At the root, nest->depth is
 * then 0. */
_hot_inline_ const char *grammar_advance(struct scan *s, const char *p, struct nest *nest, struct tape *tape)
{
	while (nest->depth > 0) {
		unsigned char closing = nest->closing[nest->depth], next;

		p = scan_blanks(s, p);
		next = scan_peek(s, p);
		if (next == ',') {
			p = scan_blanks(s, p + 1);
			next = scan_peek(s, p);
			if (likely(next != closing || !s->jsonc))
				return closing == '}' ? grammar_key(s, p, tape) : p;
		}
		if (unlikely(next != closing))
			return grammar_fail_after(s, p, nest);
		p++;
		nest->depth--;
		if (tape)
			tape_close(tape);
	}
	return p;
}

/* One value and all within it; p may be at blanks. */
_hot_inline_ const char *grammar_value(struct scan *s, const char *p, struct tape *tape)
{
	struct nest nest;

	nest.depth = 0;
	nest.closing[0] = '\0';
	do {
		unsigned char first;
		bool empty = true;

		p = scan_blanks(s, p);
		first = scan_peek(s, p);
		if (first == '{' || first == '[') {
			p = grammar_open(s, p, &nest, tape, &empty);
			if (likely(p) && !empty)
				continue;
		} else {
			p = grammar_scalar(s, p, tape);
		}
		if (likely(p))
			p = grammar_advance(s, p, &nest, tape);
	} while (p && nest.depth > 0);
	return p;
}

#endif

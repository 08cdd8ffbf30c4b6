/*
 * jansson_fixture.h - a second opinion for the JSON fuzzer, apart because jansson's names are ours, too.
 */
#ifndef JSON_JANSSON_FIXTURE_H
#define JSON_JANSSON_FIXTURE_H

#include "base/base.h"
#include "base/str.h"

enum jansson_opinion {
	JANSSON_ACCEPTS,
	JANSSON_REFUSES,
	JANSSON_CANNOT_SAY /* the text has what jansson cannot hold: large numbers, names with NUL */
};

/* *ret_dumped is the text as jansson writes it again, to be freed, or NULL when it is not accepted. */
enum jansson_opinion jansson_judge(struct str text, char **ret_dumped);

#endif

/*
 * tool_arguments.h - the arguments of a tool call, from words to JSON.
 *
 *	name=value	the value as the tool's input schema wants it
 *	name:=JSON	that JSON, whatever the schema says; name:=@FILE, the JSON of a file
 *	{...}		all arguments at once; - from standard input, @FILE from a file
 *
 * A value that the schema calls text stays text, also when it looks like a number. Where the schema leaves a
 * choice, or says nothing, a value that is JSON (a number, true, false, null, an object, an array) is taken
 * as such and any other as text. A name that is given again makes an array of its values, as does one value
 * for an array. "a.b" is the member b of an object a, where the schema has such an object and nothing that is
 * called "a.b". Numbers keep their digits. Pure, except that files are read where words name them.
 */
#ifndef CLI_TOOL_ARGUMENTS_H
#define CLI_TOOL_ARGUMENTS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

struct tool_words {
	const char *const *words;
	size_t count;
};

/* Whether what the words say depends on the schema: a name=value is among them, or a name with a dot. */
bool tool_words_need_schema(const struct tool_words *words);

/*
 * The arguments as one JSON object, from the arena. `schema` is the tool's input schema, NULL when it is not
 * known. `bytes_max` bounds what is read from standard input or a file. ERR_INVALID names the argument, what
 * it is and what it must be.
 */
int tool_arguments(const struct tool_words *words, const struct json *schema, size_t bytes_max,
		   struct arena *arena, struct str *ret_object, struct err *err);

#endif

/*
 * source.h - the text of a script: what kind it is, and what a snippet becomes.
 *
 * A text with an export declaration is a module and runs as it is. Any other is a snippet: the body of an
 * async function, in which `return` gives the script's value. Import declarations of a snippet are moved in
 * front of that function. Lines keep their numbers. The text is looked at as far as that needs (strings,
 * templates, comments, regular expressions, brackets); whether it is TypeScript at all the runtime says.
 * Pure.
 */
#ifndef EXEC_SOURCE_H
#define EXEC_SOURCE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

bool exec_source_is_module(struct str source);

/*
 * Writes the module for a snippet, which imports `client` (a relative specifier). Returns the bytes that
 * stand in front of the snippet, on its first line; *ret_columns is what runtimes count for them.
 */
size_t exec_snippet_write(struct buf *out, struct str source, struct str client, size_t *ret_columns);

#endif

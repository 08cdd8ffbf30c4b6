/*
 * mime.h - media types (RFC 9110 section 8.3): by file name, by the first bytes, and back to a file name
 * extension.
 *
 * The tables hold what agents and tools produce, not every registered type. Types are lower case and without
 * parameters unless said otherwise. Returned strings are constants. Pure; any thread.
 */
#ifndef TEXT_MIME_H
#define TEXT_MIME_H

#include "base/base.h"
#include "base/str.h"

/* Bytes from the start of a body that mime_by_content() can use; more do no harm. */
enum { MIME_CONTENT_BYTES = 512, MIME_TYPE_MAX = 127 };

/* The type for the extension of `name`, compared without case; empty when it has none that is known. */
struct str mime_by_name(struct str name);

/* The type that the first bytes prove (their signature), empty when none does. Text is not guessed at, except
 * for the unmistakable beginnings of PDF, PostScript, RTF, "<?xml", "<!doctype html", "<html" and "<svg"; nor
 * is it taken for a binary format whose signature is made of letters. */
struct str mime_by_content(struct str head);

/*
 * The best guess for bytes of unknown origin: by name; else by content; else "text/plain" when the bytes are
 * UTF-8 without control characters (a character cut at the end is allowed), else "application/octet-stream".
 */
struct str mime_guess(struct str name, struct str head);

/* The usual extension, with its dot, for a type with or without parameters; empty when there is none. */
struct str mime_extension(struct str type);

/* Whether `type` is well formed: type "/" subtype, with parameters that are tokens or quoted strings,
 * printable ASCII, at most MIME_TYPE_MAX bytes. What passes can stand in a Content-Type field as it is. */
bool mime_valid(struct str type);

/* The type without parameters and the blanks around it, as it is spelled. */
struct str mime_essence(struct str type);

/* Whether the type promises text: text/ anything, JSON, XML, JavaScript, YAML and the like, also with "+json"
 * or "+xml". */
bool mime_is_text(struct str type);

#endif

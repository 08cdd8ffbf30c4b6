/*
 * json.h - JSON documents (RFC 8259): a strict parser, a read-only tree, and a way past both.
 *
 * A document is one copy of the text, decoded in place, and one flat tape of nodes; parsing allocates twice and never recurses.
 * Everything is checked: the grammar to the last byte, UTF-8, escapes and surrogate pairs, depth and size. Numbers keep their
 * source text and are converted on request, so nothing that a peer sends is ever rounded. Duplicate keys are kept and visible;
 * json_get() returns the last one, as ECMAScript does, and json_has_duplicates() tells.
 *
 * json_skim() validates just as strictly without building anything and gives the source bytes of the members of the top-level object, so
 * that a value passes through us byte for byte. Pure; a document may be read from any thread.
 */
#ifndef JSON_JSON_H
#define JSON_JSON_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_limits {
	size_t bytes_max;   /* of the text; 0 for JSON_BYTES_MAX */
	unsigned depth_max; /* of nested arrays and objects; 0 for JSON_DEPTH_MAX */
};
enum { JSON_DEPTH_MAX = 256 };
#define JSON_BYTES_MAX ((size_t)UINT32_MAX)

/* One value. Opaque: use the functions. A NULL node is allowed everywhere and behaves like an absent value. */
struct json {
	uint32_t tag;  /* type and flags */
	uint32_t size; /* bytes of a string or number; nodes to skip for a container */
	union {
		const char *text; /* string or number */
		uint64_t count;	  /* elements or members */
	} u;
};

struct json_doc {
	struct json *tape;
	char *text;
	size_t text_size;
};

/* Parses a copy of `text`. On failure *doc is empty, and err has the position and says what was expected. */
int json_parse(struct json_doc *doc, struct str text, const struct json_limits *limits, struct err *err);

/* The same with comments and trailing commas allowed (JSONC), for files that people write. Line and column are exact. */
int json_parse_jsonc(struct json_doc *doc, struct str text, const struct json_limits *limits,
		     struct err *err);

void json_release(struct json_doc *doc);
#define _cleanup_json_ _cleanup_(json_release)

static inline const struct json *json_root(const struct json_doc *doc)
{
	return doc->tape;
}

/* JSON_NULL for NULL; ask json_is_null() for a null that is really there. */
enum json_type json_type(const struct json *v);
bool json_is(const struct json *v, enum json_type type);
bool json_is_bool(const struct json *v);

/* The decoded string, or {NULL, 0} when it is none. May hold NUL bytes. */
struct str json_str(const struct json *v);
/* The string, or `otherwise` when v is no string. */
struct str json_str_or(const struct json *v, struct str otherwise);
bool json_bool_or(const struct json *v, bool otherwise);

/* The number's source text, or {NULL, 0}. */
struct str json_number_text(const struct json *v);
/* Exact conversions. ERR_INVALID: no number, or not an integer (1.0 and 1e2 are integers); ERR_TOO_LARGE: out of range. */
int json_i64(const struct json *v, int64_t *ret_value);
int json_u64(const struct json *v, uint64_t *ret_value);
/* The nearest double; ERR_TOO_LARGE when it overflows. */
int json_double(const struct json *v, double *ret_value);

/* Elements of an array, members of an object; 0 for others. */
size_t json_count(const struct json *v);
/* The member `key`, the last of several; NULL when absent or v is no object. */
const struct json *json_get(const struct json *v, struct str key);
/* The element at `at`, or NULL. Linear; use json_for_each to visit all. */
const struct json *json_at(const struct json *v, size_t at);
/* Follows a JSON Pointer (RFC 6901) from v; NULL when it leads nowhere or is malformed. */
const struct json *json_pointer(const struct json *v, struct str pointer);
bool json_has_duplicates(const struct json *object);
/* Equality of JSON values: member order does not matter, numbers compare by value exactly. */
bool json_equal(const struct json *a, const struct json *b);

/* Iteration. `json_for_each(item, array)`, `json_for_each_member(key, value, object)`: key is a struct json of type string. */
const struct json *json_first(const struct json *container);
const struct json *json_after(const struct json *v); /* the node that follows v and all within it */
#define json_for_each(item, array)                                                                           \
	for (size_t _left = json_is(array, JSON_ARRAY) ? json_count(array) : 0, _first = 1;                  \
	     _left > 0 && ((item) = _first ? json_first(array) : json_after(item), true);                    \
	     _left--, _first = 0)
#define json_for_each_member(key, value, object)                                                             \
	for (size_t _left = json_is(object, JSON_OBJECT) ? json_count(object) : 0, _first = 1;               \
	     _left > 0 &&                                                                                    \
	     ((key) = _first ? json_first(object) : json_after(value), (value) = json_after(key), true);     \
	     _left--, _first = 0)

/* -- past the tree ------------------------------------------------------------------------------------------------------- */

/* One member of a top-level object, as it stands in the source. */
struct json_member {
	struct str key; /* decoded; points into the source when it has no escape, else into the arena */
	struct str raw; /* the value's bytes, without surrounding blanks */
	enum json_type type;
};

/*
 * Validates `text` like json_parse() and gives the members of its top-level object, in order, without building the values. `ret_members` has room for
 * `room`; ERR_TOO_LARGE beyond, ERR_INVALID when the text is malformed or no object. The arena takes decoded keys only.
 */
int json_skim(struct str text, const struct json_limits *limits, struct arena *arena,
	      struct json_member *ret_members, size_t room, size_t *ret_count, struct err *err);

/* The last member named `key`, or NULL. */
const struct json_member *json_member_find(const struct json_member *members, size_t count, struct str key);

#endif

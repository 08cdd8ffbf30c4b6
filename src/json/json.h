/*
 * json.h - JSON documents (RFC 8259): a strict parser, a read-only tree, and a way past both.
 *
 * A document is one block with its decoded strings and one flat tape of nodes, at most 10 bytes for each byte
 * of the text and 2 to 3 for what peers really send; parsing never recurses. Everything is checked: the
 * grammar to the last byte, UTF-8, escapes and surrogate pairs, depth and size. Numbers keep their source
 * text and are converted on request, so nothing that a peer sends is ever rounded. Duplicate keys are kept
 * and visible; json_get() returns the last one, as ECMAScript does, and json_has_duplicates() tells.
 *
 * json_skim() validates just as strictly without building anything and gives the source bytes of the members
 * of the top-level object, so that a value passes through us byte for byte. Pure; a document may be read from
 * any thread.
 */
#ifndef JSON_JSON_H
#define JSON_JSON_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* Both are at most, and 0 stands for, the constants below. No limits (NULL) means the same. */
struct json_limits {
	size_t bytes_max;   /* of the text */
	unsigned depth_max; /* of nested arrays and objects */
};
enum { JSON_DEPTH_MAX = 256 };
#define JSON_BYTES_MAX ((size_t)UINT32_MAX)

/* One value. Opaque: use the functions. A NULL node is allowed everywhere but in json_after(), and behaves
 * like an absent value. */
struct json {
	uint32_t tag;  /* an enum json_type */
	uint32_t size; /* bytes of a string or number; nodes to skip for a container */
	union {
		const char *text; /* string or number */
		uint64_t count;	  /* elements or members */
	} u;
};

/* Released whole; may be moved. */
struct json_doc {
	struct json *tape; /* in the block, or of its own when the block's share was too small */
	void *block;	   /* decoded strings, the text of numbers and, if it suffices, the tape */
};

/* Parses `text`, which is not needed afterwards. *doc is overwritten: empty after a failure, when err has the
 * position and says what was expected: ERR_INVALID, or ERR_TOO_LARGE when a limit was passed. */
int json_parse(struct json_doc *doc, struct str text, const struct json_limits *limits, struct err *err);

/* The same with comments and trailing commas allowed (JSONC), for files that people write. A byte order mark
 * is skipped; bytes in comments may be anything. The message leaves out the place, which err has: the caller
 * says it together with the name of the file. */
int json_parse_jsonc(struct json_doc *doc, struct str text, const struct json_limits *limits,
		     struct err *err);

/* `text` without the byte order mark that some editors begin a file with, and that columns do not count. */
struct str json_skip_mark(struct str text);

void json_release(struct json_doc *doc);
#define _cleanup_json_ _cleanup_(json_release)

static inline const struct json *json_root(const struct json_doc *doc)
{
	return doc->tape;
}

/* JSON_NULL for NULL; json_is(v, JSON_NULL) asks for a null that is really there. */
enum json_type json_type(const struct json *v);
bool json_is(const struct json *v, enum json_type type);
bool json_is_bool(const struct json *v);

/* The decoded string, or {NULL, 0} when it is none. Followed by a NUL; may hold others. */
struct str json_str(const struct json *v);
/* The string, or `otherwise` when v is no string. */
struct str json_str_or(const struct json *v, struct str otherwise);
bool json_bool_or(const struct json *v, bool otherwise);

/* The number's source text, or {NULL, 0}. */
struct str json_number_text(const struct json *v);
/* Exact conversions. ERR_INVALID: no number, or not an integer (1.0 and 1e2 are integers); ERR_TOO_LARGE: out
 * of range. */
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

/* Iteration. `json_for_each(item, array)`, `json_for_each_member(key, value, object)`: key is a struct json
 * of type string. Other types have nothing to visit. A loop that was not left early leaves its variables
 * behind the last node. */
const struct json *json_first(const struct json *container); /* of an object, the first key */
const struct json *json_after(const struct json *v);	     /* the node that follows v and all within it */
#define json_for_each(item, array)                                                                           \
	for (const struct json *JSON_END_ = json_begin(array, JSON_ARRAY, &(item)); (item) != JSON_END_;     \
	     (item) = json_after(item))
#define json_for_each_member(key, value, object)                                                             \
	for (const struct json *JSON_END_ = json_begin(object, JSON_OBJECT, &(key));                         \
	     (key) != JSON_END_ && ((value) = (key) + 1, true); (key) = json_after(value))

/* Their common part: the first node in v, and where to stop. One hidden variable a line, so that loops
 * nest. */
const struct json *json_begin(const struct json *v, enum json_type type, const struct json **ret_first);
#define JSON_END_ JSON_PASTE_(_end_, __LINE__)
#define JSON_PASTE_(a, b) JSON_PASTE2_(a, b)
#define JSON_PASTE2_(a, b) a##b

/* -- past the tree --------------------------------------------------------------------------------------- */

/* Validates `text` like json_parse(), which accepts exactly the same texts, and builds nothing. */
int json_check(struct str text, const struct json_limits *limits, struct err *err);

/* One member of a top-level object, as it stands in the source. */
struct json_member {
	struct str key; /* decoded; points into the source when it has no escape, else into the arena */
	struct str raw; /* the value's bytes, without surrounding blanks */
	enum json_type type;
};

/*
 * Validates `text` in the same way and gives the members of its top-level object, in order, without building
 * the values; what is inside an object among them, the same function gives when called with its `raw`.
 * `ret_members` has room for `room` (at least 1) members and is undefined after a failure: ERR_TOO_LARGE when
 * there are more or a limit was passed, ERR_INVALID when the text is malformed or no object. The arena takes
 * decoded keys only.
 */
int json_skim(struct str text, const struct json_limits *limits, struct arena *arena,
	      struct json_member *ret_members, size_t room, size_t *ret_count, struct err *err);

/*
 * A text of another program with halves of surrogate pairs made readable. RFC 8259, section 8.2, lets an
 * escape stand for half a pair, which is no character, and JavaScript writes one for a string that was cut
 * between the two. Every function of this room refuses them; who reads what others wrote calls this when
 * reading failed, and reads again. *ret_text becomes a copy in the arena in which each such escape is \ufffd,
 * which is as long, so that places in the text stay what they are. False when there is none: then nothing was
 * taken and set. `text` need not be well-formed; mending makes no other fault good.
 */
bool json_mend_surrogates(struct str text, struct arena *arena, struct str *ret_text);

/* json_check() and json_skim() for text of another program: one that cannot be read only because of such
 * halves is mended, and *text is then the copy that was read. */
int json_check_foreign(struct str *text, const struct json_limits *limits, struct arena *arena,
		       struct err *err);
int json_skim_foreign(struct str *text, const struct json_limits *limits, struct arena *arena,
		      struct json_member *ret_members, size_t room, size_t *ret_count, struct err *err);

/* The last member named `key`, or NULL. */
const struct json_member *json_member_find(const struct json_member *members, size_t count, struct str key);

#endif

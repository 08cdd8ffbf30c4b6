/*
 * jsonrpc.h - JSON-RPC 2.0 messages as MCP uses them: reading one without building a tree, and writing one.
 *
 * A message is classified by one strict pass over its text. Its id, params, result and error stay as they
 * stand in the source, byte for byte, so an id of any size survives and a result can be passed on without
 * being touched. Only a message with halves of surrogate pairs is mended and read again
 * (json_mend_surrogates()): peers that are as strict as we are would lose the whole message. Pure; any
 * thread.
 *
 * What MCP makes of JSON-RPC 2.0: an id is a string or an integer, never null or a fraction; params are an
 * object (null is taken as absent, as some serialisers write it); batches exist in one revision only
 * (2025-03-26).
 */
#ifndef MCP_JSONRPC_H
#define MCP_JSONRPC_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

/* -- reading --------------------------------------------------------------------------------------------- */

enum jsonrpc_kind { JSONRPC_REQUEST, JSONRPC_NOTIFICATION, JSONRPC_RESULT, JSONRPC_ERROR };

struct jsonrpc_message {
	enum jsonrpc_kind kind;
	/* source text, "\"a\"" or "17"; empty for a notification, and for an error without id */
	struct str id;
	struct str method; /* decoded; requests and notifications */
	struct str params; /* source text of an object; empty when absent */
	struct str result; /* source text of any value; JSONRPC_RESULT */
	/* JSONRPC_ERROR. An error member that is not what it should be still is an answer: what is wrong or
	 * missing becomes MCP_INTERNAL_ERROR, an empty message, no data. */
	int64_t error_code;
	struct str error_message; /* decoded */
	struct str error_data;	  /* source text; empty when absent */
};

/* Why a text is no message, and what to answer. */
struct jsonrpc_fault {
	int64_t code;	/* MCP_PARSE_ERROR, MCP_INVALID_REQUEST; 0: a response, not to be answered */
	struct str id;	/* source text of the id when a valid one could be read, else empty */
	struct err err; /* the message to answer with */
};

enum { JSONRPC_ENVELOPE_MAX = 16 }; /* members of a message; five mean anything at once */

/*
 * Classifies one message. The views in *ret_message point into `text` or into the arena. 0, or ERR_INVALID
 * (ERR_TOO_LARGE when a limit was passed, or JSONRPC_ENVELOPE_MAX) with *fault filled. An envelope member
 * that comes twice makes an invalid request, because peers would disagree on which of the two counts.
 */
int jsonrpc_read(struct str text, const struct json_limits *limits, struct arena *arena,
		 struct jsonrpc_message *ret_message, struct jsonrpc_fault *fault);

/* True when the text begins with "[" after blanks: a batch, if it is anything. */
bool jsonrpc_is_batch(struct str text);

/*
 * A walk over an array (a batch, a page of a list, the content of a result) that takes no memory, however
 * many elements there are: 64 MiB of "0,0,0" have 32 million. ERR_INVALID: malformed, or no array;
 * ERR_TOO_LARGE: a limit was passed.
 */
struct jsonrpc_elements {
	struct str rest; /* what is still to be visited; empty at the end */
};
int jsonrpc_elements(struct str array, const struct json_limits *limits,
		     struct jsonrpc_elements *ret_elements, struct err *err);
/* The source text of the next element; false at the end. */
bool jsonrpc_element(struct jsonrpc_elements *elements, struct str *ret_item);

/*
 * The source texts of all elements, mended like a message: an array of *ret_count in the arena. They are
 * counted first, so that more than `max` of them (ERR_TOO_LARGE) take no memory at all. `max` is a number
 * that somebody chose, never "any".
 */
int jsonrpc_split(struct str array, const struct json_limits *limits, struct arena *arena, size_t max,
		  const struct str **ret_items, size_t *ret_count, struct err *err);

/* The id of a message of which only the beginning is there: valid source text, or empty when it does not
 * stand there whole or is no id. */
struct str jsonrpc_peek_id(struct str beginning);

/* Whether two ids in source text are the same value: "a" and "\u0061" are. */
bool jsonrpc_id_equal(struct str a, struct str b);

/* -- source texts of values ------------------------------------------------------------------------------ */

/* The members of an object. */
struct jsonrpc_members {
	struct json_member *at;
	size_t count;
};
enum { JSONRPC_MEMBERS_MAX = 256 };

/*
 * The members of an object in source text, in an array from the arena; an empty text has none. ERR_INVALID:
 * malformed, or no object; ERR_TOO_LARGE: nested deeper than JSON_DEPTH_MAX, or more than JSONRPC_MEMBERS_MAX
 * members.
 */
int jsonrpc_members(struct str object, struct arena *arena, struct jsonrpc_members *ret_members,
		    struct err *err);

/* The source text of the last member `key`; empty when there is none. */
struct str jsonrpc_member(const struct jsonrpc_members *members, struct str key);
/* The member itself; NULL when there is none. */
const struct json_member *jsonrpc_member_find(const struct jsonrpc_members *members, struct str key);
/* Its decoded text when it is a string; .p NULL otherwise. */
struct str jsonrpc_member_str(const struct jsonrpc_members *members, struct str key, struct arena *arena);

/* A string in source text, decoded: a part of the source when it has no escapes, else from the arena. .p NULL
 * when it is none. */
struct str jsonrpc_decode_str(struct str raw, struct arena *arena);

/* Whether source text is an id or progress token: a string or an integer. */
bool jsonrpc_is_id(struct str raw, enum json_type type);

/* -- writing --------------------------------------------------------------------------------------------- */

/* Each appends one whole message without a line end. `id`, `params`, `result` and `data` are source texts;
 * empty `params` and `data` are left out. */
void jsonrpc_write_request(struct buf *out, struct str id, struct str method, struct str params);
void jsonrpc_write_notification(struct buf *out, struct str method, struct str params);
void jsonrpc_write_result(struct buf *out, struct str id, struct str result);
/* An empty id, in the answer to something unreadable, is left out (MCP's schema; plain JSON-RPC would say
 * null). */
void jsonrpc_write_error(struct buf *out, struct str id, int64_t code, struct str message, struct str data);

/* Appends a member of an object: the decoded key, quoted, and the raw value, with a comma in front unless
 * *first, which is cleared. */
void jsonrpc_write_member(struct buf *out, bool *first, struct str key, struct str raw);

/* Replaces every CR and LF from `from` on by a blank. In JSON they only stand between tokens; a line
 * transport must not see them. */
void jsonrpc_make_line(struct buf *out, size_t from);

#endif

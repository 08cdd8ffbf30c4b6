/*
 * jsonrpc.h - JSON-RPC 2.0 messages as MCP uses them: reading one without building a tree, and writing one.
 *
 * A message is classified by one strict pass over its text. Its id, params, result and error stay as they stand in the source,
 * byte for byte, so an id of any size survives and a result can be passed on without being touched. Pure.
 *
 * Deviations from JSON-RPC 2.0 that MCP makes: an id is a string or an integer, never null or a fraction; params are an
 * object; batches exist in one revision only (2025-03-26).
 */
#ifndef MCP_JSONRPC_H
#define MCP_JSONRPC_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

enum jsonrpc_kind { JSONRPC_REQUEST, JSONRPC_NOTIFICATION, JSONRPC_RESULT, JSONRPC_ERROR };

struct jsonrpc_message {
	enum jsonrpc_kind kind;
	struct str
		id; /* source text: "\"a\"" or "17"; empty for a notification, and for an error that answers no known id */
	struct str method; /* decoded; requests and notifications */
	struct str params; /* source text of an object; empty when absent */
	struct str result; /* source text of any value; JSONRPC_RESULT */
	int64_t error_code; /* JSONRPC_ERROR, these three; a code out of range or no integer is MCP_INTERNAL_ERROR */
	struct str error_message; /* decoded */
	struct str error_data;	  /* source text; empty when absent */
};

/* Why a text is no message, and what to answer. */
struct jsonrpc_fault {
	int64_t code;	/* MCP_PARSE_ERROR or MCP_INVALID_REQUEST */
	struct str id;	/* source text of the id when a valid one could be read, else empty */
	struct err err; /* the message to answer with */
};

/*
 * Classifies one message. The views in *ret_message point into `text` or into the arena. 0, or ERR_INVALID (ERR_TOO_LARGE when a
 * limit was passed) with *fault filled; a fault of something that looks like a response must not be answered, and has an empty
 * id and `fault->code` 0 then. Duplicate envelope members ("id" twice) are an invalid request, because peers would disagree on which counts.
 */
int jsonrpc_read(struct str text, const struct json_limits *limits, struct arena *arena,
		 struct jsonrpc_message *ret_message, struct jsonrpc_fault *fault);

/* True when the text begins with "[" after blanks: a batch, if it is anything. */
bool jsonrpc_is_batch(struct str text);

/*
 * Splits a batch into its elements' source texts, an array from the arena of *ret_count. Each element is still to be read with
 * jsonrpc_read(). ERR_INVALID: no array or malformed (then the whole batch is a parse error); ERR_TOO_LARGE: over `max` elements.
 */
int jsonrpc_split(struct str text, const struct json_limits *limits, struct arena *arena, size_t max,
		  const struct str **ret_items, size_t *ret_count, struct err *err);

/* Whether two ids in source text are the same value: "a" and "\u0061" are. */
bool jsonrpc_id_equal(struct str a, struct str b);

/* -- writing ----------------------------------------------------------------------------------------------------------- */
/* Each appends one whole message, without a line end. `id`, `params`, `result` and `data` are JSON source texts. */

/* `params` empty: none. */
void jsonrpc_write_request(struct buf *out, struct str id, struct str method, struct str params);
void jsonrpc_write_notification(struct buf *out, struct str method, struct str params);
void jsonrpc_write_result(struct buf *out, struct str id, struct str result);
/* `id` empty: the answer to something unreadable, which carries no id (MCP's schema; plain JSON-RPC would say null). `data` empty: none. */
void jsonrpc_write_error(struct buf *out, struct str id, int64_t code, struct str message, struct str data);

/* -- source texts of values ---------------------------------------------------------------------------------------------- */

/* The members of a JSON object in source text, an array from the arena. An empty text has none. ERR_INVALID: malformed or no object;
 * ERR_TOO_LARGE: more than JSONRPC_MEMBERS_MAX members. */
enum { JSONRPC_MEMBERS_MAX = 128 };
struct jsonrpc_members {
	struct json_member *at;
	size_t count;
};
int jsonrpc_members(struct str object, struct arena *arena, struct jsonrpc_members *ret_members,
		    struct err *err);

/* The source text of the last member `key`, or empty. */
struct str jsonrpc_member(const struct jsonrpc_members *members, struct str key);
/* The decoded text of the last member `key` when it is a string; .p NULL otherwise. */
struct str jsonrpc_member_str(const struct jsonrpc_members *members, struct str key, struct arena *arena);
/* A string in source text, decoded; .p NULL when it is none. */
struct str jsonrpc_decode_str(struct str raw, struct arena *arena);

#endif

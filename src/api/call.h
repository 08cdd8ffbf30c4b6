/*
 * call.h - one request for an operation, whichever door it came through: /v1, or a tool of the MCP server.
 *
 * A door decodes the request into named inputs and runs the operation's function; the function answers
 * exactly once, at once or later. While it waits it sets `cancelled`, which is called instead of the answer
 * when whoever asked goes away. Everything a call needs lives in its arena and is gone once it was answered:
 * touch nothing of it afterwards.
 */
#ifndef API_CALL_H
#define API_CALL_H

#include "api/operation.h"
#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "hub/caller.h"
#include "io/http_server.h"
#include "mcp/server.h"
#include "settings/settings.h"

struct api;
struct api_call;

/* One input as it came: JSON source text, or plain text from a path or a query. */
struct api_value {
	const struct operation_input *input;
	struct str raw;	 /* JSON; empty when it is text */
	struct str text; /* decoded text; .p NULL when it is JSON */
};

struct api_call {
	struct api *api;
	const struct operation *operation;
	struct arena *arena;
	struct api_value *values; /* one for each of the operation's inputs; .input NULL: not given */
	struct hub_caller caller;
	const struct settings *settings; /* with what this call asks for over the daemon's own */
	struct http_request *http;	 /* NULL at the MCP door */
	struct mcp_server_call *mcp;	 /* NULL at /v1 */
	/* Set by an operation that waits: stop the work; no answer may be given any more. */
	void (*cancelled)(struct api_call *call);
	void *state; /* the operation's own */
};

/* -- inputs ---------------------------------------------------------------------------------------------- */

/* Each gives `otherwise` when the input is absent (or null). Their types were checked at the door. */
struct str api_input_str(
	const struct api_call *call,
	struct str name); /* .p NULL when absent; an array of strings is joined with commas */
int64_t api_input_int(const struct api_call *call, struct str name, int64_t otherwise);
double api_input_number(const struct api_call *call, struct str name, double otherwise);
bool api_input_bool(const struct api_call *call, struct str name, bool otherwise);
struct str api_input_raw(const struct api_call *call,
			 struct str name); /* JSON source text; empty when absent */

/* Takes the inputs from a JSON object (`object` may be empty), from a query, or one from the path.
 * ERR_INVALID names the input, what it is and what it must be; of one that the operation does not have, those
 * that it has, the most alike first. */
int api_take_object(struct api_call *call, struct str object, struct err *err);
int api_take_query(struct api_call *call, struct str query, struct err *err);
int api_take_text(struct api_call *call, const struct operation_input *input, struct str text,
		  struct err *err);
/* Whether everything required is there. */
int api_check_required(const struct api_call *call, struct err *err);

/* -- answers --------------------------------------------------------------------------------------------- */

/* `out` holds one JSON value, and its storage is taken. One that did not fit (api_writer_init()) is answered
 * with an error that says so. */
void api_answer_json(struct api_call *call, unsigned status, struct buf *out);
/* The same for an answer of success. */
void api_answer_written(struct api_call *call, struct buf *out);
/* Text of a media type, which is a constant; the storage of a buffer that has not failed (buf_take()), taken
 * over. */
void api_answer_text(struct api_call *call, struct str type, struct str body);
/* The status follows from the error's code. `diagnostics` is a raw JSON array or empty. */
void api_answer_error(struct api_call *call, const struct err *err);
void api_answer_status(struct api_call *call, unsigned status, const struct err *err);

/* The HTTP status of an error code. */
unsigned api_status_of(int code);

/* {"error": message} as the body of an answer that is not tied to an operation. */
void api_respond_error(struct http_request *request, unsigned status, struct str message,
		       const struct http_field *fields, size_t count);

/* A tool's result for the MCP client, from `out`, which the caller releases; an error that says so when it
 * did not fit. */
void api_answer_model(struct api_call *call, const struct buf *out);

/* The call is over: the API may be idle again. Before an answer by other means than those above. */
void api_call_over(struct api_call *call);

/* A content block of text; and the member `content` of a tool's result with nothing else in it. */
void api_write_text_block(struct json_writer *w, struct str text);
void api_write_text_content(struct json_writer *w, struct str text);

/* For writing an answer: a buffer that holds as much as any answer may have. */
void api_writer_init(struct json_writer *w, struct buf *out);

#endif

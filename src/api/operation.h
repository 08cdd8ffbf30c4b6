/*
 * operation.h - the table of operations: what the daemon can be asked, under which names, with which input.
 *
 * The table is generated from operations.json, the one place where an operation is declared. Routes, commands
 * with their help and completions, MCP tools with their annotations and the OpenAPI document are all read
 * from it. The command line links this table without the functions behind it. Pure.
 */
#ifndef API_OPERATION_H
#define API_OPERATION_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "json/writer.h"

enum operation_flags {
	OPERATION_MUTATES = 1,	    /* changes something; the others are read-only */
	OPERATION_DESTROYS = 2,	    /* may destroy something */
	OPERATION_REPEATS = 4,	    /* may be repeated without further effect */
	OPERATION_STREAMS = 8,	    /* can answer with a stream of frames */
	OPERATION_ADMINISTERS = 16, /* governs the daemon rather than using it */
	OPERATION_TEXT = 32,	    /* answers with plain text */
	OPERATION_BODY = 64,	    /* its HTTP body, or that of its answer, is bytes and not JSON */
	OPERATION_RELAYS = 128,	    /* relays notifications of an upstream server */
	OPERATION_OPEN = 256,	    /* reaches into an open world: other servers, other machines */
};

enum input_place {
	INPUT_PATH,
	INPUT_QUERY,
	INPUT_BODY,
	INPUT_WHOLE_BODY, /* the body is this input and nothing else */
	INPUT_COMMAND_LINE
};
enum input_kind { INPUT_STRING, INPUT_INTEGER, INPUT_NUMBER, INPUT_BOOLEAN, INPUT_OBJECT };
enum input_command { INPUT_FLAG, INPUT_POSITIONAL, INPUT_REST, INPUT_NOT_ON_COMMAND_LINE };

struct operation_input {
	struct str name;
	struct str aliases[2]; /* empty: none */
	struct str tool_name;  /* what the MCP tool lists it as; empty: not at all */
	bool tool_list;	       /* ... and as an array of strings */
	bool tool_required;    /* ... and as one that must be given */
	struct str description;
	struct str choices; /* the words of an enum, with "|" between them; empty: free */
	struct str value;   /* what stands for it in the help: "FILE" */
	enum input_place place;
	enum input_kind kind;
	enum input_command command;
	bool required;
	bool has_minimum;
	int minimum;
};

/* "OPERATION_HEALTH" and so on, in the order of the table; and OPERATION_COUNT. */
#include "api/operation_ids.h"

struct operation {
	enum operation_id id;
	struct str name; /* health, artifact_put */
	struct str method;
	/* "/v1/artifacts/{id}": at most OPERATION_PARAMETERS_MAX parameters, each a segment */
	struct str route;
	/* "artifact put"; empty: no command, as of the last rows from OPERATION_COMMANDS on */
	struct str command;
	struct str command_aliases[2]; /* the same command by other names; empty: none */
	struct str tool;	       /* "mcpx_status"; empty: no MCP tool */
	struct str summary;
	unsigned flags;
	const struct operation_input *inputs;
	size_t input_count;
	struct str output_schema; /* JSON Schema, as text */
	struct str group;	  /* its heading in the help of the command line */
	struct str detail;	  /* what that help says beyond the summary; empty: nothing */
	struct str alone;	  /* why there is no MCP tool; empty: there is one */
};

extern const struct operation operations[OPERATION_COUNT];

/* What a path has in the place of its route's parameters, in order: views. The last of several takes all that
 * is left, for names with slashes. */
enum { OPERATION_PARAMETERS_MAX = 2 };
struct operation_parameters {
	struct str at[OPERATION_PARAMETERS_MAX];
	size_t count;
};

/* The operation of a request, or NULL. HEAD is served by what serves GET. */
const struct operation *operation_route(struct str method, struct str path,
					struct operation_parameters *ret_parameters);

/* The methods that `path` takes, for the field Allow: "GET, HEAD, POST". Empty: there is no such path. */
enum { OPERATION_ALLOW_MAX = 64 };
struct str operation_allow(struct str path, char storage[OPERATION_ALLOW_MAX]);

const struct operation *operation_tool(struct str tool);

/* The input of that name or alias; NULL when there is none. */
const struct operation_input *operation_input_find(const struct operation *operation, struct str name);
/* The input that is the whole body of the request; NULL when its inputs are members of the body. */
const struct operation_input *operation_input_whole_body(const struct operation *operation);

/* The JSON Schema of all inputs that are not for the command line alone. */
void operation_write_input_schema(const struct operation *operation, struct json_writer *w);
/* The MCP Tool object: name, title, description, inputSchema, annotations. */
void operation_write_tool(const struct operation *operation, struct json_writer *w);
/* The OpenAPI 3.1 document of the whole table. */
void operation_write_openapi(struct json_writer *w, struct str version);

#endif

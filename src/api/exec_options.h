/*
 * exec_options.h - the input `options` of the operation exec: what the caller declares of itself and wants of
 * the run.
 */
#ifndef API_EXEC_OPTIONS_H
#define API_EXEC_OPTIONS_H

#include "api/call.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

enum exec_output { EXEC_OUTPUT_STRUCTURED, EXEC_OUTPUT_TEXT, EXEC_OUTPUT_STREAM };

/* Strings are from the call's arena; empty ones were not given. */
struct exec_options {
	enum exec_output output;
	struct str runtime, session, cwd, export_name, stdin_bytes;
	bool has_stdin;
	struct str selection;			 /* namespaces, with commas */
	const struct str *arguments, *variables; /* variables: NAME=VALUE */
	size_t argument_count, variable_count;
	bool has_timeout;
	uint64_t timeout_ms;
	bool capture_console;
	bool links;	      /* the caller can take links to artifacts */
	struct str directory; /* that gets a copy of every artifact, absolute; empty: none */
	bool inline_artifacts;
	uint64_t inline_max; /* bytes */
};

/* Reads the inputs `options` and `timeoutSec`. ERR_INVALID names the option; ERR_UNSUPPORTED when it is one
 * that this version does not have. */
int exec_options_read(struct api_call *call, struct exec_options *ret_options, struct err *err);

#endif

/*
 * echo_server - an MCP server over stdio that costs next to nothing, so that what a benchmark sees is the
 * cost of what stands before it.
 *
 * Tools: `echo` gives its `text` back, `blob` a text of `bytes` letters, `pid` the number of this process.
 * One request is answered before the next is read. Answers are written as they are in the request, byte for
 * byte, where a value is given back. Ends with its input.
 */
#include "base/base.h"
#include "base/buf.h"
#include "json/json.h"
#include "json/writer.h"

#include <stdio.h>

enum {
	MEMBERS_MAX = 16,      /* of a request, and of its parameters */
	BLOB_MAX = 16 << 20,   /* bytes; more is answered with an empty text */
	ANSWER_MAX = 32 << 20, /* bytes */
};

static const char tools[] =
	"{\"tools\":["
	"{\"name\":\"echo\",\"description\":\"Gives the text back.\",\"inputSchema\":{\"type\":\"object\","
	"\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}},"
	"{\"name\":\"blob\",\"description\":\"A text of so many letters.\",\"inputSchema\":{\"type\":\"object\","
	"\"properties\":{\"bytes\":{\"type\":\"integer\"}},\"required\":[\"bytes\"]}},"
	"{\"name\":\"pid\",\"description\":\"The number of this process.\",\"inputSchema\":{\"type\":\"object\"}}]}";

/* What an object has at its top level. */
struct members {
	struct json_member list[MEMBERS_MAX];
	size_t count;
};

static bool members_read(struct members *members, struct str text, struct arena *arena)
{
	return json_skim(text, NULL, arena, members->list, MEMBERS_MAX, &members->count, NULL) == 0;
}

/* The member's bytes; empty when there is none. */
static struct str member(const struct members *members, const char *key)
{
	const struct json_member *found = json_member_find(members->list, members->count, str_of(key));

	return found ? found->raw : str_make(NULL, 0);
}

/* A result of one text, which is given as JSON has it. */
static void write_text(struct json_writer *w, struct str quoted)
{
	json_write_key(w, STR("result"));
	json_write_object_begin(w);
	json_write_key(w, STR("content"));
	json_write_array_begin(w);
	json_write_object_begin(w);
	json_member_str(w, STR("type"), STR("text"));
	json_member_raw(w, STR("text"), quoted);
	json_write_object_end(w);
	json_write_array_end(w);
	json_write_object_end(w);
}

static void write_blob(struct json_writer *w, struct str bytes)
{
	_cleanup_free_ char *text = NULL;
	uint64_t n;

	if (str_to_u64(bytes, &n) < 0 || n > BLOB_MAX)
		n = 0;
	text = xcalloc(n + 2, 1);
	memset(text, 'x', n + 1);
	text[0] = text[n + 1] = '"';
	write_text(w, str_make(text, n + 2));
}

static void write_pid(struct json_writer *w)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "\"%d\"", (int)getpid());
	write_text(w, str_of(text));
}

/* False when there is no such tool. */
static bool write_call(struct json_writer *w, struct str params, struct arena *arena)
{
	struct members call, arguments = { .count = 0 };
	struct str name;

	if (!members_read(&call, params, arena))
		return false;
	(void)members_read(&arguments, member(&call, "arguments"), arena);
	name = member(&call, "name");
	if (str_eq(name, STR("\"echo\""))) {
		struct str text = member(&arguments, "text");

		write_text(w, str_starts_with(text, STR("\"")) ? text : STR("\"\""));
	} else if (str_eq(name, STR("\"blob\""))) {
		write_blob(w, member(&arguments, "bytes"));
	} else if (str_eq(name, STR("\"pid\""))) {
		write_pid(w);
	} else {
		return false;
	}
	return true;
}

static void write_initialize(struct json_writer *w, struct str params, struct arena *arena)
{
	struct members asked;

	json_write_key(w, STR("result"));
	json_write_object_begin(w);
	if (members_read(&asked, params, arena))
		json_member_raw(w, STR("protocolVersion"), member(&asked, "protocolVersion"));
	json_member_raw(w, STR("capabilities"), STR("{\"tools\":{}}"));
	json_member_raw(w, STR("serverInfo"), STR("{\"name\":\"echo\",\"version\":\"1\"}"));
	json_write_object_end(w);
}

static void write_outcome(struct json_writer *w, struct str method, struct str params, struct arena *arena)
{
	if (str_eq(method, STR("\"tools/call\"")) && write_call(w, params, arena))
		return;
	if (str_eq(method, STR("\"tools/list\"")))
		json_member_raw(w, STR("result"), str_of(tools));
	else if (str_eq(method, STR("\"initialize\"")))
		write_initialize(w, params, arena);
	else if (str_eq(method, STR("\"ping\"")))
		json_member_raw(w, STR("result"), STR("{}"));
	else
		json_member_raw(w, STR("error"),
				STR("{\"code\":-32601,\"message\":\"no such method or tool\"}"));
}

/* Notifications and what is no request are passed over in silence. */
static void answer(struct str line, struct arena *arena, struct buf *out)
{
	struct members request;
	struct json_writer w;
	struct str id;

	if (!members_read(&request, line, arena))
		return;
	id = member(&request, "id");
	if (id.n == 0)
		return;
	json_writer_init(&w, out, false);
	json_write_object_begin(&w);
	json_member_str(&w, STR("jsonrpc"), STR("2.0"));
	json_member_raw(&w, STR("id"), id);
	write_outcome(&w, member(&request, "method"), member(&request, "params"), arena);
	json_write_object_end(&w);
	buf_append_char(out, '\n');
}

int main(void)
{
	_cleanup_buf_ struct buf out = { 0 };
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	ssize_t n;

	buf_init(&out, ANSWER_MAX);
	while ((n = getline(&line, &room, stdin)) > 0) {
		_cleanup_arena_ struct arena arena = { 0 };

		arena_init(&arena, 0);
		answer(str_make(line, (size_t)n), &arena, &out);
		if (buf_failed(&out) || fwrite(out.p, 1, out.n, stdout) != out.n || fflush(stdout) != 0)
			return 1;
		buf_clear(&out, ANSWER_MAX);
	}
	return 0;
}

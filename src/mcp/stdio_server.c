#include "base/base.h"
#include "mcp/stdio_server.h"

/* Storage of the unfinished line that is kept between lines, in bytes. */
enum { LINE_KEEP = 64 * 1024 };

/* Sends the text as a line, which it becomes. */
static void stdio_write(struct mcp_stdio_server *stdio, struct buf *text)
{
	jsonrpc_make_line(text, 0);
	text->max = text->n + 1;
	buf_append_char(text, '\n');
	if (stdio->output(stdio, buf_str(text)) < 0)
		stdio->unsent++;
}

/* -- batches --------------------------------------------------------------------------------------------- */

/* The route of a batch's requests. It ends with the last of them: each is answered, or ends without. */
struct stdio_batch {
	size_t expected, ended;
	struct buf answers; /* "[...", those that there are; empty when there is none */
};

static void batch_send(struct mcp_stdio_server *stdio, struct stdio_batch *batch)
{
	if (!batch->answers.n)
		return;
	buf_append_char(&batch->answers, ']');
	stdio_write(stdio, &batch->answers);
	buf_release(&batch->answers);
	buf_init(&batch->answers, stdio->session.server->limits.answer_max);
}

/* What does not fit into one line with the others goes in another. */
static void batch_add(struct mcp_stdio_server *stdio, struct stdio_batch *batch, struct buf *answer)
{
	const size_t around = sizeof("[]\n") - 1;

	if (batch->answers.n + answer->n + around > batch->answers.max)
		batch_send(stdio, batch);
	if (answer->n + around > batch->answers.max) {
		stdio_write(stdio, answer);
		return;
	}
	buf_append_char(&batch->answers, batch->answers.n ? ',' : '[');
	buf_append(&batch->answers, buf_str(answer));
}

static void batch_check(struct mcp_stdio_server *stdio, struct stdio_batch *batch)
{
	if (batch->ended < batch->expected)
		return;
	batch_send(stdio, batch);
	buf_release(&batch->answers);
	free(batch);
}

static void stdio_receive_batch(struct mcp_stdio_server *stdio, struct str line)
{
	struct stdio_batch *batch = xnew(struct stdio_batch);

	/* Some answers come before it is known how many there will be. */
	batch->expected = SIZE_MAX;
	buf_init(&batch->answers, stdio->session.server->limits.answer_max);
	batch->expected = mcp_session_receive(&stdio->session, line, batch);
	batch_check(stdio, batch);
}

/* -- the session ----------------------------------------------------------------------------------------- */

static bool stdio_send(struct mcp_session *session, const struct mcp_outgoing *outgoing)
{
	struct mcp_stdio_server *stdio = container_of(session, struct mcp_stdio_server, session);
	struct stdio_batch *batch = outgoing->route;
	bool ends = outgoing->kind == MCP_OUT_ANSWER || outgoing->kind == MCP_OUT_NOTHING;

	if (outgoing->text && batch && ends && !outgoing->for_all)
		batch_add(stdio, batch, outgoing->text);
	else if (outgoing->text)
		stdio_write(stdio, outgoing->text);
	if (batch && ends) {
		batch->ended++;
		batch_check(stdio, batch);
	}
	return true;
}

static const struct mcp_session_transport stdio_transport = { .send = stdio_send };

void mcp_stdio_init(struct mcp_stdio_server *stdio, struct mcp_server *server, struct str principal,
		    int (*output)(struct mcp_stdio_server *stdio, struct str line), void *owner)
{
	*stdio = (struct mcp_stdio_server){ .output = output, .owner = owner };
	buf_init(&stdio->line, server->limits.message_max);
	mcp_session_init(&stdio->session, server, &stdio_transport, principal);
}

void mcp_stdio_release(struct mcp_stdio_server *stdio)
{
	mcp_session_release(&stdio->session);
	buf_release(&stdio->line);
	*stdio = (struct mcp_stdio_server){ 0 };
}

/* -- lines ----------------------------------------------------------------------------------------------- */

static void stdio_refuse_long_line(struct mcp_stdio_server *stdio)
{
	struct str id = jsonrpc_peek_id(buf_str(&stdio->line));
	struct buf text;
	struct err err;

	err_set(&err, ERR_TOO_LARGE, "a message longer than %zu bytes",
		stdio->session.server->limits.message_max);
	buf_init(&text, JSON_BYTES_MAX);
	jsonrpc_write_error(&text, id, MCP_INVALID_REQUEST, str_of(err.message), (struct str){ 0 });
	stdio_write(stdio, &text);
	buf_release(&text);
}

static void stdio_line(struct mcp_stdio_server *stdio, struct str line)
{
	if (jsonrpc_is_batch(line))
		stdio_receive_batch(stdio, line);
	else if (str_trim(line).n)
		mcp_session_receive(&stdio->session, line, NULL);
}

/* Adds a part of a line. Whole lines that arrive at once never come here. */
static void stdio_collect(struct mcp_stdio_server *stdio, struct str part)
{
	size_t room = stdio->line.max - stdio->line.n;

	if (stdio->skipping)
		return;
	buf_append(&stdio->line, str_slice(part, 0, room));
	if (part.n <= room)
		return;
	stdio_refuse_long_line(stdio);
	stdio->skipping = true;
	buf_clear(&stdio->line, LINE_KEEP);
}

void mcp_stdio_feed(struct mcp_stdio_server *stdio, struct str bytes)
{
	size_t n;

	while ((n = str_find_char(bytes, '\n')) != STR_NONE) {
		struct str part = str_slice(bytes, 0, n);

		bytes = str_from(bytes, n + 1);
		if (!stdio->line.n && !stdio->skipping && part.n <= stdio->line.max) {
			stdio_line(stdio, part);
			continue;
		}
		stdio_collect(stdio, part);
		if (!stdio->skipping)
			stdio_line(stdio, buf_str(&stdio->line));
		stdio->skipping = false;
		buf_clear(&stdio->line, LINE_KEEP);
	}
	stdio_collect(stdio, bytes);
}

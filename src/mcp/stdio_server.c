#include "base/base.h"
#include "mcp/stdio_server.h"

/* Storage of the unfinished line that is kept between lines, in bytes. */
enum { LINE_KEEP = 64 * 1024 };

static bool stdio_send(struct mcp_session *session, const struct mcp_outgoing *outgoing)
{
	struct mcp_stdio_server *stdio = container_of(session, struct mcp_stdio_server, session);
	struct buf *text = outgoing->text;

	if (!text)
		return true;
	jsonrpc_make_line(text, 0);
	text->max = text->n + 1;
	buf_append_char(text, '\n');
	if (stdio->output(stdio, buf_str(text)) < 0)
		stdio->unsent++;
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

static void stdio_refuse_long_line(struct mcp_stdio_server *stdio)
{
	struct str id = jsonrpc_peek_id(buf_str(&stdio->line));
	struct buf text;
	struct err err;

	err_set(&err, ERR_TOO_LARGE, "a message longer than %zu bytes",
		stdio->session.server->limits.message_max);
	buf_init(&text, JSON_BYTES_MAX);
	jsonrpc_write_error(&text, id, MCP_INVALID_REQUEST, str_of(err.message), (struct str){ 0 });
	stdio_send(&stdio->session, &(struct mcp_outgoing){ .kind = MCP_OUT_ANSWER, .text = &text });
	buf_release(&text);
}

static void stdio_line(struct mcp_stdio_server *stdio, struct str line)
{
	if (str_trim(line).n)
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

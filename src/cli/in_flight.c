#include "base/base.h"
#include "cli/in_flight.h"
#include "base/arena.h"
#include "mcp/jsonrpc.h"
#include "mcp/revision.h"

static const struct str LOST = STR_INIT(
	"the daemon ended while this request was under way: whether it took effect is not known. The next request starts it again");

void in_flight_init(struct in_flight *flight)
{
	*flight = (struct in_flight){ .ids = xcalloc(IN_FLIGHT_MAX, sizeof(struct str)) };
	buf_init(&flight->up.beginning, IN_FLIGHT_LINE);
	buf_init(&flight->down.beginning, IN_FLIGHT_LINE);
	buf_init(&flight->opening, IN_FLIGHT_OPENING);
}

static void forget_all(struct in_flight *flight)
{
	for (size_t i = 0; i < flight->count; i++)
		free((char *)flight->ids[i].p);
	flight->count = 0;
}

void in_flight_release(struct in_flight *flight)
{
	forget_all(flight);
	free(flight->ids);
	buf_release(&flight->up.beginning);
	buf_release(&flight->down.beginning);
	buf_release(&flight->opening);
}

/* -- ids ------------------------------------------------------------------------------------------------- */

static void note(struct in_flight *flight, struct str id)
{
	char *copy;

	if (id.n == 0 || id.n > IN_FLIGHT_ID || flight->count == IN_FLIGHT_MAX)
		return;
	copy = xmalloc(id.n);
	memcpy(copy, id.p, id.n);
	flight->ids[flight->count++] = str_make(copy, id.n);
}

static void forget(struct in_flight *flight, struct str id)
{
	for (size_t i = 0; i < flight->count; i++)
		if (jsonrpc_id_equal(flight->ids[i], id)) {
			free((char *)flight->ids[i].p);
			flight->count--;
			memmove(flight->ids + i, flight->ids + i + 1,
				(flight->count - i) * sizeof(struct str));
			return;
		}
}

/* -- messages -------------------------------------------------------------------------------------------- */

/* A new handshake takes the place of the old one. */
static void note_opening(struct in_flight *flight, struct str line, bool first)
{
	if (first)
		buf_clear(&flight->opening, IN_FLIGHT_OPENING);
	buf_append(&flight->opening, line);
	buf_append_char(&flight->opening, '\n');
}

static void sent(struct in_flight *flight, const struct jsonrpc_message *message, struct str line,
		 struct arena *arena)
{
	struct jsonrpc_members params = { 0 };

	if (message->kind == JSONRPC_REQUEST)
		note(flight, message->id);
	if (message->kind == JSONRPC_REQUEST && str_eq(message->method, STR("initialize"))) {
		note_opening(flight, line, true);
	} else if (message->kind == JSONRPC_NOTIFICATION) {
		if (str_eq(message->method, STR("notifications/initialized")))
			note_opening(flight, line, false);
		else if (str_eq(message->method, STR("notifications/cancelled")) &&
			 jsonrpc_members(message->params, arena, &params, NULL) == 0)
			forget(flight, jsonrpc_member(&params, STR("requestId")));
	}
}

static void received(struct in_flight *flight, const struct jsonrpc_message *message)
{
	if (message->kind == JSONRPC_RESULT || message->kind == JSONRPC_ERROR)
		forget(flight, message->id);
}

static void look_at_message(struct in_flight *flight, struct str text, bool up, struct arena *arena)
{
	struct jsonrpc_message message;
	struct jsonrpc_fault fault;

	if (jsonrpc_read(text, NULL, arena, &message, &fault) < 0)
		return;
	if (up)
		sent(flight, &message, text, arena);
	else
		received(flight, &message);
}

/* A line of which only the beginning is there: the members that say what it is come before the large ones. */
static void look_at_beginning(struct in_flight *flight, struct str beginning, bool up)
{
	bool request = str_find(beginning, STR("\"method\"")) != STR_NONE;

	if (up && request)
		note(flight, jsonrpc_peek_id(beginning));
	else if (!up && !request)
		forget(flight, jsonrpc_peek_id(beginning));
}

static void look_at_line(struct in_flight *flight, const struct passing_line *line, bool up)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct str text = buf_str(&line->beginning);
	const struct str *items;
	size_t count;

	arena_init(&arena, 0);
	if (line->cut)
		look_at_beginning(flight, text, up);
	else if (!jsonrpc_is_batch(text))
		look_at_message(flight, text, up, &arena);
	else if (jsonrpc_split(text, NULL, &arena, IN_FLIGHT_MAX, &items, &count, NULL) == 0)
		for (size_t i = 0; i < count; i++)
			look_at_message(flight, items[i], up, &arena);
}

static void line_add(struct passing_line *line, struct str bytes)
{
	size_t room = IN_FLIGHT_LINE - line->beginning.n;

	line->cut = line->cut || bytes.n > room;
	buf_append(&line->beginning, str_slice(bytes, 0, room));
}

static void line_reset(struct passing_line *line)
{
	buf_clear(&line->beginning, IN_FLIGHT_LINE);
	line->begun = line->cut = false;
}

static void pass(struct in_flight *flight, struct passing_line *line, struct str bytes, bool up)
{
	while (bytes.n) {
		size_t end = str_find_char(bytes, '\n');

		line->begun = true;
		line_add(line, str_slice(bytes, 0, end));
		if (end == STR_NONE)
			return;
		look_at_line(flight, line, up);
		line_reset(line);
		bytes = str_from(bytes, end + 1);
	}
}

void in_flight_up(struct in_flight *flight, struct str bytes)
{
	pass(flight, &flight->up, bytes, true);
}

void in_flight_down(struct in_flight *flight, struct str bytes)
{
	pass(flight, &flight->down, bytes, false);
}

/* -- the end --------------------------------------------------------------------------------------------- */

void in_flight_lost(struct in_flight *flight, struct buf *out, bool *ret_cut)
{
	*ret_cut = flight->up.begun;
	if (flight->up.begun)
		look_at_beginning(flight, buf_str(&flight->up.beginning), true);
	if (flight->down.begun)
		buf_append_char(out, '\n');
	for (size_t i = 0; i < flight->count; i++) {
		jsonrpc_write_error(out, flight->ids[i], MCP_INTERNAL_ERROR, LOST, STR(""));
		buf_append_char(out, '\n');
	}
	forget_all(flight);
	line_reset(&flight->up);
	line_reset(&flight->down);
}

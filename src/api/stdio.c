/*
 * The far end of `mcpx serve`: the command line asks for GET /v1/stdio with "Upgrade: mcpx-stdio", and from
 * then on copies its standard input and output to and from the connection, byte for byte. All of MCP happens
 * here, next to the hub.
 */
#include "base/base.h"
#include "api/api.h"
#include "api/caller.h"
#include "io/channel.h"
#include "mcp/stdio_server.h"
#include "settings/registry.h"
#include "settings/value.h"

#define STDIO_PROTOCOL "mcpx-stdio"

struct stdio_door {
	struct list_node node; /* in api->stdio_doors */
	struct api *api;
	struct api_door door;
	struct mcp_stdio_server stdio;
	struct hub_caller caller;
	struct arena arena; /* of the caller's texts */
	struct channel channel;
	struct deferred closing;
	bool own_session; /* the client named none: it is over with the channel */
	bool ended;	  /* the client asks for nothing more */
};

static void stdio_close(struct stdio_door *at)
{
	struct api *api = at->api;

	deferred_cancel(&at->closing);
	list_remove(&at->node);
	mcp_stdio_release(&at->stdio);
	if (at->own_session)
		(void)pool_end_session(api->hub->pool, at->caller.session);
	channel_release(&at->channel);
	door_release(&at->door);
	arena_release(&at->arena);
	loop_free_later(api->loop, at);
}

static void stdio_closing(struct deferred *deferred)
{
	struct stdio_door *at = container_of(deferred, struct stdio_door, closing);
	struct api *api = at->api;

	stdio_close(at);
	if (api->draining && list_empty(&api->stdio_doors))
		api->program.emptied(api->program.context);
}

/* Never at once: a callback of this very channel may be on the stack. */
static void stdio_close_later(struct stdio_door *at)
{
	loop_defer(at->api->loop, &at->closing, stdio_closing);
}

static void stdio_check(struct stdio_door *at)
{
	if (at->ended && at->stdio.session.call_count == 0 && at->channel.unsent.n == 0)
		stdio_close_later(at);
}

static int stdio_output(struct mcp_stdio_server *stdio, struct str line)
{
	struct stdio_door *at = container_of(stdio, struct stdio_door, stdio);

	at->api->last_use = loop_now(at->api->loop);
	return channel_write(&at->channel, line);
}

static void stdio_received(struct channel *channel, struct str bytes)
{
	struct stdio_door *at = container_of(channel, struct stdio_door, channel);

	at->api->last_use = loop_now(at->api->loop);
	mcp_stdio_feed(&at->stdio, bytes);
	/* It may have cancelled the last of its calls, which then has no answer. */
	stdio_check(at);
}

/* No more requests come: what still runs may finish and be read. */
static void stdio_end(struct stdio_door *at)
{
	at->ended = true;
	stdio_check(at);
}

/* The client closed its standard input. */
static void stdio_ended(struct channel *channel)
{
	stdio_end(container_of(channel, struct stdio_door, channel));
}

static void stdio_drained(struct channel *channel)
{
	struct stdio_door *at = container_of(channel, struct stdio_door, channel);

	stdio_check(at);
}

static void stdio_gone(struct channel *channel)
{
	stdio_close_later(container_of(channel, struct stdio_door, channel));
}

static const struct channel_events stdio_events = {
	.received = stdio_received,
	.ended = stdio_ended,
	.drained = stdio_drained,
	.gone = stdio_gone,
};

/* -- opening --------------------------------------------------------------------------------------------- */

static struct setting_items split_names(struct str names, struct arena *arena)
{
	struct str *items = arena_array(arena, struct str, names.n + 1);
	struct str name;
	size_t count = 0;

	while (names.n != SIZE_MAX && names.p && str_split(&names, ',', &name))
		if (name.n)
			items[count++] = name;
	return (struct setting_items){ items, count };
}

/* What the query asks for. */
struct stdio_wish {
	unsigned mode;	   /* CHOICE_SERVE_MODE_ */
	size_t page_items; /* of tools/list */
};

static struct stdio_door *stdio_new(struct api *api, struct http_request *request,
				    const struct stdio_wish *wish)
{
	struct stdio_door *at = xnew(struct stdio_door);
	struct setting_items passthrough =
		split_names(http_query(request, STR("passthrough")), &request->arena);

	at->api = api;
	arena_init(&at->arena, 0);
	at->caller = caller_for_session(request, &at->arena);
	at->own_session = !at->caller.session.n;
	if (at->own_session)
		at->caller.session = arena_printf(&at->arena, "%s-stdio-%llu", api->session_prefix,
						  (unsigned long long)++api->last_stdio_door);
	door_init(&at->door, api, wish->mode, passthrough);
	at->door.server.limits.page_items = wish->page_items;
	mcp_stdio_init(&at->stdio, &at->door.server, access_principal(&api->access, request), stdio_output,
		       at);
	at->stdio.session.peer = &at->caller;
	return at;
}

static void stdio_open(struct api *api, struct http_request *request, const struct stdio_wish *wish)
{
	struct stdio_door *at = stdio_new(api, request, wish);
	_cleanup_buf_ struct buf surplus = { 0 };
	struct err err;
	int fd;

	buf_init(&surplus, settings_bytes(api->settings, SETTING_HTTP_HEADER_LIMIT));
	list_append(&api->stdio_doors, &at->node);
	if (door_check(&at->door, &err) < 0) {
		api_respond_error(request, err.code == ERR_EXISTS ? 409 : 400, str_of(err.message), NULL, 0);
		stdio_close_later(at);
		return;
	}
	if (http_upgrade(request, STR(STDIO_PROTOCOL), NULL, 0, &fd, &surplus) < 0 ||
	    channel_start(&at->channel, api->loop, fd, settings_bytes(api->settings, SETTING_POOL_LINE_MAX),
			  &stdio_events, NULL) < 0)
		stdio_close_later(at);
	else if (surplus.n)
		mcp_stdio_feed(&at->stdio, buf_str(&surplus));
}

/* The first name in the query that is not one of ours; .p NULL: there is none. */
static struct str unknown_name(struct http_request *request)
{
	struct str query = request->query, pair;

	while (query.p && str_split(&query, '&', &pair)) {
		struct str name = str_slice(pair, 0, str_find_char(pair, '='));

		if (name.n && !str_eq(name, STR("mode")) && !str_eq(name, STR("passthrough")) &&
		    !str_eq(name, STR("pageSize")))
			return name;
	}
	return str_make(NULL, 0);
}

/* What it does not say is as the daemon's settings have it. */
static int read_wish(const struct api *api, struct http_request *request, struct stdio_wish *wish,
		     struct err *err)
{
	struct str mode = http_query(request, STR("mode")), size = http_query(request, STR("pageSize"));
	struct setting_value value;

	*wish = (struct stdio_wish){ settings_choice(api->settings, SETTING_SERVE_MODE),
				     (size_t)settings_int(api->settings, SETTING_MCP_PAGE_SIZE) };
	if (str_eq(mode, STR("full")))
		wish->mode = CHOICE_SERVE_MODE_FULL;
	else if (str_eq(mode, STR("code-mode")))
		wish->mode = CHOICE_SERVE_MODE_CODE_MODE;
	else if (mode.n)
		return err_set(err, ERR_INVALID, "mode must be code-mode or full");
	if (!size.n)
		return 0;
	if (setting_value_parse(&value, setting_declaration(SETTING_MCP_PAGE_SIZE), size, &request->arena,
				err) < 0)
		return err_prefix(err, ERR_INVALID, "pageSize");
	wish->page_items = (size_t)value.u.number;
	return 0;
}

void door_stdio_request(struct api *api, struct http_request *request)
{
	struct str unknown = unknown_name(request);
	struct stdio_wish wish;
	struct err err;

	if (!http_wants_upgrade(request, STR(STDIO_PROTOCOL)))
		api_respond_error(request, 426, STR("this route needs \"Upgrade: " STDIO_PROTOCOL "\""), NULL,
				  0);
	else if (unknown.p)
		api_respond_error(request, 400,
				  arena_concat(&request->arena, STR("this route has no input \""), unknown,
					       STR("\"; there are: mode, passthrough, pageSize")),
				  NULL, 0);
	else if (read_wish(api, request, &wish, &err) < 0)
		api_respond_error(request, 400, str_of(err.message), NULL, 0);
	else
		stdio_open(api, request, &wish);
}

void door_stdio_drain(struct api *api)
{
	struct stdio_door *at;

	list_for_each(at, &api->stdio_doors, node) {
		mcp_session_end_listens(&at->stdio.session);
		stdio_end(at);
	}
}

void door_stdio_close(struct api *api)
{
	while (!list_empty(&api->stdio_doors))
		stdio_close(list_first(&api->stdio_doors, struct stdio_door, node));
}

void door_stdio_tools_changed(struct api *api)
{
	struct stdio_door *at;

	list_for_each(at, &api->stdio_doors, node)
		door_tools_changed(&at->door);
}

#include "base/base.h"
#include "mcp/client.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/map.h"

enum { LISTING_FIRST = 64 };

static void listing_next(struct mcp_listing *listing, struct str cursor);

static void listing_finish(struct mcp_listing *listing, int code, const char *format, ...) _printf_(3, 4);

/* Ends it with an error, or, with code 0, well. */
static void listing_finish(struct mcp_listing *listing, int code, const char *format, ...)
{
	char text[ERR_MESSAGE_MAX];
	struct err err;
	va_list args;

	listing->client = NULL;
	if (code == 0) {
		listing->done(listing, NULL);
		return;
	}
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	err_set(&err, code, "%.*s: %s", STR_ARG(mcp_method_name(listing->method)), text);
	listing->done(listing, &err);
}

/* Room doubles, so that any number of pages costs at most twice what the items need. It is no part of the
 * arena, which would keep every array that became too small. */
static void listing_add(struct mcp_listing *listing, struct str item)
{
	if (listing->count == listing->room) {
		listing->room = size_max(listing->room * 2, LISTING_FIRST);
		listing->items = xrealloc(listing->items, listing->room * sizeof(*listing->items));
	}
	listing->items[listing->count++] = item;
}

/* Copies the page's array and keeps views of its elements. */
static int listing_take(struct mcp_listing *listing, struct str array, struct err *err)
{
	struct jsonrpc_elements elements;
	struct str item;

	if (array.n > listing->limits.bytes_max - listing->bytes)
		return err_set(err, ERR_TOO_LARGE, "the list is longer than %zu bytes",
			       listing->limits.bytes_max);
	listing->bytes += array.n;
	if (jsonrpc_elements(arena_copy(&listing->arena, array), NULL, &elements, err) < 0)
		return err_prefix(err, ERR_PROTOCOL, "page %u", listing->pages);
	while (jsonrpc_element(&elements, &item)) {
		if (listing->count == listing->limits.items_max)
			return err_set(err, ERR_TOO_LARGE, "page %u: the list has more than %zu items",
				       listing->pages, listing->limits.items_max);
		listing_add(listing, item);
	}
	return 0;
}

static void listing_take_hints(struct mcp_listing *listing, const struct jsonrpc_members *page,
			       struct arena *arena)
{
	int64_t ttl_ms = 0;

	if (str_to_i64(jsonrpc_member(page, STR("ttlMs")), &ttl_ms) < 0 || ttl_ms < 0)
		ttl_ms = 0;
	if (listing->pages == 1 || ttl_ms < listing->ttl_ms)
		listing->ttl_ms = ttl_ms;
	if (!str_eq(jsonrpc_member_str(page, STR("cacheScope"), arena), STR("public")))
		listing->cache_public = false;
}

static bool listing_saw(struct mcp_listing *listing, struct str cursor)
{
	uint64_t hash = hash_str(cursor, 0);

	for (unsigned i = 0; i + 1 < listing->pages; i++)
		if (listing->cursors[i] == hash)
			return true;
	listing->cursors[listing->pages - 1] = hash;
	return false;
}

/*
 * Only the absence of nextCursor ends a list (pagination, 2026-07-28). Legacy servers write null or "" at the
 * end, which their clients take for it.
 */
static void listing_follow(struct mcp_listing *listing, const struct json_member *cursor)
{
	bool legacy = mcp_era_of(listing->client->facts.revision) == MCP_LEGACY;

	if (!cursor || cursor->type == JSON_NULL || (legacy && str_eq(cursor->raw, STR("\"\""))))
		listing_finish(listing, 0, "%s", "");
	else if (cursor->type != JSON_STRING)
		listing_finish(listing, ERR_PROTOCOL, "page %u: nextCursor is no string", listing->pages);
	else if (listing_saw(listing, cursor->raw))
		listing_finish(listing, ERR_PROTOCOL, "the server gives the same cursor again after page %u",
			       listing->pages);
	else if (listing->pages == listing->limits.pages_max)
		listing_finish(listing, ERR_TOO_LARGE, "the list has more than %u pages",
			       listing->limits.pages_max);
	else
		listing_next(listing, cursor->raw);
}

static void listing_page(struct mcp_request *request, const struct mcp_answer *answer)
{
	struct mcp_listing *listing = request->owner;
	struct jsonrpc_members page;
	const struct json_member *items;
	_cleanup_arena_ struct arena arena = { 0 };
	struct err err;

	arena_init(&arena, 0);
	if (answer->code < 0) {
		listing->client = NULL;
		listing->done(listing, &answer->err);
		return;
	}
	listing->pages++;
	if (jsonrpc_members(answer->result, &arena, &page, &err) < 0) {
		listing_finish(listing, ERR_PROTOCOL, "page %u is no object", listing->pages);
		return;
	}
	items = jsonrpc_member_find(&page, mcp_method_row(listing->method)->list_member);
	if (!items || items->type != JSON_ARRAY) {
		listing_finish(listing, ERR_PROTOCOL, "page %u has no array \"%.*s\"", listing->pages,
			       STR_ARG(mcp_method_row(listing->method)->list_member));
		return;
	}
	if (listing_take(listing, items->raw, &err) < 0) {
		listing_finish(listing, err.code, "%s", err.message);
		return;
	}
	listing_take_hints(listing, &page, &arena);
	listing_follow(listing, jsonrpc_member_find(&page, STR("nextCursor")));
}

static void listing_next(struct mcp_listing *listing, struct str cursor)
{
	const struct json_member param = { .key = STR("cursor"), .raw = cursor };
	const struct mcp_message message = {
		.method = listing->method,
		.params = &param,
		.param_count = cursor.n ? 1 : 0,
	};

	mcp_request_start(&listing->request, listing->client, &message, &listing->limits.patience, NULL,
			  listing_page, listing);
}

void mcp_listing_start(struct mcp_listing *listing, struct mcp_client *client, enum mcp_method method,
		       const struct mcp_listing_limits *limits, mcp_listing_done *done, void *owner)
{
	BUG_ON(!mcp_method_row(method)->list_member.n || limits->pages_max == 0);
	*listing = (struct mcp_listing){
		.client = client,
		.method = method,
		.limits = *limits,
		.cache_public = true,
		.done = done,
		.owner = owner,
	};
	arena_init(&listing->arena, 0);
	listing->cursors = arena_array(&listing->arena, uint64_t, limits->pages_max);
	listing_next(listing, (struct str){ 0 });
}

void mcp_listing_release(struct mcp_listing *listing)
{
	mcp_request_cancel(&listing->request);
	arena_release(&listing->arena);
	free(listing->items);
	*listing = (struct mcp_listing){ 0 };
}

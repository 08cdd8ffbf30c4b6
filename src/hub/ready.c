/*
 * Waiting for lists. A server is ready when it has a snapshot, or when nothing is being done to get one: then it has failed, and says why in its
 * status. Asking for fresh lists begins a refresh of each and waits until none runs.
 */
#include "base/base.h"
#include "hub/hub.h"
#include "hub/refresh.h"

static bool ready_for(const struct hub_ready *ready, const struct hub_server *server)
{
	if (ready->only && ready->only != server)
		return true;
	return !server->refresh || (server->snapshot && !ready->fresh);
}

static void ready_deliver(struct deferred *deferred)
{
	struct hub_ready *ready = container_of(deferred, struct hub_ready, later);

	hub_ready_cancel(ready);
	ready->done(ready);
}

static void ready_check(struct hub_ready *ready)
{
	struct hub_server *server;

	list_for_each(server, &ready->hub->servers, node)
		if (!ready_for(ready, server))
			return;
	loop_defer(ready->hub->loop, &ready->later, ready_deliver);
}

void hub_check_readies(struct hub *hub)
{
	struct hub_ready *ready;

	list_for_each(ready, &hub->readies, node)
		ready_check(ready);
}

static void ready_expired(struct timer *timer)
{
	struct hub_ready *ready = container_of(timer, struct hub_ready, deadline);

	loop_defer(ready->hub->loop, &ready->later, ready_deliver);
}

static void ready_ask(const struct hub_ready *ready, bool fresh)
{
	struct hub_server *server;

	list_for_each(server, &ready->hub->servers, node)
		if ((!ready->only || ready->only == server) && (fresh || !server->snapshot))
			refresh_begin(server, NULL);
}

void ready_ask_again(struct hub *hub)
{
	struct hub_ready *ready;

	list_for_each(ready, &hub->readies, node)
		ready_ask(ready, false);
	hub_check_readies(hub);
}

void hub_ready_start(struct hub_ready *ready, struct hub *hub, struct hub_server *only, bool fresh,
		     uint64_t deadline_ms, void (*done)(struct hub_ready *ready), void *owner)
{
	*ready = (struct hub_ready){ .hub = hub, .only = only, .fresh = fresh, .done = done, .owner = owner };
	list_append(&hub->readies, &ready->node);
	timer_start(&ready->deadline, hub->loop, deadline_ms, ready_expired);
	ready_ask(ready, fresh);
	ready_check(ready);
}

void hub_ready_cancel(struct hub_ready *ready)
{
	if (!ready->hub || !ready->node.next)
		return;
	deferred_cancel(&ready->later);
	timer_stop(&ready->deadline);
	list_remove(&ready->node);
}

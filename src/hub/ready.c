/*
 * Waiting for lists. A server is ready when it has a snapshot, or when nothing is being done to get one, or
 * when what was done last failed: then its status says why. Asking for fresh lists begins a refresh of each
 * and waits until none runs.
 */
#include "base/base.h"
#include "hub/ready.h"
#include "hub/hub.h"
#include "hub/refresh.h"

/* "files", or "files.read_file": a tool of it is wanted, so its list is. */
static bool begins_with(struct str wanted, struct str name)
{
	return str_starts_with(wanted, name) && (wanted.n == name.n || wanted.p[name.n] == '.');
}

static bool is_wanted(const struct hub_ready *ready, const struct hub_server *server)
{
	struct str rest = ready->wait.only, name;

	if (!rest.n)
		return true;
	while (str_split(&rest, ',', &name))
		if (begins_with(str_trim(name), server->namespace) ||
		    begins_with(str_trim(name), server->name))
			return true;
	return false;
}

static bool ready_for(const struct hub_ready *ready, const struct hub_server *server)
{
	if (!server->refresh || !is_wanted(ready, server))
		return true;
	if (ready->wait.fresh)
		return false;
	return server->snapshot || server->refresh_failures ||
	       (server->waited_ms >= ready->wait.deadline_ms && !ready->wait.only.n);
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
	struct hub_server *server;

	list_for_each(server, &ready->hub->servers, node)
		if (!ready_for(ready, server) && server->waited_ms < ready->wait.deadline_ms)
			server->waited_ms = ready->wait.deadline_ms;
	loop_defer(ready->hub->loop, &ready->later, ready_deliver);
}

static void ready_ask(const struct hub_ready *ready, bool fresh)
{
	struct hub_server *server;

	list_for_each(server, &ready->hub->servers, node) {
		if (!is_wanted(ready, server) || (!fresh && server->snapshot))
			continue;
		if (fresh || !server->refresh)
			refresh_begin(server, NULL);
		refresh_hurry(server, ready->wait.only.n);
	}
}

void ready_ask_again(struct hub *hub)
{
	struct hub_ready *ready;

	list_for_each(ready, &hub->readies, node)
		ready_ask(ready, false);
	hub_check_readies(hub);
}

void hub_ready_start(struct hub_ready *ready, struct hub *hub, const struct hub_wait *wait,
		     void (*done)(struct hub_ready *ready), void *owner)
{
	*ready = (struct hub_ready){ .hub = hub, .wait = *wait, .done = done, .owner = owner };
	list_append(&hub->readies, &ready->node);
	timer_start(&ready->deadline, hub->loop, wait->deadline_ms, ready_expired);
	ready_ask(ready, wait->fresh);
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

#include "base/base.h"
#include "io/http_server.h"

#include "io/http_connection.h"

#include <errno.h>

/* Listeners, accepting and draining. A listener stops watching its socket while it may not or cannot accept:
 * at its maximum of connections, and for want of descriptors, when the kernel would report it readable again
 * and again. */

enum { ACCEPTS_PER_TURN = 16 };

static void listener_ready(struct watch *watch, unsigned events);

struct http_parser *http_server_new_parser(const struct http_server *server)
{
	struct http_parser_limits limits = {
		.header_bytes = server->limits.header_bytes,
		.target_bytes = server->limits.target_bytes,
		.header_fields = server->limits.header_fields,
	};

	return http_parser_new(&limits);
}

int http_server_new(struct http_server **ret_server, struct loop *loop, const struct http_limits *limits,
		    const struct http_handler *handler, struct err *err)
{
	struct http_server *server;

	if (limits->header_bytes == 0 || limits->header_bytes > INT32_MAX || limits->connections == 0 ||
	    limits->unsent_bytes == 0)
		return err_set(
			err, ERR_INVALID,
			"the HTTP server needs limits over 0 for header bytes (below 2 GiB), connections and "
			"unsent bytes");
	server = xnew(struct http_server);
	server->loop = loop;
	server->limits = *limits;
	server->handler = *handler;
	list_init(&server->listeners);
	list_init(&server->connections);
	server->scratch = xmalloc(HTTP_SCRATCH);
	server->spare_parser = http_server_new_parser(server);
	buf_init(&server->head, HTTP_HEAD_MAX);
	*ret_server = server;
	return 0;
}

unsigned http_server_connections(const struct http_server *server)
{
	return server->connection_count;
}

uint64_t http_server_accept_pauses(const struct http_server *server)
{
	return server->accept_pauses;
}

/* -- listening ------------------------------------------------------------------------------------------- */

static void listener_watch(struct http_listener *listener)
{
	bool full = listener->connections >= listener->server->limits.connections;

	watch_set(&listener->watch, full || timer_running(&listener->retry) ? 0 : WATCH_READ);
}

static void listener_retry(struct timer *timer)
{
	listener_watch(container_of(timer, struct http_listener, retry));
}

static void listener_pause(struct http_listener *listener)
{
	struct http_server *server = listener->server;

	server->accept_pauses++;
	timer_start(&listener->retry, server->loop, server->limits.accept_retry_ms, listener_retry);
}

/* True when there may be another connection to accept. */
static bool listener_accept(struct http_listener *listener)
{
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	socklen_t n = sizeof(address);
	int fd = accept4(listener->fd, (struct sockaddr *)&address, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0) {
		http_connection_new(listener, fd, &address);
		return true;
	}
	/* The first two: the peer has gone, or a signal came. Of the others only the lack of descriptors or
	 * memory is expected, and any one would come again at once. */
	if (errno == ECONNABORTED || errno == EINTR)
		return true;
	if (errno != EAGAIN)
		listener_pause(listener);
	return false;
}

static void listener_ready(struct watch *watch, unsigned events)
{
	struct http_listener *listener = container_of(watch, struct http_listener, watch);

	(void)events;
	for (int i = 0; i < ACCEPTS_PER_TURN; i++)
		if (listener->connections >= listener->server->limits.connections ||
		    !listener_accept(listener))
			break;
	listener_watch(listener);
}

int http_server_listen(struct http_server *server, int fd, bool local, struct err *err)
{
	struct http_listener *listener = xnew(struct http_listener);

	listener->server = server;
	listener->fd = fd;
	listener->local = local;
	if (watch_start(&listener->watch, server->loop, fd, WATCH_READ, listener_ready, err) < 0) {
		free(listener);
		close_fd(&fd);
		return err ? err->code : ERR_IO;
	}
	list_append(&server->listeners, &listener->node);
	return 0;
}

static void listener_close(struct http_listener *listener)
{
	struct http_server *server = listener->server;
	struct http_connection *c;

	list_for_each(c, &server->connections, node)
		if (c->listener == listener)
			c->listener = NULL;
	watch_stop(&listener->watch);
	timer_stop(&listener->retry);
	close_fd(&listener->fd);
	list_remove(&listener->node);
	loop_free_later(server->loop, listener);
}

static void close_listeners(struct http_server *server)
{
	while (!list_empty(&server->listeners))
		listener_close(list_first(&server->listeners, struct http_listener, node));
}

void http_server_unlisten_local(struct http_server *server)
{
	struct http_listener *listener;

	list_for_each(listener, &server->listeners, node)
		if (listener->local)
			listener_close(listener);
}

/* -- ending ---------------------------------------------------------------------------------------------- */

static void call_drained(struct deferred *later)
{
	struct http_server *server = container_of(later, struct http_server, drained_later);

	server->drained(server->drained_context);
}

static void check_drained(struct http_server *server)
{
	if (!server->drained || server->connection_count)
		return;
	timer_stop(&server->grace);
	loop_defer(server->loop, &server->drained_later, call_drained);
}

void http_server_closed(struct http_server *server, struct http_listener *listener)
{
	server->connection_count--;
	if (listener) {
		listener->connections--;
		/* Its descriptor is free for the next. */
		timer_stop(&listener->retry);
		listener_watch(listener);
	}
	check_drained(server);
}

/* A callback may free others, so that each is looked for anew. */
static void drop_all(struct http_server *server)
{
	while (!list_empty(&server->connections))
		http_connection_drop(list_first(&server->connections, struct http_connection, node));
}

static void linger_over(struct timer *timer)
{
	drop_all(container_of(timer, struct http_server, grace));
}

/* A callback may free others, so that after each one everything is looked through anew. */
static void refuse_all(struct http_server *server, bool incomplete_only)
{
	struct http_connection *c;
	bool again = true;

	while (again) {
		again = false;
		list_for_each(c, &server->connections, node)
			if ((again = http_connection_refuse(c, incomplete_only)))
				break;
	}
}

void http_server_refuse_incomplete(struct http_server *server)
{
	refuse_all(server, true);
}

/* Answers that are on their way have the same time as those that are given now. */
static void grace_over(struct timer *timer)
{
	struct http_server *server = container_of(timer, struct http_server, grace);

	timer_start(timer, server->loop, server->limits.linger_ms, linger_over);
	refuse_all(server, false);
}

void http_server_drain(struct http_server *server, uint64_t grace_ms, void (*drained)(void *context),
		       void *context)
{
	struct http_connection *c;

	server->draining = true;
	server->drained = drained;
	server->drained_context = context;
	close_listeners(server);
	timer_start(&server->grace, server->loop, grace_ms, grace_over);
	list_for_each(c, &server->connections, node)
		if (http_connection_is_between(c))
			http_connection_drop(c);
	check_drained(server);
}

void http_server_free(struct http_server **ret_server)
{
	struct http_server *server = *ret_server;

	if (!server)
		return;
	*ret_server = NULL;
	server->drained = NULL;
	close_listeners(server);
	drop_all(server);
	timer_stop(&server->grace);
	deferred_cancel(&server->drained_later);
	http_parser_free(&server->spare_parser);
	buf_release(&server->head);
	loop_free_later(server->loop, server->scratch);
	loop_free_later(server->loop, server);
}

#include "base/base.h"
#include "io/http_connection.h"

#include "base/units.h"
#include "io/http_target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>

static void connection_ready(struct watch *watch, unsigned events);
static void connection_run(struct http_connection *c, struct str input);
static void set_read_timer(struct http_connection *c);

/* -- life ------------------------------------------------------------------------------------------------ */

static void peer_from_unix(struct http_connection *c)
{
	struct ucred credentials = { .uid = (uid_t)-1 };
	socklen_t n = sizeof(credentials);

	/* It cannot fail on a connected unix socket; if it did, the uid would be nobody's. */
	(void)getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n);
	c->peer.local = true;
	c->peer.uid = credentials.uid;
	c->peer.pid = credentials.pid;
}

static void peer_from_tcp(struct http_connection *c, const struct sockaddr_storage *address)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
	char host[INET6_ADDRSTRLEN] = "";
	int on = 1;

	(void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (address->ss_family == AF_INET6 && inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host)))
		snprintf(c->address, sizeof(c->address), "[%s]:%u", host, ntohs(v6->sin6_port));
	else if (inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host)))
		snprintf(c->address, sizeof(c->address), "%s:%u", host, ntohs(v4->sin_port));
	c->peer.address = str_of(c->address);
}

void http_connection_new(struct http_listener *listener, int fd, const struct sockaddr_storage *address)
{
	struct http_server *server = listener->server;
	struct http_connection *c = xnew(struct http_connection);

	c->server = server;
	c->listener = listener;
	c->fd = fd;
	if (listener->local)
		peer_from_unix(c);
	else
		peer_from_tcp(c, address);
	buf_init(&c->kept, server->limits.header_bytes + HTTP_KEPT_BEYOND_HEAD);
	http_output_init(&c->output);
	list_append(&server->connections, &c->node);
	server->connection_count++;
	listener->connections++;
	if (watch_start(&c->watch, server->loop, fd, WATCH_READ | WATCH_HANGUP, connection_ready, NULL) < 0) {
		http_connection_drop(c);
		return;
	}
	set_read_timer(c);
}

static void give_parser_back(struct http_connection *c)
{
	struct http_server *server = c->server;

	if (!server->spare_parser)
		server->spare_parser = take_ptr(c->parser);
	http_parser_free(&c->parser);
}

static void request_release(struct http_connection *c)
{
	arena_release(&c->request.arena);
	http_body_release(&c->body);
}

static void connection_close(struct http_connection *c)
{
	c->state = CONNECTION_CLOSED;
	watch_stop(&c->watch);
	timer_stop(&c->read_timer);
	timer_stop(&c->write_timer);
	deferred_cancel(&c->later);
	close_fd(&c->fd);
	give_parser_back(c);
	request_release(c);
	buf_release(&c->kept);
	http_output_release(&c->output);
	list_remove(&c->node);
	http_server_closed(c->server, c->listener);
	loop_free_later(c->server->loop, c);
}

/* The request ends without an answer. */
void http_connection_tell_gone(struct http_connection *c)
{
	void (*gone)(struct http_request *request) = c->request.gone;

	if (c->state != CONNECTION_REQUEST || c->answer == ANSWER_GIVEN)
		return;
	c->answer = ANSWER_GIVEN;
	c->stream = NULL;
	if (gone)
		gone(&c->request);
}

bool http_connection_is_between(const struct http_connection *c)
{
	return c->state == CONNECTION_IDLE && c->kept.n == 0;
}

void http_connection_drop(struct http_connection *c)
{
	if (c->state == CONNECTION_CLOSED)
		return;
	http_connection_tell_gone(c);
	/* The handler may have freed the whole server. */
	if (c->state != CONNECTION_CLOSED)
		connection_close(c);
}

bool http_connection_refuse(struct http_connection *c, bool incomplete_only)
{
	bool unanswered = c->state == CONNECTION_REQUEST && c->answer == ANSWER_NONE;

	if (c->state != CONNECTION_HEAD && (!unanswered || (incomplete_only && c->body.complete)))
		return false;
	http_answer_refuse(c, 503, "The server is shutting down.");
	return true;
}

void http_connection_release_fd(struct http_connection *c, int *ret_fd)
{
	watch_stop(&c->watch);
	c->answer = ANSWER_GIVEN;
	*ret_fd = take_fd(&c->fd);
	http_connection_drop(c);
}

/* -- requests -------------------------------------------------------------------------------------------- */

static void request_fill(struct http_connection *c, const struct http_head *head, struct str text)
{
	struct http_request *request = &c->request;
	struct http_field *fields = arena_array(&request->arena, struct http_field, head->field_count);

	for (size_t i = 0; i < head->field_count; i++)
		fields[i] = http_parser_field(c->parser, text, i);
	request->method = head->method;
	request->target = head->target;
	request->fields = fields;
	request->field_count = head->field_count;
	request->body_length = head->chunked ? UINT64_MAX : head->length;
	request->has_body = request->body_length > 0;
	request->peer = &c->peer;
	request->connection = c;
	http_target_split(head->target, &request->arena, &request->path, &request->query);
}

/* The head is complete at the front of the input. The request gets a copy of it. */
static void request_begin(struct http_connection *c)
{
	size_t n = http_parser_head(c->parser, c->input).bytes;
	struct http_head head;
	struct str text;

	c->request = (struct http_request){ .owner = NULL };
	arena_init(&c->request.arena, 0);
	text = arena_copy(&c->request.arena, str_slice(c->input, 0, n));
	head = http_parser_head(c->parser, text);
	request_fill(c, &head, text);
	http_body_begin(&c->body, &head);
	give_parser_back(c);
	c->input = str_from(c->input, n);
	c->state = CONNECTION_REQUEST;
	c->answer = ANSWER_NONE;
	c->minor = head.minor;
	c->keep_alive = head.keep_alive;
	c->head_only = str_eq(head.method, STR("HEAD"));
	c->close_after = c->must_linger = false;
	c->half_closed = false;
	timer_stop(&c->read_timer);
	c->waiting = WAITING_NOTHING;
}

static bool take_head(struct http_connection *c)
{
	struct http_server *server = c->server;

	if (!c->parser) {
		c->parser = take_ptr(server->spare_parser);
		if (!c->parser)
			c->parser = http_server_new_parser(server);
		http_parser_reset(c->parser);
	}
	switch (http_parser_feed(c->parser, c->input)) {
	case HTTP_PARSE_MORE:
		break;
	case HTTP_PARSE_REFUSED:
		http_answer_refuse(c, http_parser_status(c->parser), http_parser_problem(c->parser));
		return true;
	case HTTP_PARSE_DONE:
		request_begin(c);
		server->handler.request(server->handler.context, &c->request);
		return true;
	}
	return false;
}

static void linger_begin(struct http_connection *c)
{
	(void)shutdown(c->fd, SHUT_WR);
	give_parser_back(c);
	c->state = CONNECTION_LINGER;
}

/* Whether another request may follow. A server that drains, and said so too late for this answer, still
 * answers what has come; what comes later over a unix connection is left to is_parting(). */
static bool goes_on(const struct http_connection *c)
{
	return !c->close_after && (!c->server->draining || c->input.n || c->peer.local);
}

/* The answer is written. True when the connection goes on. */
static bool request_end(struct http_connection *c)
{
	bool unread = !c->body.complete || c->input.n || c->must_linger;
	bool more_may_come = unread || !c->half_closed;

	request_release(c);
	if (goes_on(c)) {
		c->state = CONNECTION_IDLE;
		return true;
	}
	/* A close with unread input would reset the connection, and a peer that writes something more (node
	 * does: an empty piece) would be told of a broken pipe: it might never see the answer. So one side is
	 * closed first (RFC 9112, section 9.6). */
	if (more_may_come)
		linger_begin(c);
	else
		connection_close(c);
	return true;
}

static bool request_step(struct http_connection *c)
{
	if (c->broken) {
		http_connection_drop(c);
		return false;
	}
	if (http_stream_written(c) || http_body_step(c))
		return true;
	if (c->state != CONNECTION_REQUEST || c->answer != ANSWER_GIVEN || !http_output_empty(&c->output))
		return false;
	return (c->body.complete || c->close_after) && request_end(c);
}

/* -- running --------------------------------------------------------------------------------------------- */

/* Does the next thing that can be done without waiting. False when there is none. */
static bool connection_step(struct http_connection *c)
{
	switch (c->state) {
	case CONNECTION_IDLE:
		if (c->input.n == 0)
			return false;
		c->state = CONNECTION_HEAD;
		_fallthrough_;
	case CONNECTION_HEAD:
		return take_head(c);
	case CONNECTION_REQUEST:
		return request_step(c);
	case CONNECTION_LINGER:
		c->input = str_make(NULL, 0);
		return false;
	case CONNECTION_CLOSED:
		break;
	}
	return false;
}

static bool wants_input(const struct http_connection *c)
{
	switch (c->state) {
	case CONNECTION_IDLE:
	case CONNECTION_HEAD:
		/* More than that is there when pipelined requests wait for their turn. */
		return c->kept.n <= c->server->limits.header_bytes;
	case CONNECTION_REQUEST:
		return http_body_wants_input(&c->body);
	case CONNECTION_LINGER:
		return true;
	case CONNECTION_CLOSED:
		break;
	}
	return false;
}

/* What was not used stays with the connection. `c->input` is the end of `kept`, or is in the scratch
 * buffer. */
static void keep_input(struct http_connection *c)
{
	if (c->input.n == 0)
		buf_clear(&c->kept, 0);
	else if (c->kept.n)
		buf_drop(&c->kept, c->kept.n - c->input.n);
	else
		BUG_ON(buf_append(&c->kept, c->input) < 0);
	c->input = str_make(NULL, 0);
}

/* The server began to drain behind an answer that promised to go on. What the peer sends now is left unread:
 * closing a unix connection then resets it, which says that nobody heard, behind the answer. */
static bool is_parting(const struct http_connection *c)
{
	return c->server->draining && http_connection_is_between(c);
}

static enum http_waiting waits_for(const struct http_connection *c)
{
	switch (c->state) {
	case CONNECTION_IDLE:
		return WAITING_REQUEST;
	case CONNECTION_HEAD:
		return WAITING_HEAD;
	case CONNECTION_REQUEST:
		return http_body_wants_input(&c->body) ? WAITING_BODY : WAITING_NOTHING;
	case CONNECTION_LINGER:
		return WAITING_LINGER;
	case CONNECTION_CLOSED:
		break;
	}
	return WAITING_NOTHING;
}

static void read_timed_out(struct timer *timer)
{
	struct http_connection *c = container_of(timer, struct http_connection, read_timer);
	enum http_waiting waited = c->waiting;

	c->waiting = WAITING_NOTHING;
	if (waited == WAITING_HEAD)
		http_answer_refuse(c, 408, "The header of the request did not arrive in time.");
	else if (waited == WAITING_BODY)
		http_answer_refuse(c, 408, "The body of the request did not arrive in time.");
	else
		http_connection_drop(c);
	connection_run(c, buf_str(&c->kept));
}

/* How long the next bytes of the body may take. What has come so far earns time at the rate that is asked
 * for, so that neither many small pieces nor few large ones keep a request open for ever, and a large body
 * may take as long as it needs. */
static uint64_t body_patience(const struct http_connection *c)
{
	const struct http_limits *limits = &c->server->limits;
	uint64_t earned;

	if (limits->body_rate == 0)
		return limits->body_ms;
	earned = limits->body_ms + c->body.taken / limits->body_rate * MS_PER_SECOND;
	if (earned <= c->body.waited_ms)
		return 0;
	return earned - c->body.waited_ms < limits->body_ms ? earned - c->body.waited_ms : limits->body_ms;
}

static uint64_t patience(const struct http_connection *c, enum http_waiting waiting)
{
	const struct http_limits *limits = &c->server->limits;

	switch (waiting) {
	case WAITING_REQUEST:
		return c->server->draining ? limits->linger_ms : limits->idle_ms;
	case WAITING_HEAD:
		return limits->header_ms;
	case WAITING_BODY:
		return body_patience(c);
	case WAITING_LINGER:
		return limits->linger_ms;
	case WAITING_NOTHING:
		break;
	}
	return 0;
}

static void set_read_timer(struct http_connection *c)
{
	uint64_t now = loop_now(c->server->loop);
	enum http_waiting waiting = waits_for(c);
	bool again = waiting == WAITING_BODY && c->arrived;

	c->arrived = false;
	if (waiting == c->waiting && !again)
		return;
	if (c->waiting == WAITING_BODY)
		c->body.waited_ms += now - c->waits_since;
	c->waiting = waiting;
	c->waits_since = now;
	if (waiting == WAITING_NOTHING)
		timer_stop(&c->read_timer);
	else
		timer_start(&c->read_timer, c->server->loop, patience(c, waiting), read_timed_out);
}

void http_connection_watch(struct http_connection *c)
{
	bool wants = wants_input(c);
	unsigned events = http_output_empty(&c->output) ? 0 : WATCH_WRITE;

	if (wants)
		c->ignores_input = false;
	if (!c->ignores_input)
		events |= WATCH_READ;
	events |= c->half_closed ? WATCH_GONE : WATCH_HANGUP;
	watch_set(&c->watch, events);
}

/* Goes on as far as possible. `input` is everything that was read and not used. */
static void connection_run(struct http_connection *c, struct str input)
{
	unsigned turns = 0;

	c->input = input;
	c->running = true;
	while (turns < HTTP_REQUESTS_PER_TURN && connection_step(c))
		turns += c->state == CONNECTION_IDLE;
	c->running = false;
	if (c->state == CONNECTION_CLOSED)
		return;
	keep_input(c);
	if (turns == HTTP_REQUESTS_PER_TURN)
		http_connection_wake(c);
	http_connection_watch(c);
	set_read_timer(c);
}

static void connection_run_later(struct deferred *later)
{
	struct http_connection *c = container_of(later, struct http_connection, later);

	connection_run(c, buf_str(&c->kept));
}

void http_connection_wake(struct http_connection *c)
{
	if (!c->running && c->state != CONNECTION_CLOSED)
		loop_defer(c->server->loop, &c->later, connection_run_later);
}

void http_connection_answered(struct http_connection *c)
{
	c->answer = ANSWER_GIVEN;
	c->body.delivered = true;
	if (!c->body.complete)
		c->body.mode = c->close_after ? BODY_REFUSED : BODY_DISCARD;
	http_connection_watch(c);
	http_connection_wake(c);
}

/* -- events ---------------------------------------------------------------------------------------------- */

/* Whether the peer, which sends no more, may be waiting for an answer; http_server.h says when that can be
 * known. */
static bool may_be_waiting(const struct http_connection *c)
{
	/* Between requests, only if there is more to be used than is read ahead. */
	if (c->state != CONNECTION_REQUEST)
		return c->state != CONNECTION_LINGER && !wants_input(c);
	/* Writing will tell. */
	if (c->answer == ANSWER_GIVEN)
		return true;
	return c->peer.local || (c->answer == ANSWER_NONE && c->minor == 1);
}

/* The peer sends no more than what is there to be read. */
static void peer_hung_up(struct http_connection *c)
{
	char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";

	if (!may_be_waiting(c)) {
		http_connection_drop(c);
		return;
	}
	c->half_closed = true;
	if (!c->peer.local && c->state == CONNECTION_REQUEST && c->answer == ANSWER_NONE)
		http_output_send(c, &(struct iovec){ interim, sizeof(interim) - 1 }, 1, false);
	http_connection_watch(c);
}

/* There is nothing more to read. */
static void input_ended(struct http_connection *c)
{
	if (c->state != CONNECTION_REQUEST || c->answer != ANSWER_GIVEN) {
		http_connection_drop(c);
		return;
	}
	/* The rest of the body, which was to be dropped, will not come. */
	c->body.mode = BODY_REFUSED;
	c->close_after = true;
	peer_hung_up(c);
	http_connection_wake(c);
}

static struct str add_input(struct http_connection *c, struct str bytes)
{
	if (c->kept.n == 0 || c->state == CONNECTION_LINGER)
		return bytes;
	BUG_ON(buf_append(&c->kept, bytes) < 0);
	return buf_str(&c->kept);
}

/* Reads once; true when there is probably more. */
static bool receive(struct http_connection *c)
{
	char *scratch = c->server->scratch;
	ssize_t n = recv(c->fd, scratch, HTTP_SCRATCH, 0);

	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			http_connection_drop(c);
		return false;
	}
	if (n == 0) {
		input_ended(c);
		return false;
	}
	c->arrived = true;
	connection_run(c, add_input(c, str_make(scratch, (size_t)n)));
	return n == HTTP_SCRATCH;
}

static void connection_ready(struct watch *watch, unsigned events)
{
	struct http_connection *c = container_of(watch, struct http_connection, watch);
	int reads = 0;

	if (events & WATCH_WRITE) {
		http_output_flush(c);
		connection_run(c, buf_str(&c->kept));
	}
	/* What was read before is about to be used, and comes before what is to be read now and before its
	 * end. All that is ready is reported again. */
	if (c->kept.n && deferred_pending(&c->later))
		return;
	if (is_parting(c)) {
		http_connection_drop(c);
		return;
	}
	if ((events & WATCH_READ) && wants_input(c)) {
		/* A hang-up is found at the end of what can be read, or reported again. */
		while (reads++ < HTTP_READS_PER_TURN && wants_input(c) && !is_parting(c) && receive(c))
			;
		return;
	}
	if (c->state == CONNECTION_CLOSED)
		return;
	if (events & WATCH_READ)
		c->ignores_input = true;
	http_connection_watch(c);
	if (events & WATCH_GONE)
		http_connection_drop(c);
	else if (events & WATCH_HANGUP)
		peer_hung_up(c);
}

/*
 * A child that speaks MCP. The two have one end: whatever goes wrong first is kept as the reason, the client
 * is closed with it, the child is ended, and `ended` is called when the child is really gone.
 */
#include "base/base.h"
#include "hub/instance.h"
#include "hub/last_words.h"
#include "base/units.h"

static struct instance *instance_of_child(struct child *child)
{
	return container_of(child, struct instance, child);
}

static void instance_blame(struct instance *instance, int code, const char *what)
{
	_cleanup_arena_ struct arena arena = { 0 };

	if (instance->ended.code)
		return;
	arena_init(&arena, 0);
	err_set(&instance->ended, code, "server %.*s %s; %.*s", STR_ARG(instance->definition->name), what,
		STR_ARG(last_words_quote(child_stderr(&instance->child), &arena)));
}

static void instance_free(struct instance *instance)
{
	mcp_client_release(&instance->client);
	arena_release(&instance->arena);
	loop_free_later(instance->loop, instance);
}

void instance_hold(struct instance *instance)
{
	instance->holders++;
}

void instance_drop(struct instance **held)
{
	struct instance *instance = *held;

	*held = NULL;
	if (!instance)
		return;
	BUG_ON(instance->holders == 0);
	if (--instance->holders == 0 && instance->state == INSTANCE_ENDED)
		instance_free(instance);
}

/* -- the client on the pipes ----------------------------------------------------------------------------- */

static int instance_send(struct mcp_transport *transport, struct str line)
{
	struct instance *instance = container_of(transport, struct instance, transport);
	int code = child_write(&instance->child, line);

	/* It has closed its stdin: what was sent before may still be answered, but nobody else can use it. */
	if (code == ERR_CLOSED && instance->state == INSTANCE_READY)
		instance->retired = "it takes no more messages";
	return code;
}

static size_t instance_unread(struct mcp_transport *transport)
{
	return child_unsent(&container_of(transport, struct instance, transport)->child);
}

static void instance_notified(struct mcp_client *client, enum mcp_method method,
			      const struct jsonrpc_message *message)
{
	struct instance *instance = client->owner;

	instance->events->notified(instance, method, message);
}

static const struct mcp_client_events instance_client_events = { .notification = instance_notified };

static void instance_stop_timers(struct instance *instance)
{
	timer_stop(&instance->doubt);
	timer_stop(&instance->mute);
	timer_stop(&instance->choking);
}

/* Begins the stop ladder. Why is in instance->ended already. */
static void instance_end(struct instance *instance)
{
	instance->state = INSTANCE_STOPPING;
	instance_stop_timers(instance);
	mcp_open_cancel(&instance->open);
	mcp_client_closed(&instance->client, &instance->ended);
	child_stop(&instance->child);
}

/* The same for one that is to blame. */
static void instance_give_up(struct instance *instance, int code, const char *what)
{
	instance_blame(instance, code, what);
	instance_end(instance);
	instance->failed = !instance->was_ready;
	if (instance->failed)
		instance->events->failed(instance);
}

static void instance_opened(struct mcp_open *open, const struct err *err)
{
	struct instance *instance = container_of(open, struct instance, open);
	char what[ERR_MESSAGE_MAX + sizeof("did not start: ")], waited[DURATION_TEXT_MAX];

	if (!err) {
		instance->state = INSTANCE_READY;
		instance->was_ready = true;
		instance->events->opened(instance);
		return;
	}
	/* The process has ended: instance_exited(), which told us, has the reason and decides. */
	if (instance->client.closed)
		return;
	/* It has closed its stdin. Most likely it is ending, and how it ends says more. */
	if (err->code == ERR_CLOSED) {
		instance->shut = true;
		timer_stop(&instance->mute);
		child_stop(&instance->child);
		return;
	}
	/* Which of its messages was left unanswered, and what was left of the time then, would only
	 * mislead. */
	if (err->code == ERR_TIMEOUT)
		snprintf(what, sizeof(what),
			 "did not start: no answer to the handshake within %.*s (pool.startTimeout)",
			 STR_ARG(duration_text(waited, instance->definition->start_ms)));
	else
		snprintf(what, sizeof(what), "did not start: %s", err->message);
	instance_give_up(instance, err->code, what);
}

static void instance_init_client(struct instance *instance)
{
	const struct instance_definition *d = instance->definition;
	const struct mcp_client_limits limits = {
		.message_max = d->line_max,
		.message_setting = STR("pool.lineMax"),
		.depth_max = d->depth_max,
		.requests_max = d->requests_max,
		.batch_max = d->batch_max,
		.noise_keep = d->noise_keep,
	};

	mcp_client_init(&instance->client, instance->loop, &instance->transport, &limits,
			&instance_client_events, instance);
}

static void instance_open(struct instance *instance)
{
	const struct instance_definition *d = instance->definition;
	const struct mcp_open_options options = {
		.order = instance->restarted ? MCP_FORCE_INITIALIZE : d->order,
		.legacy_revision = MCP_LATEST_LEGACY,
		.client_info = d->client_info,
		.capabilities = STR("{}"),
		.probe_ms = d->probe_ms,
		.open_ms = d->start_ms,
		.open_setting = STR("pool.startTimeout"),
	};

	mcp_open_start(&instance->open, &instance->client, &options, instance_opened, instance);
}

/* -- the process ----------------------------------------------------------------------------------------- */

static void instance_is_choked(struct timer *timer)
{
	struct instance *instance = container_of(timer, struct instance, choking);
	char what[ERR_MESSAGE_MAX];

	snprintf(what, sizeof(what), "writes a line without end, of more than %zu bytes (pool.lineMax)",
		 instance->client.limits.message_max);
	instance_give_up(instance, ERR_TOO_LARGE, what);
}

static void instance_output(struct child *child, struct str line, bool too_long)
{
	struct instance *instance = instance_of_child(child);

	if (too_long && instance->state <= INSTANCE_READY) {
		instance->choked = true;
		timer_start(&instance->choking, instance->loop, instance->definition->close_ms,
			    instance_is_choked);
	}
	mcp_client_receive(&instance->client, line, too_long);
}

static void instance_long_line_ended(struct child *child)
{
	struct instance *instance = instance_of_child(child);

	timer_stop(&instance->choking);
	if (!instance->choked || instance->state > INSTANCE_READY)
		return;
	instance->choked = false;
	instance->events->recovered(instance);
}

static void instance_is_mute(struct timer *timer)
{
	struct instance *instance = container_of(timer, struct instance, mute);

	instance_give_up(instance, ERR_CLOSED,
			 instance->was_ready
				 ? "closed its standard output and went on running"
				 : "did not start: it closed its standard output and went on running");
}

/* Nothing more will be answered. Most likely it is ending, and how it ends says more. */
static void instance_output_ended(struct child *child)
{
	struct instance *instance = instance_of_child(child);

	if (instance->state > INSTANCE_READY)
		return;
	if (instance->state == INSTANCE_READY)
		instance->retired = "it has closed its standard output";
	timer_start(&instance->mute, instance->loop, instance->definition->close_ms, instance_is_mute);
}

static int instance_spawn(struct instance *instance);

static void instance_describe_end(struct instance *instance, const struct child_status *status)
{
	struct str name = instance->definition->name;
	char text[CHILD_STATUS_TEXT_MAX], what[CHILD_STATUS_TEXT_MAX + sizeof(" before it was ready")];
	struct str end = child_status_text(text, status);

	if (instance->ended.code)
		return;
	/* No process: the command is wrong, or the system is out of something. Neither is news from a
	 * peer. */
	if (!status->started)
		err_set(&instance->ended, ERR_UPSTREAM, "server %.*s did not start: %.*s", STR_ARG(name),
			STR_ARG(end));
	else if (status->err.code)
		err_set(&instance->ended, ERR_CLOSED, "server %.*s: %.*s", STR_ARG(name), STR_ARG(end));
	else if (instance->shut && status->signal_number)
		instance_blame(instance, ERR_CLOSED,
			       "did not start: it closed its standard input and went on running");
	else {
		snprintf(what, sizeof(what), "%.*s%s", STR_ARG(end),
			 instance->was_ready ? "" : " before it was ready");
		instance_blame(instance, ERR_CLOSED, what);
	}
}

/* Some servers made before server/discover existed exit when they are asked anything before `initialize`:
 * those get a second process. */
static bool instance_try_again(struct instance *instance, const struct child_status *status)
{
	bool ended_by_us = instance->shut && status->signal_number;

	if (instance->restarted || !instance->open.probe_unanswered || ended_by_us)
		return false;
	instance->restarted = true;
	instance->shut = instance->choked = false;
	timer_stop(&instance->mute);
	timer_stop(&instance->choking);
	mcp_open_cancel(&instance->open);
	mcp_client_release(&instance->client);
	instance_init_client(instance);
	if (instance_spawn(instance) < 0)
		return false;
	instance_open(instance);
	return true;
}

static void instance_exited(struct child *child, const struct child_status *status)
{
	struct instance *instance = instance_of_child(child);

	if (instance->state == INSTANCE_STARTING && status->started) {
		/* Tells the handshake that its peer is gone, so that it can say whether it was only a
		 * probe. */
		mcp_client_closed(&instance->client, NULL);
		if (instance_try_again(instance, status))
			return;
	}
	instance_stop_timers(instance);
	instance_describe_end(instance, status);
	instance_hold(instance); /* the callbacks below may give back all other holds */
	instance->state = INSTANCE_ENDED;
	mcp_client_closed(&instance->client, &instance->ended);
	mcp_open_cancel(&instance->open);
	instance->events->ended(instance);
	instance_drop(&instance);
}

static const struct child_events instance_child_events = { .output = instance_output,
							   .long_line_ended = instance_long_line_ended,
							   .output_ended = instance_output_ended,
							   .exited = instance_exited };

static int instance_spawn(struct instance *instance)
{
	const struct instance_definition *d = instance->definition;
	const struct child_spec spec = {
		.supervisor = d->supervisor,
		.argv = d->argv,
		.env = d->env,
		.cwd = d->cwd,
		.stdin_fd = CHILD_STDIN_PIPE,
		.line_max = d->line_max,
		.stderr_keep = d->stderr_keep,
		.input_max = d->input_max,
		.close_ms = d->close_ms,
		.term_ms = d->term_ms,
		.kill_ms = d->kill_ms,
	};
	struct err err;

	if (child_start(&instance->child, instance->loop, &spec, &instance_child_events, &err) == 0)
		return 0;
	return err_set(&instance->ended, ERR_UPSTREAM, "server %.*s did not start: %s", STR_ARG(d->name),
		       err.message);
}

static void instance_not_started(struct deferred *deferred)
{
	struct instance *instance = container_of(deferred, struct instance, unstarted);
	const struct child_status nothing = { 0 };

	instance_exited(&instance->child, &nothing);
}

struct instance *instance_start(struct loop *loop, const struct instance_definition *definition,
				const struct instance_events *events, void *owner)
{
	struct instance *instance = xnew(struct instance);

	arena_init(&instance->arena, 0);
	instance->definition = definition;
	instance->events = events;
	instance->loop = loop;
	instance->owner = owner;
	instance->transport.send = instance_send;
	instance->transport.unread = instance_unread;
	instance->started_at = instance->used_at = loop_now(loop);
	list_init(&instance->node);
	list_init(&instance->starters);
	instance_init_client(instance);
	if (instance_spawn(instance) < 0)
		loop_defer(loop, &instance->unstarted, instance_not_started);
	else
		instance_open(instance);
	return instance;
}

void instance_stop(struct instance *instance, const char *reason)
{
	if (instance->state >= INSTANCE_STOPPING)
		return;
	instance->asked = true;
	if (!instance->ended.code)
		err_set(&instance->ended, ERR_CLOSED, "server %.*s was stopped: %s",
			STR_ARG(instance->definition->name), reason);
	instance_end(instance);
}

/* A server that refuses goes on sending what it likes. */
static void instance_level_answered(struct mcp_request *request, const struct mcp_answer *answer)
{
	(void)request;
	(void)answer;
}

void instance_want_logs(struct instance *instance, enum mcp_log_level level)
{
	const struct mcp_server_facts *facts = &instance->client.facts;
	const uint64_t ms = instance->definition->start_ms;
	const struct mcp_patience patience = { .idle_ms = ms, .total_ms = ms };
	struct json_member param = { .key = STR("level") };
	const struct mcp_message message = { .method = MCP_SET_LEVEL, .params = &param, .param_count = 1 };
	char name[32];
	int n;

	if (level == MCP_LOG_NONE || instance->state != INSTANCE_READY || !facts->logging ||
	    mcp_era_of(facts->revision) != MCP_LEGACY)
		return;
	n = snprintf(name, sizeof(name), "\"%.*s\"", STR_ARG(mcp_log_level_name(level)));
	param.raw = str_make(name, (size_t)n);
	mcp_request_cancel(&instance->level);
	mcp_request_start(&instance->level, &instance->client, &message, &patience, NULL,
			  instance_level_answered, instance);
}

/* -- signs of life --------------------------------------------------------------------------------------- */

static uint64_t instance_heard(const struct instance *instance)
{
	return instance->client.received + instance->client.too_long;
}

static void instance_is_silent(struct timer *timer)
{
	struct instance *instance = container_of(timer, struct instance, doubt);

	mcp_request_cancel(&instance->ping);
	if (instance_heard(instance) != instance->heard || instance->retired)
		return;
	instance->retired = "it did not answer a ping after a call timed out";
	instance->events->silent(instance);
}

/* Whatever it answers, it lives. When the ping cannot be sent, what comes by itself tells. */
static void instance_pinged(struct mcp_request *request, const struct mcp_answer *answer)
{
	struct instance *instance = request->owner;

	if (answer->outcome == MCP_ANSWERED)
		timer_stop(&instance->doubt);
}

/* 2026-07-28 has no ping. */
static void instance_ping(struct instance *instance)
{
	const uint64_t ms = instance->definition->ping_ms;
	/* The timer is first. */
	const struct mcp_patience patience = { .idle_ms = ms + 1, .total_ms = ms + 1 };
	const bool modern = mcp_era_of(instance->client.facts.revision) == MCP_MODERN;
	const struct mcp_message message = { .method = modern ? MCP_DISCOVER : MCP_PING };

	instance->heard = instance_heard(instance);
	timer_start(&instance->doubt, instance->loop, ms, instance_is_silent);
	mcp_request_start(&instance->ping, &instance->client, &message, &patience, NULL, instance_pinged,
			  instance);
}

void instance_doubt(struct instance *instance, struct err *err)
{
	char waited[DURATION_TEXT_MAX];

	if (instance->state != INSTANCE_READY)
		return;
	if (instance->retired) {
		err_append(err, "; it is replaced: %s", instance->retired);
		return;
	}
	if (!timer_running(&instance->doubt))
		instance_ping(instance);
	err_append(err, "; if it does not answer a ping within %.*s it is replaced",
		   STR_ARG(duration_text(waited, instance->definition->ping_ms)));
}

/* -- for people ------------------------------------------------------------------------------------------ */

static const char *instance_state_name(enum instance_state state)
{
	static const char *const names[] = { "starting", "ready", "stopping", "ended" };

	return names[state];
}

/* What its server does that it should not, for people. */
static void instance_warn(const struct instance *instance, struct json_writer *w)
{
	const struct mcp_client *client = &instance->client;
	size_t unread = instance->state == INSTANCE_READY ? mcp_client_unread(client) : 0;
	struct err text;

	json_write_key(w, STR("warnings"));
	json_write_array_begin(w);
	if (instance->retired && instance->state == INSTANCE_READY) {
		err_set(&text, ERR_UNAVAILABLE, "it gets no new calls and ends after those it has: %s",
			instance->retired);
		json_write_str(w, str_of(text.message));
	}
	if (client->respelled) {
		err_set(&text, ERR_PROTOCOL,
			"%llu of its answers had our id as text instead of as a number; they were taken all the same",
			(unsigned long long)client->respelled);
		json_write_str(w, str_of(text.message));
	}
	if (client->unasked) {
		err_set(&text, ERR_PROTOCOL,
			"%llu of its answers had an id that no request has; the first: %.*s",
			(unsigned long long)client->unasked, STR_ARG(mcp_client_unasked(client)));
		json_write_str(w, str_of(text.message));
	}
	if (client->too_long) {
		err_set(&text, ERR_TOO_LARGE,
			"%llu of its messages were longer than %zu bytes (pool.lineMax) and were dropped%s",
			(unsigned long long)client->too_long, client->limits.message_max,
			instance->choked ? "; the last has not ended yet" : "");
		json_write_str(w, str_of(text.message));
	}
	if (unread) {
		err_set(&text, ERR_BUSY, "it has not read %zu bytes of what it was sent", unread);
		json_write_str(w, str_of(text.message));
	}
	json_write_array_end(w);
}

void instance_describe(const struct instance *instance, struct json_writer *w)
{
	uint64_t now = loop_now(instance->loop);

	json_write_object_begin(w);
	json_member_str(w, STR("id"), instance->id);
	json_member_i64(w, STR("pid"), instance->child.pid);
	json_member_str(w, STR("state"), str_of(instance_state_name(instance->state)));
	json_member_u64(w, STR("holders"), instance->holders);
	json_member_str(w, STR("key"), instance->key);
	json_member_u64(w, STR("calls"), instance->calls);
	json_member_u64(w, STR("uptimeSec"), (now - instance->started_at) / MS_PER_SECOND);
	json_member_u64(w, STR("idleSec"), instance->holders ? 0 : (now - instance->used_at) / MS_PER_SECOND);
	if (instance->state == INSTANCE_READY)
		json_member_str(w, STR("protocolVersion"),
				mcp_revision_name(instance->client.facts.revision));
	json_member_u64(w, STR("noiseLines"), instance->client.noise);
	if (instance->client.noise)
		json_member_str(w, STR("noiseFirst"), mcp_client_noise(&instance->client));
	instance_warn(instance, w);
	json_write_object_end(w);
}

#include "base/base.h"
#include "mcp/http_replay.h"

#include <stdio.h>

static const struct str kinds[] = {
	[REPLAY_POST] = STR_INIT("post"),
	[REPLAY_GET] = STR_INIT("get"),
};

void replay_pool_init(struct replay_pool *pool, struct loop *loop, const struct mcp_replay_limits *limits)
{
	*pool = (struct replay_pool){ .loop = loop, .limits = limits };
	list_init(&pool->replays);
}

void replay_init(struct replay *replay, struct replay_pool *pool)
{
	*replay = (struct replay){ .pool = pool };
	list_init(&replay->events);
	list_append(&pool->replays, &replay->node);
}

static void event_drop(struct replay *replay, struct replay_event *event)
{
	list_remove(&event->node);
	replay->count--;
	replay->bytes -= event->message.n;
	replay->pool->bytes -= event->message.n;
	free(event);
}

void replay_release(struct replay *replay)
{
	struct replay_event *event;

	timer_stop(&replay->aging);
	list_for_each(event, &replay->events, node)
		event_drop(replay, event);
	list_remove(&replay->node);
}

/* -- ids ------------------------------------------------------------------------------------------------- */

struct replay_id replay_stream(struct replay *replay, enum replay_kind kind)
{
	struct replay_id id = { .kind = kind, .stream = ++replay->last_stream };

	return id;
}

void replay_next(struct replay *replay, struct replay_id *id)
{
	id->event = ++replay->last_event;
}

struct str replay_id_write(struct replay_id id, char *text)
{
	snprintf(text, REPLAY_ID_MAX, "%s-%llu-%llu", kinds[id.kind].p, (unsigned long long)id.stream,
		 (unsigned long long)id.event);
	return str_of(text);
}

bool replay_id_read(struct str text, struct replay_id *ret_id)
{
	struct replay_id id;
	struct str kind, stream;

	/* Used up by the second part, there is no third. */
	if (!str_split(&text, '-', &kind) || !str_split(&text, '-', &stream) || !text.p)
		return false;
	if (!str_eq(kind, kinds[REPLAY_POST]) && !str_eq(kind, kinds[REPLAY_GET]))
		return false;
	id.kind = str_eq(kind, kinds[REPLAY_GET]) ? REPLAY_GET : REPLAY_POST;
	if (str_to_u64(stream, &id.stream) < 0 || str_to_u64(text, &id.event) < 0 || id.stream == 0)
		return false;
	*ret_id = id;
	return true;
}

/* -- keeping --------------------------------------------------------------------------------------------- */

static void aged(struct timer *timer);

static void watch_age(struct replay *replay)
{
	uint64_t due, now = loop_now(replay->pool->loop);

	if (list_empty(&replay->events) || timer_running(&replay->aging))
		return;
	due = list_first(&replay->events, struct replay_event, node)->kept_at + replay->pool->limits->age_ms;
	timer_start(&replay->aging, replay->pool->loop, due > now ? due - now : 0, aged);
}

static void aged(struct timer *timer)
{
	struct replay *replay = container_of(timer, struct replay, aging);
	uint64_t now = loop_now(replay->pool->loop);
	struct replay_event *event;

	list_for_each(event, &replay->events, node) {
		if (event->kept_at + replay->pool->limits->age_ms > now)
			break;
		event_drop(replay, event);
	}
	watch_age(replay);
}

/* The one that is missed least. */
static struct replay_event *find_least(const struct replay *replay)
{
	struct replay_event *event;

	list_for_each(event, &replay->events, node)
		if (event->hint)
			return event;
	return list_first(&replay->events, struct replay_event, node);
}

static struct replay *find_largest(const struct replay_pool *pool)
{
	struct replay *replay, *largest = list_first(&pool->replays, struct replay, node);

	list_for_each(replay, &pool->replays, node)
		if (replay->bytes > largest->bytes)
			largest = replay;
	return largest;
}

static void make_room(struct replay *replay, size_t n)
{
	struct replay_pool *pool = replay->pool;

	while (replay->count >= pool->limits->events_max || n > pool->limits->bytes_max - replay->bytes)
		event_drop(replay, find_least(replay));
	while (n > pool->limits->total_max - pool->bytes) {
		struct replay *largest = find_largest(pool);

		event_drop(largest, find_least(largest));
	}
}

void replay_keep(struct replay *replay, struct replay_id id, struct str message, bool hint)
{
	struct replay_pool *pool = replay->pool;
	struct replay_event *event;

	if (message.n > pool->limits->bytes_max || message.n > pool->limits->total_max ||
	    pool->limits->events_max == 0)
		return;
	make_room(replay, message.n);
	event = xcalloc(1, sizeof(*event) + message.n);
	event->id = id;
	event->hint = hint;
	event->kept_at = loop_now(pool->loop);
	event->message = str_make((char *)(event + 1), message.n);
	memcpy(event + 1, message.p, message.n);
	list_append(&replay->events, &event->node);
	replay->count++;
	replay->bytes += message.n;
	pool->bytes += message.n;
	watch_age(replay);
}

/* -- asking ---------------------------------------------------------------------------------------------- */

static bool same_stream(struct replay_id a, struct replay_id b)
{
	return a.kind == b.kind && a.stream == b.stream;
}

const struct replay_event *replay_after(const struct replay *replay, struct replay_id id,
					const struct replay_event *event)
{
	const struct list_node *at = event ? event->node.next : replay->events.next;

	for (; at != &replay->events; at = at->next) {
		event = container_of(at, const struct replay_event, node);
		if (same_stream(event->id, id) && event->id.event > id.event)
			return event;
	}
	return NULL;
}

bool replay_knows(const struct replay *replay, struct replay_id id)
{
	return replay_after(replay, (struct replay_id){ id.kind, id.stream, 0 }, NULL) != NULL;
}

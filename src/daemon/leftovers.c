#include "base/base.h"
#include "daemon/leftovers.h"

#include "base/ids.h"
#include "daemon/limits.h"
#include "io/files.h"

enum {
	TURNS_MAX = 64,	 /* of one round */
	TOLD_MAX = 1000, /* stores whose trouble is remembered; that of more is not told */
};

/* -- one turn, on the worker pool ------------------------------------------------------------------------ */

struct leftovers_turn {
	struct job job;
	struct leftovers *leftovers;
	struct arena arena;
	/* asked */
	struct places places; /* strings in the arena */
	struct str after;
	struct artifact_limits limits;
	struct clock_bounds now;
	uint64_t log_keep_ms; /* 0: for ever */
	/* found */
	struct str name; /* of the store; empty: there are no more, and the logs were looked at */
	struct abandoned_result result;
	unsigned removed_logs;
	struct err err; /* code 0: fine */
};

/* The key in `daemon-<key>.log` and `daemon-<key>.log.<number>`, else empty. */
static struct str key_of_log(struct str name)
{
	static const struct str prefix = STR_INIT("daemon-"), suffix = STR_INIT(".log");
	struct str key = str_slice(name, prefix.n, 2 * DAEMON_KEY_BYTES),
		   rest = str_from(name, prefix.n + key.n);
	uint8_t bytes[DAEMON_KEY_BYTES];
	uint64_t number;

	if (!str_starts_with(name, prefix) || hex_decode(bytes, sizeof(bytes), key) < 0 ||
	    !str_starts_with(rest, suffix))
		return STR("");
	rest = str_from(rest, suffix.n);
	if (rest.n && (rest.p[0] != '.' || str_to_u64(str_from(rest, 1), &number) < 0))
		return STR("");
	return key;
}

static bool log_is_left(void *context, struct str name)
{
	const struct leftovers_turn *turn = context;
	_cleanup_arena_ struct arena arena = { 0 };
	struct str key = key_of_log(name);

	if (key.n == 0 || str_eq(key, turn->places.key))
		return false;
	arena_init(&arena, 0);
	return lock_file_holder(places_lock_of(&turn->places, key, &arena).p) == 0;
}

static void log_removed(void *context, struct str name)
{
	struct leftovers_turn *turn = context;

	(void)name;
	turn->removed_logs++;
}

static void turn_work(struct job *job)
{
	struct leftovers_turn *turn = container_of(job, struct leftovers_turn, job);
	const struct directory_prune old_logs = {
		.takes = log_is_left,
		.removed = log_removed,
		.context = turn,
		.now_ms = turn->now.earliest_ms,
		.keep_ms = turn->log_keep_ms,
		.keep_files = SIZE_MAX,
	};

	if (abandoned_find(turn->places.state, turn->after, &turn->arena, &turn->name, &turn->err) < 0)
		return;
	if (turn->name.n)
		(void)abandoned_collect(
			arena_printf(&turn->arena, "%s/%s", turn->places.state.p, turn->name.p).p,
			&turn->limits, &turn->now, &turn->result, &turn->err);
	else if (turn->log_keep_ms)
		directory_prune(turn->places.log_dir.p, &old_logs);
}

/* -- rounds ---------------------------------------------------------------------------------------------- */

static void turn_begin(struct leftovers *leftovers);

static void round_begin(struct timer *timer)
{
	struct leftovers *leftovers = container_of(timer, struct leftovers, timer);

	leftovers->turns = 0;
	turn_begin(leftovers);
}

static void round_end(struct leftovers *leftovers)
{
	timer_start(&leftovers->timer, leftovers->loop,
		    settings_duration(leftovers->settings, SETTING_ARTIFACTS_GC_INTERVAL), round_begin);
}

/* What cannot be mended from here is the same in every round, and told once. */
static void tell_trouble(struct leftovers *leftovers, const struct leftovers_turn *turn)
{
	struct str what = turn->name.n ? turn->name : turn->places.state;

	if (map_get(&leftovers->told, what) || map_count(&leftovers->told) >= TOLD_MAX)
		return;
	map_set(&leftovers->told, what, leftovers);
	logger_log(leftovers->logger, LOG_LEVEL_WARN, STR("leftovers.trouble"),
		   LOG_FIELDS(log_err("error", &turn->err)));
}

static void tell(struct leftovers *leftovers, const struct leftovers_turn *turn)
{
	if (turn->err.code)
		tell_trouble(leftovers, turn);
	if (turn->result.removed)
		logger_log(leftovers->logger, LOG_LEVEL_INFO, STR("leftovers.store"),
			   LOG_FIELDS(log_str("removed", turn->name)));
	if (turn->removed_logs)
		logger_log(leftovers->logger, LOG_LEVEL_INFO, STR("leftovers.logs"),
			   LOG_FIELDS(log_uint("removed", turn->removed_logs)));
}

static void turn_end(struct leftovers *leftovers, const struct leftovers_turn *turn)
{
	leftovers->turn = NULL;
	tell(leftovers, turn);
	if (!turn->result.more)
		snprintf(leftovers->after, sizeof(leftovers->after), "%.*s", STR_ARG(turn->name));
	if (turn->name.n && ++leftovers->turns < TURNS_MAX)
		turn_begin(leftovers);
	else
		round_end(leftovers);
}

static void turn_done(struct job *job, bool cancelled)
{
	struct leftovers_turn *turn = container_of(job, struct leftovers_turn, job);

	if (!cancelled)
		turn_end(turn->leftovers, turn);
	arena_release(&turn->arena);
	free(turn);
}

static void turn_begin(struct leftovers *leftovers)
{
	struct leftovers_turn *turn = leftovers->turn = xnew(struct leftovers_turn);
	const struct places *places = leftovers->places;
	struct clock_reading now = clock_read();

	arena_init(&turn->arena, 0);
	turn->leftovers = leftovers;
	turn->places.key = arena_copy(&turn->arena, places->key);
	turn->places.state = arena_copy(&turn->arena, places->state);
	turn->places.log_dir = arena_copy(&turn->arena, places->log_dir);
	turn->after = arena_copy(&turn->arena, str_of(leftovers->after));
	turn->now = clock_bounds_since(&leftovers->start, &now);
	turn->log_keep_ms = settings_duration(leftovers->settings, SETTING_LOGGING_KEEP_AGE);
	limits_of_artifacts(leftovers->settings, &turn->limits);
	loop_work(leftovers->loop, &turn->job, turn_work, turn_done);
}

void leftovers_start(struct leftovers *leftovers, struct loop *loop, const struct settings *settings,
		     const struct places *places, struct logger *logger)
{
	uint64_t interval = settings_duration(settings, SETTING_ARTIFACTS_GC_INTERVAL),
		 soon = settings_duration(settings, SETTING_DAEMON_REAP_INTERVAL);

	*leftovers = (struct leftovers){
		.loop = loop,
		.settings = settings,
		.places = places,
		.logger = logger,
		.start = clock_read(),
	};
	map_init(&leftovers->told, 0);
	/* Not at once: whoever started the daemon waits for its first answer. */
	timer_start(&leftovers->timer, loop, soon < interval ? soon : interval, round_begin);
}

void leftovers_stop(struct leftovers *leftovers)
{
	if (!leftovers->loop)
		return;
	timer_stop(&leftovers->timer);
	if (leftovers->turn)
		job_cancel(&leftovers->turn->job);
	map_release(&leftovers->told);
	*leftovers = (struct leftovers){ 0 };
}

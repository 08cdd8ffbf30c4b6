/*
 * Start-up goes from the ground up and shutdown from the top down, each step in one place. Whatever was begun
 * is ended by daemon_release(), which accepts a daemon that got only half way.
 */
#include "base/base.h"
#include "daemon/daemon_private.h"
#include "artifacts/home.h"
#include "daemon/limits.h"
#include "io/descriptors.h"

#include <malloc.h>
#include <signal.h>

enum {
	DESCRIPTORS_MAX = 65536, /* more than all limits on connections and instances together */
};

/* -- while it runs --------------------------------------------------------------------------------------- */

/* Whoever asks after an edit is answered from after it. */
static void daemon_request(void *context, struct http_request *request)
{
	struct daemon *daemon = context;

	config_watch_before_request(&daemon->watch);
	api_request(&daemon->api, request);
}

static bool daemon_is_idle(const struct daemon *daemon)
{
	uint64_t limit = settings_duration(daemon->settings, SETTING_DAEMON_IDLE_EXIT);

	return limit && daemon->api.active == 0 && list_empty(&daemon->api.stdio_doors) &&
	       loop_now(daemon->loop) - daemon->api.last_use >= limit;
}

static void daemon_tick(struct timer *timer)
{
	struct daemon *daemon = container_of(timer, struct daemon, tick);

	timer_start(timer, daemon->loop, settings_duration(daemon->settings, SETTING_DAEMON_REAP_INTERVAL),
		    daemon_tick);
	log_file_follow(&daemon->log_file);
	config_watch_look(&daemon->watch);
	places_watch_look(&daemon->places_watch);
	/* What a burst of clients or servers took lies free between what stays, and the allocator gives only
	 * the end of the heap back by itself. */
	if (daemon->api.active == 0)
		malloc_trim(0);
	if (daemon->stage == DAEMON_SERVES && daemon_is_idle(daemon))
		daemon_stop(daemon, "idle");
}

/* -- starting -------------------------------------------------------------------------------------------- */

static int daemon_open_artifacts(struct daemon *daemon, struct err *err)
{
	struct artifact_limits limits;
	struct str directory;
	int r;

	if (!settings_bool(daemon->settings, SETTING_ARTIFACTS_ENABLED))
		return 0;
	limits_of_artifacts(daemon->settings, &limits);
	r = artifact_home(daemon->places.state, daemon->places.key, &daemon->arena, &directory, err);
	if (r < 0)
		return r;
	return artifact_store_open(&daemon->artifacts, daemon->loop, directory.p, &limits, err);
}

static int daemon_open_api(struct daemon *daemon, struct err *err)
{
	struct api *api = &daemon->api;

	api->loop = daemon->loop;
	api->hub = daemon->hub;
	api->artifacts = daemon->artifacts;
	api->settings = daemon->settings;
	api->places = &daemon->places;
	api->version = daemon->options->version;
	api->supervisor = daemon->options->supervisor;
	api->endpoint = arena_concat(&daemon->arena, STR("unix:"), daemon->places.socket, STR("")).p;
	api->started = loop_now(daemon->loop);
	api->access = (struct access){ .uid = getuid(), .settings = daemon->settings };
	api->program = (struct api_program){ .reload = daemon_reload,
					     .stop = daemon_stop,
					     .emptied = daemon_emptied,
					     .adjust = daemon_adjust,
					     .context = daemon };
	api->server = daemon->server;
	api->config_err = &daemon->watch.err;
	daemon->api_ready = true;
	return api_init(api, err);
}

static void daemon_open_hub(struct daemon *daemon)
{
	struct hub_limits limits;

	daemon->client_info = arena_printf(&daemon->arena, "{\"name\":\"mcpx\",\"version\":\"%s\"}",
					   daemon->options->version);
	daemon_limits(daemon, &limits);
	daemon->hub = hub_new(daemon->loop, &limits, daemon->settings, daemon->config,
			      daemon->options->environment);
	daemon->listener = (struct hub_listener){ .event = daemon_event };
	hub_listen(daemon->hub, &daemon->listener);
}

static int daemon_watch_signals(struct daemon *daemon, struct err *err)
{
	if (signal_ignore(SIGPIPE, err) < 0 ||
	    signal_watch_start(&daemon->terminate, daemon->loop, SIGTERM, daemon_terminated, err) < 0 ||
	    signal_watch_start(&daemon->interrupt, daemon->loop, SIGINT, daemon_terminated, err) < 0 ||
	    signal_watch_start(&daemon->hangup, daemon->loop, SIGHUP, daemon_hung_up, err) < 0)
		return err->code;
	return 0;
}

/* What a killed daemon was writing, of whatever configuration: nobody writes for as long as the time between
 * two looks. */
static void daemon_sweep(struct daemon *daemon)
{
	uint64_t age = settings_duration(daemon->settings, SETTING_DAEMON_REAP_INTERVAL);
	struct str scripts = arena_concat(&daemon->arena, daemon->places.cache, STR("/exec"), STR(""));

	(void)file_sweep_temporary(daemon->places.state.p, age, NULL, NULL);
	(void)file_sweep_temporary(daemon->places.cache.p, age, NULL, NULL);
	(void)file_sweep_temporary(scripts.p, age, NULL, NULL);
}

/* A slip in the name of a variable has no effect, and nothing else would say so. */
static void daemon_log_misspelt(struct daemon *daemon)
{
	struct str name, meant;
	size_t at = 0;

	while (settings_next_misspelt(&daemon->options->environment, &at, &name, &meant))
		logger_log(&daemon->logger, LOG_LEVEL_WARN, STR("environment.unknown"),
			   LOG_FIELDS(log_str("variable", name), log_str("meant", meant)));
}

static int daemon_start(struct daemon *daemon, struct err *err)
{
	struct http_handler handler = { .request = daemon_request, .context = daemon };
	struct http_limits limits;
	int r;

	if ((r = places_find(&daemon->places, daemon->settings, daemon->config, &daemon->options->environment,
			     &daemon->arena, err)) < 0 ||
	    (r = places_prepare(&daemon->places, err)) < 0)
		return r;
	if ((r = lock_file_take(&daemon->lock, daemon->places.lock.p, err)) < 0)
		return r == ERR_BUSY
			       ? err_prefix(
					 err, r,
					 "a daemon for these configuration files runs already (`mcpx stop` ends it)")
			       : r;
	daemon_sweep(daemon);
	descriptors_raise(DESCRIPTORS_MAX);
	limits_of_http(daemon->settings, &limits);
	if ((r = daemon_open_log(daemon, err)) < 0 || (r = loop_new(&daemon->loop, err)) < 0 ||
	    (r = daemon_watch_signals(daemon, err)) < 0 || (r = daemon_open_artifacts(daemon, err)) < 0 ||
	    (r = http_server_new(&daemon->server, daemon->loop, &limits, &handler, err)) < 0)
		return r;
	daemon_open_hub(daemon);
	daemon->started_ms = loop_wall_ms();
	if ((r = daemon_open_api(daemon, err)) < 0 || (r = daemon_listen(daemon, err)) < 0 ||
	    (r = daemon_write_info(daemon, err)) < 0)
		return r;
	daemon_watch_config(daemon);
	daemon_watch_places(daemon);
	leftovers_start(&daemon->leftovers, daemon->loop, daemon->settings, &daemon->places, &daemon->logger);
	timer_start(&daemon->tick, daemon->loop,
		    settings_duration(daemon->settings, SETTING_DAEMON_REAP_INTERVAL), daemon_tick);
	logger_log(&daemon->logger, LOG_LEVEL_INFO, STR("daemon.start"),
		   LOG_FIELDS(log_cstr("version", daemon->options->version),
			      log_cstr("endpoint", daemon->api.endpoint)));
	if (daemon->token.n)
		logger_log(&daemon->logger, LOG_LEVEL_INFO, STR("daemon.token"),
			   LOG_FIELDS(log_str("file", daemon->places.token)));
	daemon_log_misspelt(daemon);
	return 0;
}

/* -- the end --------------------------------------------------------------------------------------------- */

static void daemon_release(struct daemon *daemon)
{
	timer_stop(&daemon->tick);
	config_watch_stop(&daemon->watch);
	places_watch_stop(&daemon->places_watch);
	leftovers_stop(&daemon->leftovers);
	timer_stop(&daemon->grace);
	signal_watch_stop(&daemon->terminate);
	signal_watch_stop(&daemon->interrupt);
	signal_watch_stop(&daemon->hangup);
	daemon_remove_places(daemon);
	http_server_free(&daemon->server);
	if (daemon->api_ready)
		api_release(&daemon->api);
	if (daemon->hub)
		hub_unlisten(&daemon->listener);
	hub_free(&daemon->hub);
	if (daemon->artifacts)
		artifact_store_close(&daemon->artifacts, NULL, NULL);
	loop_free(&daemon->loop);
	log_file_close(&daemon->log_file);
	logger_release(&daemon->logger);
	lock_file_release(&daemon->lock);
	config_free(&daemon->config);
	arena_release(&daemon->arena);
}

int daemon_run(const struct daemon_options *options, struct err *err)
{
	struct daemon *daemon = xnew(struct daemon);
	int r;

	daemon->options = options;
	daemon->settings = options->settings;
	daemon->config = options->config;
	arena_init(&daemon->arena, 0);
	r = daemon_start(daemon, err);
	if (r == 0) {
		if (options->ready)
			options->ready();
		loop_run(daemon->loop);
	}
	daemon_release(daemon);
	free(daemon);
	return r;
}

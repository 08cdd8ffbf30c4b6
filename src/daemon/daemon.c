/*
 * Start-up goes from the ground up and shutdown from the top down, each step in one place. Whatever was begun
 * is ended by daemon_release(), which accepts a daemon that got only half way.
 */
#include "base/base.h"
#include "daemon/daemon.h"
#include "api/api.h"
#include "artifacts/home.h"
#include "base/ids.h"
#include "base/log.h"
#include "daemon/config_watch.h"
#include "daemon/leftovers.h"
#include "daemon/limits.h"
#include "daemon/log_file.h"
#include "daemon/log_stream.h"
#include "daemon/places_watch.h"
#include "io/descriptors.h"
#include "io/files.h"
#include "io/loop.h"
#include "io/random.h"

#include <signal.h>

enum {
	PRIVATE_FILE_MODE = 0600,
	TOKEN_BYTES = 32,
	DESCRIPTORS_MAX = 65536, /* more than all limits on connections and instances together */
};

struct daemon {
	const struct daemon_options *options;
	struct settings *settings;
	struct config *config;
	struct arena arena;
	struct places places;
	struct lock_file lock;
	struct logger logger;
	struct log_file log_file;
	struct log_stream log_stream;
	struct loop *loop;
	struct http_server *server;
	struct artifact_store *artifacts;
	struct hub *hub;
	struct str client_info; /* raw Implementation: who servers are told we are */
	struct hub_listener listener;
	struct api api;
	bool api_ready;
	bool listening;
	uint64_t started_ms; /* loop_wall_ms() */
	struct str token;
	struct config_watch watch;
	struct places_watch places_watch;
	struct leftovers leftovers;
	struct timer tick;
	struct signal_watch terminate, interrupt, hangup;
	enum { DAEMON_SERVES, DAEMON_DRAINS, DAEMON_ENDS, DAEMON_CLOSES } stage;
	struct timer grace; /* of the stage */
	bool hub_stopped;
};

/* -- the log --------------------------------------------------------------------------------------------- */

static void daemon_sink(void *context, enum log_level level, struct str line)
{
	struct daemon *daemon = context;

	(void)level;
	log_file_write(&daemon->log_file, line);
	if (!daemon->options->detached)
		log_stream_write(&daemon->log_stream, &daemon->logger, line);
}

static void daemon_set_log_level(struct daemon *daemon)
{
	(void)log_level_parse(settings_string(daemon->settings, SETTING_LOGGING_LEVEL), &daemon->logger.level,
			      NULL);
}

static int daemon_open_log(struct daemon *daemon, struct err *err)
{
	const struct settings *set = daemon->settings;

	daemon->logger = (struct logger){
		.bounds = { .value_max = settings_bytes(set, SETTING_LOGGING_VALUE_MAX),
			    .line_max = settings_bytes(set, SETTING_LOGGING_LINE_MAX) },
		.clock = loop_wall_ms,
		.sink = daemon_sink,
		.context = daemon,
	};
	daemon->log_stream.fd = STDERR_FILENO;
	daemon_set_log_level(daemon);
	(void)log_format_parse(settings_string(set, SETTING_LOGGING_FORMAT), &daemon->logger.format, NULL);
	if (!settings_bool(set, SETTING_LOGGING_FILE))
		return 0;
	return log_file_open(&daemon->log_file, daemon->places.log.p,
			     settings_bytes(set, SETTING_LOGGING_MAX_BYTES),
			     (unsigned)settings_int(set, SETTING_LOGGING_KEEP), err);
}

static void daemon_event(struct hub_listener *listener, enum log_level level, struct str event,
			 struct str server, struct str detail)
{
	struct daemon *daemon = container_of(listener, struct daemon, listener);

	if (server.n)
		logger_log(&daemon->logger, level, event,
			   LOG_FIELDS(log_str("server", server), log_str("detail", detail)));
	else
		logger_log(&daemon->logger, level, event, LOG_FIELDS(log_str("detail", detail)));
}

/* -- stopping -------------------------------------------------------------------------------------------- */

/*
 * An orderly stop has three stages. While it drains, nothing new is taken, and what runs may end for
 * http.shutdownGrace. Then what is left is ended, which is an answer for everybody who waits: servers stop,
 * and their calls say so; scripts are stopped, and their frames tell it; requests that are still being sent
 * are refused. When nobody is connected any more, or reads too slowly, the store is closed, and with it the
 * loop ends.
 */
static void daemon_store_closed(void *context)
{
	struct daemon *daemon = context;

	loop_stop(daemon->loop);
}

static void daemon_close(struct daemon *daemon)
{
	daemon->stage = DAEMON_CLOSES;
	timer_stop(&daemon->grace);
	if (daemon->artifacts)
		artifact_store_close(&daemon->artifacts, daemon_store_closed, daemon);
	else
		loop_stop(daemon->loop);
}

static void daemon_end(struct daemon *daemon);

static void daemon_check_ended(struct daemon *daemon)
{
	if (daemon->server || !list_empty(&daemon->api.stdio_doors))
		return;
	if (daemon->stage == DAEMON_DRAINS)
		daemon_end(daemon);
	else if (daemon->stage == DAEMON_ENDS && daemon->hub_stopped)
		daemon_close(daemon);
}

static void daemon_hub_stopped(void *context)
{
	struct daemon *daemon = context;

	daemon->hub_stopped = true;
	daemon_check_ended(daemon);
}

static void daemon_drained(void *context)
{
	struct daemon *daemon = context;

	http_server_free(&daemon->server);
	daemon->api.server = NULL;
	daemon_check_ended(daemon);
}

/* Whoever is still there has not ended, or does not read its answer. */
static void daemon_cut_off(struct daemon *daemon)
{
	http_server_free(&daemon->server);
	daemon->api.server = NULL;
	api_close_channels(&daemon->api);
	daemon_check_ended(daemon);
}

static void daemon_patience_over(struct timer *timer)
{
	daemon_cut_off(container_of(timer, struct daemon, grace));
}

static void daemon_end(struct daemon *daemon)
{
	const struct settings *set = daemon->settings;
	uint64_t linger = settings_duration(set, SETTING_HTTP_LINGER), patience = linger;

	if (daemon->api.run_count)
		patience += settings_duration(set, SETTING_EXEC_TERM_GRACE) +
			    settings_duration(set, SETTING_EXEC_KILL_GRACE);
	daemon->stage = DAEMON_ENDS;
	api_end(&daemon->api);
	hub_stop(daemon->hub, daemon_hub_stopped, daemon);
	timer_start(&daemon->grace, daemon->loop, patience + linger, daemon_patience_over);
	if (!daemon->server)
		return;
	http_server_refuse_incomplete(daemon->server);
	http_server_drain(daemon->server, patience, daemon_drained, daemon);
}

static void daemon_grace_over(struct timer *timer)
{
	daemon_end(container_of(timer, struct daemon, grace));
}

/* Scripts that run need connections for their calls: the door stays open as long as there are any. */
static void daemon_emptied(void *context)
{
	struct daemon *daemon = context;
	const struct settings *set = daemon->settings;

	/* The grace is ours to end; the server's own is only longer. */
	if (daemon->stage == DAEMON_DRAINS && daemon->server && daemon->api.run_count == 0)
		http_server_drain(daemon->server,
				  settings_duration(set, SETTING_HTTP_SHUTDOWN_GRACE) +
					  settings_duration(set, SETTING_HTTP_LINGER),
				  daemon_drained, daemon);
	daemon_check_ended(daemon);
}

static void daemon_stop(void *context, const char *why)
{
	struct daemon *daemon = context;
	uint64_t grace = settings_duration(daemon->settings, SETTING_HTTP_SHUTDOWN_GRACE);

	if (daemon->stage != DAEMON_SERVES)
		return;
	daemon->stage = DAEMON_DRAINS;
	logger_log(&daemon->logger, LOG_LEVEL_INFO, STR("daemon.stop"), LOG_FIELDS(log_cstr("reason", why)));
	timer_stop(&daemon->tick);
	config_watch_stop(&daemon->watch);
	places_watch_stop(&daemon->places_watch);
	leftovers_stop(&daemon->leftovers);
	timer_start(&daemon->grace, daemon->loop, grace, daemon_grace_over);
	api_drain(&daemon->api);
	daemon_emptied(daemon);
}

/* Who asks again has lost patience, first with what runs, then with what takes long to end. */
static void daemon_terminated(struct signal_watch *watch, int number)
{
	struct daemon *daemon = number == SIGTERM ? container_of(watch, struct daemon, terminate)
						  : container_of(watch, struct daemon, interrupt);

	if (daemon->stage == DAEMON_SERVES)
		daemon_stop(daemon, number == SIGTERM ? "SIGTERM" : "SIGINT");
	else if (daemon->stage == DAEMON_DRAINS)
		daemon_end(daemon);
	else if (daemon->stage == DAEMON_ENDS)
		daemon_cut_off(daemon);
}

/* -- reloading ------------------------------------------------------------------------------------------- */

static void daemon_limits(const struct daemon *daemon, struct hub_limits *ret_limits)
{
	limits_of_hub(daemon->settings, &daemon->places, daemon->options->supervisor, daemon->client_info,
		      ret_limits);
}

/* Hot settings have changed: whoever keeps values of them takes the new ones. */
static void daemon_adjust(void *context)
{
	struct daemon *daemon = context;
	struct hub_limits limits;

	daemon_set_log_level(daemon);
	daemon_limits(daemon, &limits);
	hub_adjust(daemon->hub, &limits);
	api_adjust(&daemon->api);
}

/* The nearest of the files, and what tells whether they all are what was read. */
static void daemon_write_config(const struct daemon *daemon, struct json_writer *w)
{
	const struct config *config = daemon->config;

	for (size_t i = 0; i < config->source_count; i++)
		if (config->sources[i].loaded) {
			json_member_str(w, STR("configPath"), config->sources[i].path);
			break;
		}
	json_write_key(w, STR("configHash"));
	json_write_strf(w, "%016llx", (unsigned long long)config_hash(config));
}

/* What the running daemon says of itself, for people and for `mcpx status`. */
static int daemon_write_info(struct daemon *daemon, struct err *err)
{
	const struct file_write_options options = { .mode = PRIVATE_FILE_MODE };
	struct json_writer w;
	struct buf out;
	int r;

	api_writer_init(&w, &out);
	json_write_object_begin(&w);
	json_member_i64(&w, STR("pid"), getpid());
	json_member_str(&w, STR("socket"), daemon->places.socket);
	json_member_str(&w, STR("endpoint"), str_of(daemon->api.endpoint));
	daemon_write_config(daemon, &w);
	json_member_str(&w, STR("version"), str_of(daemon->options->version));
	json_member_u64(&w, STR("startedAt"), daemon->started_ms);
	json_write_object_end(&w);
	r = file_write(daemon->places.info.p, buf_str(&out), &options, err);
	buf_release(&out);
	return r;
}

static int daemon_reload(void *context, unsigned *ret_added, unsigned *ret_removed, struct err *err)
{
	struct daemon *daemon = context;
	struct config *fresh, *old = daemon->config;

	if (daemon->stage != DAEMON_SERVES)
		return err_set(err, ERR_BUSY, "the daemon is shutting down");
	if (config_reload(&fresh, old, daemon->settings, &daemon->options->environment, err) < 0)
		return err->code;
	if (settings_add_config(daemon->settings, fresh, true, err) < 0) {
		config_free(&fresh);
		return err->code;
	}
	daemon->config = fresh;
	daemon_adjust(daemon);
	hub_reload(daemon->hub, fresh, ret_added, ret_removed);
	config_watch_follow(&daemon->watch, fresh);
	config_free(&old);
	(void)daemon_write_info(daemon, NULL);
	logger_log(&daemon->logger, LOG_LEVEL_INFO, STR("config.reload"),
		   LOG_FIELDS(log_uint("added", *ret_added), log_uint("removed", *ret_removed)));
	return 0;
}

static int daemon_reload_unasked(void *context, struct err *err)
{
	unsigned added, removed;

	return daemon_reload(context, &added, &removed, err);
}

/* A file that is wrong changes nothing: what was read before stays in force, and the log says why. */
static void daemon_config_refused(void *context, const struct err *err)
{
	struct daemon *daemon = context;

	logger_log(&daemon->logger, LOG_LEVEL_ERROR, STR("config.refused"),
		   LOG_FIELDS(log_err("error", err)));
}

static void daemon_config_appeared(void *context, struct str path)
{
	struct daemon *daemon = context;

	logger_log(&daemon->logger, LOG_LEVEL_WARN, STR("config.elsewhere"),
		   LOG_FIELDS(log_str("file", path),
			      log_cstr("detail", "commands read it from now on, and so use another daemon; "
						 "end this one when its clients are gone")));
}

static const struct config_watch_events daemon_watch_events = {
	.reload = daemon_reload_unasked,
	.refused = daemon_config_refused,
	.appeared = daemon_config_appeared,
};

static void daemon_hung_up(struct signal_watch *watch, int number)
{
	struct daemon *daemon = container_of(watch, struct daemon, hangup);
	struct err err;

	(void)number;
	log_file_follow(&daemon->log_file);
	if (daemon_reload_unasked(daemon, &err) < 0)
		daemon_config_refused(daemon, &err);
}

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
	if (daemon->stage == DAEMON_SERVES && daemon_is_idle(daemon))
		daemon_stop(daemon, "idle");
}

/* -- when its files are taken away ----------------------------------------------------------------------- */

static int daemon_write_token(struct daemon *daemon, struct err *err)
{
	const struct file_write_options options = { .mode = PRIVATE_FILE_MODE };

	return daemon->token.n ? file_write(daemon->places.token.p, daemon->token, &options, err) : 0;
}

static void daemon_lock_lost(void *context)
{
	daemon_stop(context, "its lock file was removed, so that another daemon may start");
}

static int daemon_listen_anew(struct daemon *daemon, struct err *err)
{
	int fd, r;

	if ((r = places_prepare(&daemon->places, err)) < 0 ||
	    (r = http_listen_unix(daemon->places.socket.p, &fd, err)) < 0)
		return r;
	http_server_unlisten_local(daemon->server);
	r = http_server_listen(daemon->server, fd, true, err);
	if (r == 0)
		places_watch_follow(&daemon->places_watch);
	return r;
}

static void daemon_files_lost(void *context)
{
	struct daemon *daemon = context;
	struct err err = { 0 };
	int r = 0;

	if (!places_watch_socket_is_ours(&daemon->places_watch))
		r = daemon_listen_anew(daemon, &err);
	if (r == 0)
		r = daemon_write_token(daemon, &err);
	if (r == 0)
		r = daemon_write_info(daemon, &err);
	if (r < 0)
		logger_log(&daemon->logger, LOG_LEVEL_ERROR, STR("files.lost"),
			   LOG_FIELDS(log_err("error", &err)));
	else
		logger_log(&daemon->logger, LOG_LEVEL_WARN, STR("files.restored"),
			   LOG_FIELDS(log_str("socket", daemon->places.socket),
				      log_cstr("detail",
					       "something had removed the daemon's socket or info file")));
}

static const struct places_watch_events daemon_places_events = {
	.lock_lost = daemon_lock_lost,
	.files_lost = daemon_files_lost,
};

/* -- starting -------------------------------------------------------------------------------------------- */

static int daemon_make_token(struct daemon *daemon, struct err *err)
{
	uint8_t bytes[TOKEN_BYTES];
	char digits[2 * TOKEN_BYTES];

	random_bytes(bytes, sizeof(bytes));
	hex_encode(digits, bytes, sizeof(bytes));
	daemon->token = arena_copy(&daemon->arena, str_make(digits, sizeof(digits)));
	return daemon_write_token(daemon, err);
}

static bool address_is_loopback(struct str address)
{
	return str_starts_with(address, STR("127.")) || str_eq(address, STR("::1"));
}

static int daemon_listen_tcp(struct daemon *daemon, struct err *err)
{
	struct str address = settings_string(daemon->settings, SETTING_DAEMON_ADDRESS);
	bool open = settings_choice(daemon->settings, SETTING_DAEMON_AUTH) == CHOICE_DAEMON_AUTH_NONE;
	int fd, r;

	if (open && !address_is_loopback(address))
		return err_set(
			err, ERR_INVALID,
			"daemon.auth none is for loopback only, and daemon.address is %.*s: set daemon.auth to token",
			STR_ARG(address));
	if (!open && (r = daemon_make_token(daemon, err)) < 0)
		return r;
	r = http_listen_tcp(address.p, (uint16_t)settings_int(daemon->settings, SETTING_DAEMON_PORT), &fd,
			    &daemon->api.port, err);
	if (r < 0)
		return r;
	daemon->api.access.token_needed = !open;
	daemon->api.access.token = daemon->token;
	daemon->api.access.address = address;
	daemon->api.endpoint =
		arena_printf(&daemon->arena, "http://%s%.*s%s:%u",
			     str_find_char(address, ':') == STR_NONE ? "" : "[", STR_ARG(address),
			     str_find_char(address, ':') == STR_NONE ? "" : "]", daemon->api.port)
			.p;
	return http_server_listen(daemon->server, fd, false, err);
}

static int daemon_listen(struct daemon *daemon, struct err *err)
{
	int fd, r = http_listen_unix(daemon->places.socket.p, &fd, err);

	if (r < 0)
		return r;
	daemon->listening = true;
	r = http_server_listen(daemon->server, fd, true, err);
	if (r < 0 || !settings_bool(daemon->settings, SETTING_DAEMON_TCP))
		return r;
	return daemon_listen_tcp(daemon, err);
}

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
	config_watch_start(&daemon->watch, daemon->loop, daemon->settings, daemon->config,
			   &daemon_watch_events, daemon);
	places_watch_start(&daemon->places_watch, daemon->loop, daemon->settings, &daemon->places,
			   &daemon->lock, &daemon_places_events, daemon);
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

static void remove_file(struct str path)
{
	if (path.p)
		(void)unlink(path.p);
}

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
	/* Once the lock is lost they may be another's. */
	if (daemon->listening &&
	    (lock_file_is_ours(&daemon->lock) || places_watch_socket_is_ours(&daemon->places_watch))) {
		remove_file(daemon->places.socket);
		remove_file(daemon->places.info);
		if (daemon->token.n)
			remove_file(daemon->places.token);
	}
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

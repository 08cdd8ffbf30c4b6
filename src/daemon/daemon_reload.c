/* What is new is read whole before anything of it is in force. */
#include "base/base.h"
#include "daemon/daemon_private.h"
#include "daemon/limits.h"

void daemon_limits(const struct daemon *daemon, struct hub_limits *ret_limits)
{
	limits_of_hub(daemon->settings, &daemon->places, daemon->options->supervisor, daemon->client_info,
		      ret_limits);
}

void daemon_adjust(void *context)
{
	struct daemon *daemon = context;
	struct hub_limits limits;

	daemon_set_log_level(daemon);
	daemon_limits(daemon, &limits);
	hub_adjust(daemon->hub, &limits);
	api_adjust(&daemon->api);
}

int daemon_reload(void *context, unsigned *ret_added, unsigned *ret_removed, struct err *err)
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

void daemon_watch_config(struct daemon *daemon)
{
	config_watch_start(&daemon->watch, daemon->loop, daemon->settings, daemon->config,
			   &daemon_watch_events, daemon);
}

void daemon_hung_up(struct signal_watch *watch, int number)
{
	struct daemon *daemon = container_of(watch, struct daemon, hangup);
	struct err err;

	(void)number;
	log_file_follow(&daemon->log_file);
	if (daemon_reload_unasked(daemon, &err) < 0)
		daemon_config_refused(daemon, &err);
}

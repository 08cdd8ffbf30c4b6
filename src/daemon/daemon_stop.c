/* Each stage ends when nobody is left who could want more of it, or by its own deadline. */
#include "base/base.h"
#include "daemon/daemon_private.h"

#include <signal.h>

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
void daemon_emptied(void *context)
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

void daemon_stop(void *context, const char *why)
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
void daemon_terminated(struct signal_watch *watch, int number)
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

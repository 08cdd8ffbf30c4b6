#include "base/base.h"
#include "cli/reach.h"

#include "base/units.h"
#include "cli/autostart.h"
#include "cli/cli.h"
#include "io/clock.h"
#include "io/files.h"
#include "io/program.h"

/* Whether a failure to connect says that nobody listens: no socket, or one that its daemon left behind. */
static bool nobody_listens(int code)
{
	return code != ERR_TIMEOUT && code != ERR_DENIED && code != ERR_INVALID;
}

static int socket_open(struct cli *cli, const struct places *places, const struct http_client_limits *limits,
		       struct err *err)
{
	int r = places_check_socket(places, err);

	return r < 0 ? r : http_client_open_unix(&cli->daemon, places->socket.p, limits, err);
}

/* How long one health check may take. A command that has no time-out of its own leaves a busy daemon as much
 * time as one that starts. */
static uint64_t ping_patience(const struct cli *cli)
{
	return settings_duration(cli->settings, cli->patience_ms ? SETTING_AUTOSTART_PING_TIMEOUT
								 : SETTING_AUTOSTART_CONNECT_TIMEOUT);
}

/* A daemon that answers others will answer us. One that is ending may refuse others, and answers us all the
 * same. */
static int daemon_still_there(void *context, struct err *err)
{
	struct cli *cli = context;
	_cleanup_free_ struct http_client *other = xnew(struct http_client);
	const struct http_client_request ping = { .method = STR("GET"), .target = STR("/v1/health") };
	const struct http_client_limits limits = http_client_limits_all(ping_patience(cli));
	struct http_client_answer answer;
	int r, process = daemon_process(cli);

	r = http_client_open_unix(other, cli->places.socket.p, &limits, NULL);
	if (r == 0)
		r = http_client_send(other, &ping, &answer, NULL);
	http_client_close(other);
	if (r != ERR_TIMEOUT)
		return 0;
	return err_set(
		err, ERR_TIMEOUT,
		"the daemon, process %d, is stopped or hangs: `kill -KILL %d` ends it, and the next command starts another",
		process, process);
}

static int daemon_connect(struct cli *cli, struct err *err)
{
	const struct settings *set = cli->settings;
	const struct http_client_limits limits = {
		.connect_ms = settings_duration(set, SETTING_AUTOSTART_PING_TIMEOUT),
		.write_ms = settings_duration(set, SETTING_HTTP_REQUEST_TIMEOUT),
		.answer_ms = settings_duration(set, SETTING_HTTP_REQUEST_TIMEOUT),
		.quiet_ms = settings_duration(set, SETTING_HTTP_REQUEST_TIMEOUT),
		.check_ms = cli->patience_ms + ping_patience(cli),
		.still_there = daemon_still_there,
		.context = cli,
	};

	struct places elsewhere = cli->places;
	int r;

	http_client_close(&cli->daemon);
	r = socket_open(cli, &cli->places, &limits, err);
	if (r == 0 || !nobody_listens(r) || !places_follow_daemon(&elsewhere, &cli->arena))
		return r;
	r = socket_open(cli, &elsewhere, &limits, err);
	if (r == 0)
		cli->places = elsewhere;
	return r;
}

bool daemon_lost_socket(const struct cli *cli)
{
	return access(cli->places.socket.p, F_OK) < 0 && access(cli->places.info.p, F_OK) == 0;
}

int daemon_unreachable(const struct cli *cli, pid_t holder, struct err *err)
{
	return err_set(
		err, ERR_BUSY,
		"the daemon runs as process %d, which holds %s, but does not answer at %s: `mcpx stop` ends it",
		(int)holder, cli->places.lock.p, cli->places.socket.p);
}

int daemon_reach_running(struct cli *cli, struct err *err)
{
	int r = daemon_connect(cli, err);
	pid_t holder;

	if (r == 0 || !nobody_listens(r))
		return r;
	holder = lock_file_holder(cli->places.lock.p);
	if (holder)
		return daemon_unreachable(cli, holder, err);
	return err_set(err, ERR_NOT_FOUND,
		       "no daemon is running for these configuration files; `mcpx ls` starts one");
}

/* One that holds the lock and does not listen is most likely starting. */
static int reach_starting(struct cli *cli, struct err *err)
{
	uint64_t interval = settings_duration(cli->settings, SETTING_AUTOSTART_POLL_INTERVAL);
	uint64_t until =
		clock_monotonic_ms() + settings_duration(cli->settings, SETTING_AUTOSTART_PING_TIMEOUT);
	int r;

	while ((r = daemon_reach_running(cli, err)) == ERR_BUSY && clock_monotonic_ms() < until)
		clock_pause_ms(interval);
	return r;
}

/* A flag that acts on the daemon has no effect on one that runs already: that must not pass in silence. */
static void note_idle_flags(struct cli *cli)
{
	struct str first = arguments_daemon_flag(&cli->arguments);

	if (first.n)
		cli_note(
			cli,
			"%.*s acts on the daemon, which is running already: use `mcpx settings set`, or `mcpx stop` first",
			STR_ARG(first));
}

bool daemon_may_be_started(const struct cli *cli)
{
	return !cli->arguments.command->starts_no_daemon &&
	       settings_bool(cli->settings, SETTING_DAEMON_AUTOSTART);
}

int daemon_reach(struct cli *cli, struct err *err)
{
	int r = daemon_connect(cli, err);

	if (r == 0) {
		note_idle_flags(cli);
		return 0;
	}
	if (!nobody_listens(r))
		return r;
	if (daemon_may_be_started(cli))
		return autostart(cli, daemon_connect, err);
	r = reach_starting(cli, err);
	if (r == ERR_NOT_FOUND && !cli->arguments.command->starts_no_daemon)
		return err_set(
			err, ERR_NOT_FOUND,
			"no daemon is running and daemon.autostart is off: start one with `mcpx daemon`");
	return r;
}

/* And as much time again as a start may take, for a machine that is busy. */
uint64_t daemon_end_patience(const struct cli *cli)
{
	static const enum setting parts[] = {
		SETTING_HTTP_SHUTDOWN_GRACE, SETTING_EXEC_TERM_GRACE, SETTING_EXEC_KILL_GRACE,
		SETTING_POOL_TERM_GRACE,     SETTING_POOL_KILL_GRACE, SETTING_AUTOSTART_CONNECT_TIMEOUT
	};
	uint64_t sum = 0;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		sum += settings_duration(cli->settings, parts[i]);
	return sum;
}

int daemon_not_ended(const struct cli *cli, pid_t process, struct err *err)
{
	char text[DURATION_TEXT_MAX];

	duration_text(text, daemon_end_patience(cli));
	return err_set(err, ERR_TIMEOUT,
		       "the daemon, process %d, has not ended within %s: `kill -KILL %d` ends it",
		       (int)process, text, (int)process);
}

int daemon_wait_end(struct cli *cli, pid_t process, struct err *err)
{
	int r;

	http_client_close(&cli->daemon);
	if (!process)
		return 0;
	r = process_wait_end(process, daemon_end_patience(cli), err);
	return r == ERR_TIMEOUT ? daemon_not_ended(cli, process, err) : r;
}

int daemon_process(const struct cli *cli)
{
	return http_client_peer_process(&cli->daemon);
}

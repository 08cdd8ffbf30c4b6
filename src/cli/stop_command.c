/*
 * `mcpx stop`: whoever stops the daemon may count on it being gone, so that this waits for its end.
 *
 * A daemon that holds the lock and refuses connections is starting, and will take them; or it ends, and a
 * second request would only cut its grace short; or its socket was removed, and a signal reaches it. They
 * look alike for a moment, so that it is looked again and again until the one that was there first is
 * asked or gone.
 */
#include "base/base.h"
#include "cli/commands.h"

#include "cli/cli.h"
#include "cli/reach.h"
#include "cli/request.h"
#include "cli/show.h"
#include "io/clock.h"
#include "io/files.h"

struct stop {
	struct cli *cli;
	pid_t process; /* the one that is to end; 0: none was seen */
	bool signalled;
	uint64_t patience; /* until when one that has made no socket yet may be starting */
	struct str body;   /* what it answered */
};

enum { STOP_AGAIN = 1 };

/* Asks one that can be asked. STOP_AGAIN when it closes the connection: it ends, or never heard this. */
static int stop_ask(struct stop *stop, struct err *err)
{
	struct cli *cli = stop->cli;
	const struct request request = { .operation = CLI_OPERATION(SHUTDOWN),
					 .target = CLI_OPERATION(SHUTDOWN)->route,
					 .for_this_daemon = true };
	struct http_client_answer answer;
	struct str body;
	int r = request_send(cli, &request, &answer, err);

	if (r == 0 && !request_met_end(&answer)) {
		unsigned status = answer.status;

		r = request_read_body(cli, &body, err);
		if (r == 0 && !request_succeeded(status))
			return request_refusal(status, body, err);
		if (r == 0)
			stop->body = body;
	}
	if (r == ERR_CLOSED)
		return STOP_AGAIN;
	return r < 0 ? r : daemon_wait_end(cli, stop->process, err);
}

/* It has lost its socket, or has taken too long to make one. */
static bool has_no_socket(const struct stop *stop)
{
	return daemon_lost_socket(stop->cli) ||
	       (access(stop->cli->places.socket.p, F_OK) < 0 && clock_monotonic_ms() >= stop->patience);
}

/* One look. 0: it has ended, or there is none. */
static int stop_step(struct stop *stop, struct err *err)
{
	struct cli *cli = stop->cli;
	int r = daemon_reach_running(cli, err);
	bool known = stop->process;
	pid_t process = 0;

	if (r < 0 && r != ERR_BUSY && r != ERR_NOT_FOUND)
		return r;
	if (r != ERR_NOT_FOUND)
		process = r == 0 ? daemon_process(cli) : lock_file_holder(cli->places.lock.p);
	if ((known && process != stop->process) || r == ERR_NOT_FOUND)
		return 0;
	stop->process = process;
	if (r == 0)
		return stop_ask(stop, err);
	if (known && !stop->signalled && has_no_socket(stop)) {
		r = lock_file_end_holder(cli->places.lock.p, &process, err);
		if (r < 0 && r != ERR_NOT_FOUND)
			return r;
		stop->signalled = true;
	}
	return STOP_AGAIN;
}

static int stop_all(struct stop *stop, struct err *err)
{
	const struct settings *set = stop->cli->settings;
	uint64_t interval = settings_duration(set, SETTING_AUTOSTART_POLL_INTERVAL);
	uint64_t now = clock_monotonic_ms(), until = now + daemon_end_patience(stop->cli);
	int r;

	stop->patience = now + settings_duration(set, SETTING_AUTOSTART_PING_TIMEOUT);
	while ((r = stop_step(stop, err)) == STOP_AGAIN) {
		if (clock_monotonic_ms() >= until)
			return daemon_not_ended(stop->cli, stop->process, err);
		clock_pause_ms(interval);
	}
	return r;
}

int command_stop(struct cli *cli)
{
	struct stop stop = { .cli = cli, .body = STR("{\"stopping\":true}") };
	struct err err;
	int r;

	cli->patience_ms = settings_duration(cli->settings, SETTING_HTTP_SHUTDOWN_GRACE);
	r = stop_all(&stop, &err);
	http_client_close(&cli->daemon);
	if (r < 0)
		return cli_fail(cli, &err);
	if (!stop.process)
		return cli_wants_json(cli) ? show_json(cli, STR("{\"stopping\":false}"))
					   : show_text(cli, STR("no daemon is running\n"));
	return cli_wants_json(cli) ? show_json(cli, stop.body)
				   : show_text(cli, STR("the daemon has stopped\n"));
}

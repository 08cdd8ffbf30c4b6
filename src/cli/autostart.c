/*
 * A daemon that cannot start says why in the log that its standard error is. What was in there before we
 * started it is somebody else's story, so only what came since is shown.
 */
#include "base/base.h"
#include "cli/autostart.h"

#include "base/units.h"
#include "cli/cli.h"
#include "cli/reach.h"
#include "daemon/daemon.h"
#include "io/clock.h"
#include "io/files.h"
#include "io/program.h"
#include "text/utf8.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum {
	LOG_MODE = 0600,
	STOPPED_MAX = 5, /* a program that is no daemon ends well, too */
};

struct start {
	struct cli *cli;
	int log_fd;
	off_t log_size; /* when we began */
	struct background background;
	uint64_t until;
	bool gave_way;	   /* to one that holds the lock */
	pid_t holder;	   /* which; 0: none was seen */
	uint64_t patience; /* until when one that lost its socket may make it anew */
	uint64_t pause;	   /* between the last start and the next, if nobody is seen to hold the lock */
	uint64_t next;	   /* when that is */
	unsigned stopped;  /* how often it was up and was stopped at once */
};

/* -- the command line of the daemon ---------------------------------------------------------------------- */

static const char *const *daemon_arguments(struct cli *cli, const char *program)
{
	struct setting_items words = settings_items(cli->settings, SETTING_AUTOSTART_ARGS);
	char idle_exit[DURATION_TEXT_MAX];
	const char **arguments =
		arena_array(&cli->arena, const char *, words.count + cli->arguments.setting_flag_count + 3);
	size_t n = 0;

	arguments[n++] = program;
	for (size_t i = 0; i < words.count; i++)
		arguments[n++] = arena_cstr(&cli->arena, words.items[i]);
	duration_text(idle_exit, settings_duration(cli->settings, SETTING_AUTOSTART_IDLE_EXIT));
	arguments[n++] = arena_printf(&cli->arena, "--daemon-idle-exit=%s", idle_exit).p;
	for (size_t i = 0; i < cli->arguments.setting_flag_count; i++)
		if (arguments_hand_on(&cli->arguments, &cli->arguments.setting_flags[i]))
			arguments[n++] = cli->arguments.setting_flags[i].text;
	return arguments;
}

/* -- starting -------------------------------------------------------------------------------------------- */

static int start_open_log(struct start *start, struct err *err)
{
	const char *path = start->cli->places.log.p;
	struct stat status;

	start->log_fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, LOG_MODE);
	if (start->log_fd < 0)
		return err_errno(err, "cannot open the daemon's log %s", path);
	start->log_size = fstat(start->log_fd, &status) == 0 ? status.st_size : 0;
	return 0;
}

static int start_program(struct start *start, struct err *err)
{
	struct cli *cli = start->cli;
	struct str chosen = settings_string(cli->settings, SETTING_AUTOSTART_BIN);
	char self[PATH_MAX];
	int r = chosen.n ? 0 : program_self(self, sizeof(self), err);

	if (r < 0)
		return r;
	return background_start(&start->background, chosen.n ? chosen.p : self,
				daemon_arguments(cli, chosen.n ? chosen.p : self), cli->environment.entries,
				start->log_fd, err);
}

/* -- waiting --------------------------------------------------------------------------------------------- */

/* What the log says since the start, at most autostart.logTail of it. */
static struct str start_log(struct start *start)
{
	struct cli *cli = start->cli;
	size_t max = settings_bytes(cli->settings, SETTING_AUTOSTART_LOG_TAIL);
	struct stat status;
	ssize_t n;
	off_t from = start->log_size;
	char *text;

	if (fstat(start->log_fd, &status) < 0 || status.st_size <= from)
		return STR("");
	if ((uint64_t)(status.st_size - from) > max)
		from = status.st_size - (off_t)max;
	text = arena_alloc(&cli->arena, (size_t)(status.st_size - from) + 1);
	n = pread(start->log_fd, text, (size_t)(status.st_size - from), from);
	return n > 0 ? str_trim(utf8_clean(&cli->arena, str_make(text, (size_t)n))) : STR("");
}

static int start_failed(struct start *start, int code, const char *what, struct err *err)
{
	struct str log = start_log(start);

	if (log.n == 0)
		return err_set(err, code, "%s and wrote nothing to its log, %s", what,
			       start->cli->places.log.p);
	return err_set(err, code, "%s; %s ends with\n%.*s", what, start->cli->places.log.p, STR_ARG(log));
}

static int start_ended(struct start *start, struct err *err)
{
	char what[64];

	snprintf(what, sizeof(what), "the daemon did not start (exit status %d)", start->background.status);
	return start_failed(start, ERR_CLOSED, what, err);
}

/* Each pause is as long as all before it, so that a lock whose holder is never seen costs few starts. */
static int start_again(struct start *start, uint64_t now, struct err *err)
{
	start->pause = start->pause
			       ? 2 * start->pause
			       : settings_duration(start->cli->settings, SETTING_AUTOSTART_POLL_INTERVAL);
	start->next = now + start->pause;
	start->gave_way = false;
	start->holder = 0;
	background_release(&start->background);
	return start_program(start, err);
}

/*
 * The one that holds the lock is starting, too, and will answer; or it is ending, and when it has, ours is
 * started again; or it has lost its socket. One that was killed is not to be seen any more some time before
 * the kernel gives its lock back.
 */
static int start_look_at_holder(struct start *start, struct err *err)
{
	pid_t holder = lock_file_holder(start->cli->places.lock.p);
	uint64_t now = clock_monotonic_ms();

	if (!holder && now >= start->next)
		return start_again(start, now, err);
	start->holder = holder;
	if (holder && now >= start->patience && daemon_lost_socket(start->cli))
		return daemon_unreachable(start->cli, holder, err);
	return 0;
}

static int start_timed_out(struct start *start, struct err *err)
{
	if (start->holder)
		return daemon_unreachable(start->cli, start->holder, err);
	return start_failed(start, ERR_TIMEOUT,
			    "the daemon was started and did not answer within autostart.connectTimeout", err);
}

static void start_gave_way(struct start *start)
{
	start->gave_way = true;
	start->patience = clock_monotonic_ms() +
			  settings_duration(start->cli->settings, SETTING_AUTOSTART_PING_TIMEOUT);
}

/* Whether another may come after the one that has ended: that gave way to another, or was stopped by somebody
 * before we reached it. */
static bool start_may_follow(struct start *start)
{
	return start->background.status == DAEMON_EXIT_BUSY ||
	       (start->background.status == 0 && start->stopped++ < STOPPED_MAX);
}

static int start_wait(struct start *start, int (*connect)(struct cli *cli, struct err *err), struct err *err)
{
	uint64_t interval = settings_duration(start->cli->settings, SETTING_AUTOSTART_POLL_INTERVAL);

	for (;;) {
		uint64_t now = clock_monotonic_ms();
		enum background_event event;

		if (now >= start->until)
			return start_timed_out(start, err);
		event = background_wait(&start->background,
					interval < start->until - now ? interval : start->until - now);
		if (connect(start->cli, err) == 0)
			return 0;
		if (event == BACKGROUND_ENDED && !start_may_follow(start))
			return start_ended(start, err);
		if (event == BACKGROUND_ENDED)
			start_gave_way(start);
		if (start->gave_way && start_look_at_holder(start, err) < 0)
			return err->code;
	}
}

int autostart(struct cli *cli, int (*connect)(struct cli *cli, struct err *err), struct err *err)
{
	struct start start = { .cli = cli, .log_fd = -1 };
	int r = places_prepare(&cli->places, err);

	start.until =
		clock_monotonic_ms() + settings_duration(cli->settings, SETTING_AUTOSTART_CONNECT_TIMEOUT);
	if (r == 0)
		r = start_open_log(&start, err);
	if (r == 0)
		r = start_program(&start, err);
	if (r == 0)
		r = start_wait(&start, connect, err);
	background_release(&start.background);
	close_fd(&start.log_fd);
	return r;
}

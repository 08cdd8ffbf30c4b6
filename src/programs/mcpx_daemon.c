/*
 * mcpx-daemon - the daemon's program. `mcpx daemon` becomes it by execve(2), so that the command line itself
 * links nothing that the daemon needs.
 *
 *	mcpx-daemon [--detached] [--config FILE] [flags of settings]
 */
#include "base/base.h"
#include "daemon/daemon.h"
#include "io/program_path.h"
#include "io/standard_streams.h"
#include "settings/settings.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>

enum {
	/* Large blocks go back to the system when they are freed: without this a daemon that once passed on a
	 * large result would keep its memory. */
	MMAP_THRESHOLD = 256 * 1024,
	EXIT_USAGE = 2,
};

static int complain(const struct err *err)
{
	fprintf(stderr, "mcpx: %s\n", err->message);
	if (err->code == ERR_BUSY)
		return DAEMON_EXIT_BUSY;
	return err->code == ERR_INVALID ? EXIT_USAGE : EXIT_FAILURE;
}

/* Whoever started us in the background waits for the end of our standard output. It stays taken, so that
 * nothing else gets its number. */
static void tell_ready(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)dup3(fd, STDOUT_FILENO, O_CLOEXEC);
	close_fd(&fd);
}

static int take_arguments(struct settings *set, int argc, char **argv, struct daemon_options *options,
			  struct err *err)
{
	for (int i = 1; i < argc; i++) {
		unsigned used = 1;
		int r;

		if (str_eq(str_of(argv[i]), STR("--detached"))) {
			options->detached = true;
			continue;
		}
		r = settings_add_flag(set, STR("daemon"), argv[i], argv[i + 1], &used, err);
		if (r < 0)
			return r;
		if (r == 0)
			return err_set(err, ERR_INVALID,
				       "daemon: unknown argument %s; `mcpx help daemon` lists its flags",
				       argv[i]);
		i += (int)used - 1;
	}
	return 0;
}

static int run(int argc, char **argv)
{
	struct settings *set = settings_new();
	struct daemon_options options = { .settings = set,
					  .environment = environment_current(),
					  .version = MCPX_VERSION };
	char cwd[PATH_MAX], supervisor[PATH_MAX];
	struct err err;
	int r;

	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	options.cwd = str_of(getcwd(cwd, sizeof(cwd)));
	if (!options.cwd.p)
		options.cwd = STR("/");
	r = take_arguments(set, argc, argv, &options, &err);
	if (r == 0)
		r = settings_load(set, &options.config, &options.environment, options.cwd, &err);
	if (r == 0) {
		options.supervisor = settings_string(set, SETTING_PATHS_SUPERVISOR).p;
		if (settings_string(set, SETTING_PATHS_SUPERVISOR).n == 0) {
			r = program_path_beside("mcpx-supervisor", supervisor, sizeof(supervisor), &err);
			options.supervisor = supervisor;
		}
	}
	if (options.detached)
		options.ready = tell_ready;
	if (r == 0)
		r = daemon_run(&options, &err);
	settings_free(&set);
	return r < 0 ? complain(&err) : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct err err;

	return standard_streams_open(&err) < 0 ? complain(&err) : run(argc, argv);
}

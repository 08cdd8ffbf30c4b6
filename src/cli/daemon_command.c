/* `mcpx daemon`: becomes mcpx-daemon, so that this program links nothing of what the daemon needs. */
#include "base/base.h"
#include "cli/commands.h"

#include "cli/cli.h"
#include "io/program.h"
#include "io/program_path.h"

#include <limits.h>

/* Its own name, the flags of settings that were given, wherever they stood, and --detached. */
static const char *const *daemon_words(struct cli *cli)
{
	const struct arguments *arguments = &cli->arguments;
	const char **words = arena_array(&cli->arena, const char *, arguments->setting_flag_count + 3);
	size_t count = 0;

	words[count++] = "mcpx-daemon";
	for (size_t i = 0; i < arguments->setting_flag_count; i++)
		if (arguments_hand_on(arguments, &arguments->setting_flags[i]))
			words[count++] = arguments->setting_flags[i].text;
	if (argument_bool(arguments, STR("detached")))
		words[count++] = "--detached";
	return words;
}

int command_daemon(struct cli *cli)
{
	char path[PATH_MAX];
	struct err err;

	if (program_path_beside("mcpx-daemon", path, sizeof(path), &err) == 0)
		(void)program_become(path, daemon_words(cli), cli->environment.entries, &err);
	return cli_fail(cli, &err);
}

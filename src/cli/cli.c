#include "base/base.h"
#include "cli/cli.h"

#include "cli/help.h"
#include "cli/reach.h"
#include "cli/show.h"
#include "json/writer.h"

#include <limits.h>
#include <stdarg.h>

/* -- failures -------------------------------------------------------------------------------------------- */

bool cli_wants_json(const struct cli *cli)
{
	return settings_bool(cli->settings, SETTING_OUTPUT_JSON);
}

void cli_say(struct cli *cli, struct str message)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, SHOW_MAX);
	terminal_style(&cli->error, &out, STYLE_BAD, STR("mcpx:"));
	buf_append_char(&out, ' ');
	terminal_append(&cli->error, &out, message);
	buf_append_char(&out, '\n');
	if (!buf_failed(&out))
		(void)terminal_write(&cli->error, buf_str(&out), NULL);
}

int cli_fail_with(struct cli *cli, const struct err *err, struct str document)
{
	cli_say(cli, str_of(err->message));
	if (cli_wants_json(cli) && document.n)
		show_json(cli, document);
	else if (cli_wants_json(cli))
		show_member(cli, STR("error"), str_of(err->message));
	return err->code == ERR_TIMEOUT ? CLI_TIMED_OUT : CLI_FAILED;
}

int cli_fail(struct cli *cli, const struct err *err)
{
	return cli_fail_with(cli, err, str_make(NULL, 0));
}

int cli_fail_usage(struct cli *cli, const struct err *err)
{
	const struct command *command = cli->arguments.command;
	struct err full = *err;

	if (command)
		err_set(&full, err->code, "%s (`mcpx help %.*s` says more)", err->message,
			STR_ARG(command->words));
	(void)cli_fail(cli, &full);
	return CLI_USAGE;
}

void cli_note(struct cli *cli, const char *format, ...)
{
	char text[ERR_MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cli_say(cli, str_of(text));
}

/* -- one run --------------------------------------------------------------------------------------------- */

static struct str current_directory(struct arena *arena)
{
	char path[PATH_MAX];

	return getcwd(path, sizeof(path)) ? arena_copy(arena, str_of(path)) : STR("/");
}

static void cli_init(struct cli *cli, const char *version)
{
	cli->version = version;
	cli->environment = environment_current();
	arena_init(&cli->arena, 0);
	cli->cwd = current_directory(&cli->arena);
	cli->settings = settings_new();
}

static void cli_release(struct cli *cli)
{
	http_client_close(&cli->daemon);
	config_free(&cli->config);
	settings_free(&cli->settings);
	arena_release(&cli->arena);
}

static void cli_open_terminals(struct cli *cli)
{
	terminal_init(&cli->out, STDOUT_FILENO, cli->settings, &cli->environment);
	terminal_init(&cli->error, STDERR_FILENO, cli->settings, &cli->environment);
}

static int cli_parse(struct cli *cli, int argc, char **argv, struct err *err)
{
	const struct argument_context context = { .settings = cli->settings,
						  .environment = &cli->environment,
						  .cwd = cli->cwd,
						  .arena = &cli->arena };

	return arguments_parse(&cli->arguments, argc, argv, &context, err);
}

/* Parsing stops at the first mistake, and the wish for a document may stand behind it, in any spelling. */
static void look_for_json(struct cli *cli, int argc, char **argv)
{
	unsigned used;

	for (int i = 1; i < argc && !str_eq(str_of(argv[i]), STR("--")); i++)
		(void)settings_add_flag(cli->settings, STR(""), argv[i], NULL, &used, NULL);
}

/* `fault` is that a file cannot be taken. A daemon that has read it before goes on with what it had, and can
 * be asked; false when none runs. */
static bool reach_without_file(struct cli *cli, const struct err *fault)
{
	if (cli->arguments.command->needs_files ||
	    settings_load_lenient(cli->settings, &cli->config, &cli->environment, cli->cwd, NULL) < 0 ||
	    places_find(&cli->places, cli->settings, cli->config, &cli->environment, &cli->arena, NULL) < 0 ||
	    daemon_reach_running(cli, NULL) == ERR_NOT_FOUND)
		return false;
	http_client_close(&cli->daemon); /* the command makes its own */
	cli_note(cli, "%s; the daemon goes on with what it has", fault->message);
	return true;
}

static int cli_load(struct cli *cli, struct err *err)
{
	int r = settings_load(cli->settings, &cli->config, &cli->environment, cli->cwd, err);

	if (r < 0)
		return reach_without_file(cli, err) ? 0 : r;
	return places_find(&cli->places, cli->settings, cli->config, &cli->environment, &cli->arena, err);
}

static int run_command(struct cli *cli)
{
	const struct command *command = cli->arguments.command;
	struct err err;

	if (arguments_check(&cli->arguments, &err) < 0)
		return cli_fail_usage(cli, &err);
	if (command->bare)
		return command->run(cli);
	if (cli_load(cli, &err) < 0)
		return cli_fail(cli, &err);
	cli_open_terminals(cli);
	return command->run(cli);
}

static int family_without_member(struct cli *cli)
{
	struct str family = cli->arguments.family, members = { NULL, 0 };
	struct err err;

	for (size_t i = 0; i < command_count(); i++) {
		struct str words = command_at(i)->words;
		struct str rest = str_from(words, family.n + 1);

		if (words.n > family.n && str_starts_with(words, family) && words.p[family.n] == ' ')
			members = members.n ? arena_concat(&cli->arena, members, STR(", "), rest) : rest;
	}
	err_set(&err, ERR_INVALID, "`mcpx %.*s` needs a further word: %.*s; `mcpx help %.*s` says more",
		STR_ARG(family), STR_ARG(members), STR_ARG(family));
	return cli_fail_usage(cli, &err);
}

static int cli_run(struct cli *cli, int argc, char **argv)
{
	struct arguments *arguments = &cli->arguments;
	struct err err;

	/* Variables say how help and failures are shown, too. One that is wrong is told by the commands that
	 * load the settings, and is not the business of the others. */
	(void)settings_add_environment(cli->settings, &cli->environment, NULL);
	cli_open_terminals(cli);
	if (cli_parse(cli, argc, argv, &err) < 0) {
		look_for_json(cli, argc, argv);
		return cli_fail_usage(cli, &err);
	}
	cli_open_terminals(cli); /* --color was among the flags */
	if (arguments->version)
		return show_version(cli);
	if (arguments->help || (!arguments->command && !arguments->family.n))
		return help_show(cli, arguments->command ? arguments->command->words : arguments->family);
	if (!arguments->command)
		return family_without_member(cli);
	return run_command(cli);
}

/* What a file system takes it may still refuse when the file is closed: for a quota, or over a network. */
static int close_output(struct cli *cli, int status)
{
	struct err err;

	if (close(STDOUT_FILENO) == 0)
		return status;
	err_errno(&err, "cannot write to standard output");
	cli_say(cli, str_of(err.message));
	return status == CLI_OK ? CLI_FAILED : status;
}

int cli_main(int argc, char **argv, const char *version)
{
	struct cli *cli = xnew(struct cli);
	int status;

	cli_init(cli, version);
	status = close_output(cli, cli_run(cli, argc, argv));
	cli_release(cli);
	free(cli);
	return status;
}

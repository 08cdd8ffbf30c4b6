#include "base/base.h"
#include "cli/reference.h"

#include "cli/command.h"
#include "cli/help.h"

static const char head[] =
	"# Every command\n\n"
	"Made by `mcpx help --markdown`; `mcpx help` and a command's name, or `--help`, show the same in a terminal.\n\n"
	"Flags stand anywhere before a script's own arguments: `--flag value`, `--flag=value`, `--flag` and `--no-flag` for yes and no. `--` ends\n"
	"them. Besides those below, every setting of [settings.md](settings.md) is a flag of every command. A first word that is no command but the path\n"
	"or the name of a script runs that script, as `mcpx run` does.\n\n"
	"A command that needs the daemon starts it when none is running, except those that are about the daemon itself. Answers are laid out for\n"
	"people; with `--json` a command prints one JSON document, also when it fails. What another program is to read comes as it is in both cases: the\n"
	"bytes of `artifact get`, the scripts of `completion`, `help --man` and `help --markdown`. Messages go to standard error and begin with `mcpx:`.\n\n"
	"| exit status | means |\n"
	"| --- | --- |\n"
	"| 0 | it was done |\n"
	"| 1 | it failed; a tool that answers with an error counts as failed |\n"
	"| 2 | the command line was wrong |\n"
	"| 69 | `mcpx daemon` found one that runs already for the same configuration files |\n"
	"| 124 | the time for it was over |\n"
	"| 130, 143 | it was interrupted (SIGINT) or told to end (SIGTERM) |\n"
	"| another | the script's own, of `mcpx run` and `mcpx exec` |\n";

/* A bar would end the cell. */
static void cell(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '|')
			buf_append_char(out, '\\');
		buf_append_char(out, text.p[i]);
	}
}

static void input_row(struct buf *out, const struct operation_input *input)
{
	_cleanup_buf_ struct buf spelling = { 0 };

	buf_init(&spelling, REFERENCE_MAX);
	help_spelling(input, &spelling);
	buf_append(out, STR("| `"));
	cell(out, buf_str(&spelling));
	buf_append(out, STR("` | "));
	cell(out, input->description);
	buf_append(out, STR(" |\n"));
}

static void input_table(struct buf *out, const struct command *command, bool flags)
{
	bool any = false;

	for (size_t i = 0; i < command->input_count; i++) {
		const struct operation_input *input = &command->inputs[i];

		if (input->command == INPUT_NOT_ON_COMMAND_LINE || (input->command == INPUT_FLAG) != flags)
			continue;
		if (!any)
			buf_append(out, flags ? STR("\n| flag | |\n| --- | --- |\n")
					      : STR("\n| argument | |\n| --- | --- |\n"));
		any = true;
		input_row(out, input);
	}
}

/* Under which other names the daemon can be asked for the same. */
static void other_names(struct buf *out, const struct operation *operation)
{
	buf_printf(out, "\nOver HTTP `%.*s %.*s`; ", STR_ARG(operation->method), STR_ARG(operation->route));
	if (operation->tool.n)
		buf_printf(out, "as an MCP tool `%.*s`.\n", STR_ARG(operation->tool));
	else
		buf_printf(out, "no MCP tool: %.*s.\n", STR_ARG(operation->alone));
}

static void command_section(struct buf *out, const struct command *command)
{
	_cleanup_buf_ struct buf usage = { 0 };

	buf_init(&usage, REFERENCE_MAX);
	help_usage(command, &usage);
	buf_printf(out, "\n### %.*s\n\n```\n%.*s\n```\n\n%.*s\n", STR_ARG(command->words),
		   STR_ARG(buf_str(&usage)), STR_ARG(command->summary));
	if (command->detail.n)
		buf_printf(out, "\n%.*s\n", STR_ARG(command->detail));
	input_table(out, command, false);
	input_table(out, command, true);
	if (command->operation)
		other_names(out, command->operation);
}

void reference_write(struct buf *out)
{
	buf_append(out, str_of(head));
	for (size_t g = 0; g < command_group_count; g++) {
		buf_printf(out, "\n## %.*s\n", STR_ARG(command_groups[g].title));
		for (size_t i = 0; i < command_count(); i++)
			if (str_eq(command_at(i)->group, command_groups[g].name))
				command_section(out, command_at(i));
	}
}

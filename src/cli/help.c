#include "base/base.h"
#include "cli/help.h"

#include "cli/commands.h"
#include "cli/display.h"
#include "cli/manual.h"
#include "cli/reference.h"
#include "cli/show.h"
#include "json/writer.h"
#include "settings/registry.h"

enum {
	INDENT = 2,
	NAME_COLUMN = 26,		/* where descriptions begin, as far as names leave room */
	NARROW_WIDTH = 2 * NAME_COLUMN, /* below it descriptions have lines of their own */
	PLAIN_WIDTH = 100		/* lines of help that go to no terminal */
};

/* -- laying out ------------------------------------------------------------------------------------------ */

static void blanks(struct buf *out, size_t count)
{
	while (count--)
		buf_append_char(out, ' ');
}

/* Text broken at blanks, each line after the first indented; `column` is where the first begins. */
static void wrapped(const struct cli *cli, struct buf *out, struct str text, size_t indent, size_t column)
{
	size_t width = cli->out.width ? size_min(cli->out.width, PLAIN_WIDTH) : PLAIN_WIDTH;
	bool first = true;
	struct str word;

	while (str_split(&text, ' ', &word)) {
		size_t columns = display_width(word);

		if (!first && column + 1 + columns > width) {
			buf_append_char(out, '\n');
			blanks(out, indent);
			column = indent;
		} else if (!first) {
			buf_append_char(out, ' ');
			column++;
		}
		buf_append(out, word);
		column += columns;
		first = false;
	}
	buf_append_char(out, '\n');
}

void help_entry(const struct cli *cli, struct buf *out, struct str name, struct str description)
{
	bool narrow = cli->out.width && cli->out.width < NARROW_WIDTH;
	size_t begin = narrow ? 2 * INDENT : NAME_COLUMN;
	size_t column = INDENT + display_width(name);

	blanks(out, INDENT);
	terminal_style(&cli->out, out, STYLE_NAME, name);
	if (description.n == 0) {
		buf_append_char(out, '\n');
		return;
	}
	if (narrow || column + 1 > NAME_COLUMN) {
		buf_append_char(out, '\n');
		column = 0;
	}
	blanks(out, begin - column);
	wrapped(cli, out, description, begin, begin);
}

void help_heading(const struct cli *cli, struct buf *out, struct str title)
{
	buf_append_char(out, '\n');
	terminal_style(&cli->out, out, STYLE_STRONG, title);
	buf_append_char(out, '\n');
}

/* -- one command ----------------------------------------------------------------------------------------- */

static void alias_spelling(struct str alias, struct buf *out)
{
	char storage[COMMAND_FLAG_MAX];
	struct str text = command_flag_text(storage, alias);

	if (alias.n)
		buf_printf(out, "%s%.*s, ", alias.n == 1 ? "-" : "--", STR_ARG(text));
}

void help_spelling(const struct operation_input *input, struct buf *out)
{
	char storage[COMMAND_FLAG_MAX];

	if (input->command == INPUT_POSITIONAL || input->command == INPUT_REST) {
		buf_append(out, input->value);
		if (input->command == INPUT_REST)
			buf_append(out, STR("..."));
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(input->aliases); i++)
		if (input->aliases[i].n == 1)
			alias_spelling(input->aliases[i], out);
	buf_append(out, STR("--"));
	buf_append(out, command_flag_text(storage, input->name));
	if (input->kind == INPUT_BOOLEAN)
		return;
	buf_append_char(out, ' ');
	buf_append(out, input->choices.n ? input->choices : input->value);
}

void help_usage(const struct command *command, struct buf *out)
{
	buf_printf(out, "mcpx %.*s", STR_ARG(command->words));
	for (size_t i = 0; i < command->input_count; i++)
		if (command->inputs[i].command == INPUT_FLAG) {
			buf_append(out, STR(" [flags]"));
			break;
		}
	for (size_t i = 0; i < command->input_count; i++) {
		const struct operation_input *input = &command->inputs[i];

		if (input->command != INPUT_POSITIONAL && input->command != INPUT_REST)
			continue;
		buf_append(out, input->required ? STR(" ") : STR(" ["));
		help_spelling(input, out);
		if (!input->required)
			buf_append_char(out, ']');
	}
}

static void input_entries(struct cli *cli, const struct command *command, bool flags, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < command->input_count; i++) {
		const struct operation_input *input = &command->inputs[i];
		_cleanup_buf_ struct buf name = { 0 };

		if (input->command == INPUT_NOT_ON_COMMAND_LINE || (input->command == INPUT_FLAG) != flags)
			continue;
		if (!any)
			help_heading(cli, out, flags ? STR("Flags") : STR("Arguments"));
		any = true;
		buf_init(&name, SHOW_MAX);
		help_spelling(input, &name);
		help_entry(cli, out, buf_str(&name), input->description);
	}
}

struct str help_setting_value(const struct setting_declaration *setting)
{
	static const struct str names[] = {
		[SETTING_KIND_BOOL] = STR_INIT(""),
		[SETTING_KIND_INT] = STR_INIT("N"),
		[SETTING_KIND_DURATION] = STR_INIT("DURATION"),
		[SETTING_KIND_BYTES] = STR_INIT("SIZE"),
		[SETTING_KIND_ENUM] = STR_INIT("WORD"),
		[SETTING_KIND_LIST] = STR_INIT("LIST"),
		[SETTING_KIND_PATHS] = STR_INIT("PATHS"),
		[SETTING_KIND_STRING] = STR_INIT("TEXT"),
	};

	return names[setting->kind];
}

/* "--output text|structured|stream" */
static void setting_value(const struct setting_declaration *setting, struct buf *out)
{
	struct str name = help_setting_value(setting);

	if (name.n)
		buf_append_char(out, ' ');
	if (setting->kind != SETTING_KIND_ENUM)
		buf_append(out, name);
	else
		for (size_t i = 0; i < setting->choices.count; i++)
			buf_printf(out, "%s%.*s", i ? "|" : "", STR_ARG(setting->choices.words[i]));
}

/* "-n, --limit N" where a short spelling binds on this command alone. */
static void setting_spelling(const struct setting_declaration *declaration, struct buf *out)
{
	for (size_t i = 0; i < declaration->flag_aliases.count; i++) {
		struct str alias = declaration->flag_aliases.words[i];

		buf_printf(out, "%s%s%.*s", i ? ", " : "", alias.n == 1 ? "-" : "--", STR_ARG(alias));
	}
	setting_value(declaration, out);
}

/* Settings that this command has a short spelling of, unless that is a flag of its own too. */
static void setting_entries(struct cli *cli, const struct command *command, struct buf *out)
{
	bool any = false;

	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		const struct setting_declaration *declaration = &setting_declarations[i];
		_cleanup_buf_ struct buf name = { 0 }, text = { 0 };

		buf_init(&name, SHOW_MAX);
		buf_init(&text, SHOW_MAX);
		if (!setting_words_have(&declaration->alias_commands, command->words) ||
		    command_find_flag(command, declaration->flag_aliases.words[0]))
			continue;
		if (!any)
			help_heading(cli, out, STR("Settings"));
		any = true;
		setting_spelling(declaration, &name);
		buf_printf(&text, "%.*s (%.*s)", STR_ARG(declaration->text), STR_ARG(declaration->path));
		help_entry(cli, out, buf_str(&name), buf_str(&text));
	}
}

static void help_command(struct cli *cli, const struct command *command, struct buf *out)
{
	_cleanup_buf_ struct buf usage = { 0 };

	buf_init(&usage, SHOW_MAX);
	help_usage(command, &usage);
	terminal_style(&cli->out, out, STYLE_STRONG, buf_str(&usage));
	buf_append(out, STR("\n\n"));
	wrapped(cli, out, command->summary, 0, 0);
	if (command->detail.n) {
		buf_append_char(out, '\n');
		wrapped(cli, out, command->detail, 0, 0);
	}
	input_entries(cli, command, false, out);
	input_entries(cli, command, true, out);
	setting_entries(cli, command, out);
	buf_append_char(out, '\n');
	wrapped(cli, out,
		STR("Every setting has a flag too, such as --json or --pool-call-timeout 30s; `mcpx settings list` has them all."),
		0, 0);
}

/* -- all of them ----------------------------------------------------------------------------------------- */

static void group_entries(struct cli *cli, const struct command_group *group, struct buf *out)
{
	help_heading(cli, out, group->title);
	for (size_t i = 0; i < command_count(); i++)
		if (str_eq(command_at(i)->group, group->name))
			help_entry(cli, out, command_at(i)->words, command_at(i)->summary);
}

static void help_everything(struct cli *cli, struct buf *out)
{
	wrapped(cli, out,
		STR("mcpx connects AI agents and scripts with MCP servers: one daemon runs the servers, everyone shares them."),
		0, 0);
	buf_append(out, STR("\nusage: mcpx [flags] COMMAND [arguments]\n       mcpx SCRIPT [arguments]\n"));
	for (size_t i = 0; i < command_group_count; i++)
		group_entries(cli, &command_groups[i], out);
	help_heading(cli, out, STR("Flags of every command"));
	help_entry(cli, out, STR("--json"), STR("print one JSON document"));
	help_entry(cli, out, STR("--config FILE"), STR("read this configuration file and no other"));
	help_entry(cli, out, STR("--help"), STR("explain the command"));
	help_entry(cli, out, STR("--version"), STR("say which version this is"));
	buf_append(
		out,
		STR("\nEvery setting is a flag as well: `mcpx settings list`. `mcpx help COMMAND` explains one command.\n"));
}

static bool help_family(struct cli *cli, struct str family, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < command_count(); i++) {
		const struct command *command = command_at(i);
		_cleanup_buf_ struct buf usage = { 0 };

		if (!str_starts_with(command->words, family) || command->words.n <= family.n ||
		    command->words.p[family.n] != ' ')
			continue;
		any = true;
		buf_init(&usage, SHOW_MAX);
		help_usage(command, &usage);
		terminal_style(&cli->out, out, STYLE_NAME, buf_str(&usage));
		buf_append(out, STR("\n    "));
		wrapped(cli, out, command->summary, 4, 4);
	}
	return any;
}

/* -- as JSON --------------------------------------------------------------------------------------------- */

static void write_input(const struct operation_input *input, struct json_writer *w)
{
	_cleanup_buf_ struct buf spelling = { 0 };

	buf_init(&spelling, SHOW_MAX);
	help_spelling(input, &spelling);
	json_write_object_begin(w);
	json_member_str(w, STR("name"), input->name);
	json_member_str(w, STR("spelling"), buf_str(&spelling));
	json_member_str(w, STR("description"), input->description);
	json_member_bool(w, STR("required"), input->required);
	json_write_object_end(w);
}

static void write_command(const struct command *command, struct json_writer *w)
{
	_cleanup_buf_ struct buf usage = { 0 };

	buf_init(&usage, SHOW_MAX);
	help_usage(command, &usage);
	json_write_object_begin(w);
	json_member_str(w, STR("command"), command->words);
	json_member_str(w, STR("group"), command->group);
	json_member_str(w, STR("usage"), buf_str(&usage));
	json_member_str(w, STR("summary"), command->summary);
	if (command->detail.n)
		json_member_str(w, STR("detail"), command->detail);
	json_write_key(w, STR("inputs"));
	json_write_array_begin(w);
	for (size_t i = 0; i < command->input_count; i++)
		if (command->inputs[i].command != INPUT_NOT_ON_COMMAND_LINE)
			write_input(&command->inputs[i], w);
	json_write_array_end(w);
	json_write_object_end(w);
}

/* Whether `words` asks for this command: its name, its family's, or nothing. */
static bool is_asked_for(const struct command *command, struct str words)
{
	return words.n == 0 || str_eq(command->words, words) ||
	       (str_starts_with(command->words, words) && command->words.p[words.n] == ' ');
}

static int help_json(struct cli *cli, struct str words)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	buf_init(&out, SHOW_MAX);
	json_writer_init(&w, &out, false);
	json_write_object_begin(&w);
	json_write_key(&w, STR("commands"));
	json_write_array_begin(&w);
	for (size_t i = 0; i < command_count(); i++)
		if (is_asked_for(command_at(i), words))
			write_command(command_at(i), &w);
	json_write_array_end(&w);
	json_write_object_end(&w);
	return show_json(cli, buf_str(&out));
}

/* -- the command ----------------------------------------------------------------------------------------- */

int help_show(struct cli *cli, struct str words)
{
	const struct command *command = command_find(words);
	_cleanup_buf_ struct buf out = { 0 };
	struct err err;

	buf_init(&out, SHOW_MAX);
	if (words.n && !command && !command_is_family(words)) {
		(void)command_unknown(words, NULL, "command", &err);
		(void)cli_fail(cli, &err);
		return CLI_USAGE;
	}
	if (cli_wants_json(cli))
		return help_json(cli, words);
	if (!words.n)
		help_everything(cli, &out);
	else if (command)
		help_command(cli, command, &out);
	else
		(void)help_family(cli, words, &out);
	return show_text(cli, buf_str(&out));
}

static int show_manual(struct cli *cli)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, MANUAL_MAX);
	manual_write(&out, cli->version);
	return show_text(cli, buf_str(&out));
}

static int show_reference(struct cli *cli)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, REFERENCE_MAX);
	reference_write(&out);
	return show_text(cli, buf_str(&out));
}

int command_help(struct cli *cli)
{
	if (argument_bool(&cli->arguments, STR("man")))
		return show_manual(cli);
	if (argument_bool(&cli->arguments, STR("markdown")))
		return show_reference(cli);
	return help_show(cli, arguments_joined(&cli->arguments, &cli->arena));
}

/* The sections that are made from the tables. */
#include "base/base.h"
#include "cli/manual_private.h"

#include "cli/command.h"
#include "cli/help.h"
#include "cli/roff.h"
#include "settings/registry.h"

enum {
	SENTENCE_MAX = 4096 /* bytes of all choices of a setting, far above what the table has */
};

/* -- flags ----------------------------------------------------------------------------------------------- */

static void write_flag(struct buf *out, struct str name)
{
	char storage[COMMAND_FLAG_MAX];

	buf_append(out, name.n == 1 ? STR("\\fB\\-") : STR("\\fB\\-\\-"));
	roff_append(out, command_flag_text(storage, name));
	buf_append(out, STR("\\fR"));
}

/* "a|b|c", each in bold */
static void write_choices(struct buf *out, struct str choices)
{
	struct str word;
	bool first = true;

	while (str_split(&choices, '|', &word)) {
		if (!first)
			buf_append_char(out, '|');
		roff_font(out, ROFF_BOLD, word);
		first = false;
	}
}

static void write_value(struct buf *out, const struct operation_input *input)
{
	if (input->choices.n)
		write_choices(out, input->choices);
	else
		roff_font(out, ROFF_ITALIC, input->value);
}

/* -- commands -------------------------------------------------------------------------------------------- */

static bool is_argument(const struct operation_input *input)
{
	return input->command == INPUT_POSITIONAL || input->command == INPUT_REST;
}

static void write_argument(struct buf *out, const struct operation_input *input)
{
	roff_font(out, ROFF_ITALIC, input->value);
	if (input->command == INPUT_REST)
		buf_append(out, STR("..."));
}

static bool has_flags(const struct command *command)
{
	for (size_t i = 0; i < command->input_count; i++)
		if (command->inputs[i].command == INPUT_FLAG)
			return true;
	return false;
}

static void write_usage(struct buf *out, const struct command *command)
{
	buf_append(out, STR("\\fBmcpx "));
	roff_append(out, command->words);
	buf_append(out, STR("\\fR"));
	if (has_flags(command))
		buf_append(out, STR(" [\\fIflags\\fR]"));
	for (size_t i = 0; i < command->input_count; i++) {
		const struct operation_input *input = &command->inputs[i];

		if (!is_argument(input))
			continue;
		buf_append(out, input->required ? STR(" ") : STR(" ["));
		write_argument(out, input);
		if (!input->required)
			buf_append_char(out, ']');
	}
	buf_append_char(out, '\n');
}

/* "-o, --output FILE" */
static void write_flag_term(struct buf *out, const struct operation_input *input)
{
	for (size_t i = 0; i < ARRAY_LEN(input->aliases); i++)
		if (input->aliases[i].n == 1) {
			write_flag(out, input->aliases[i]);
			buf_append(out, STR(", "));
		}
	write_flag(out, input->name);
	if (input->kind == INPUT_BOOLEAN)
		return;
	buf_append_char(out, ' ');
	write_value(out, input);
}

/* Settings and inputs are described by what would stand in a list. */
static void write_description(struct buf *out, struct str text)
{
	_cleanup_buf_ struct buf sentence = { 0 };
	size_t end = size_min(str_find_char(text, ' '), text.n);

	buf_init(&sentence, text.n + 1);
	buf_append(&sentence, text);
	buf_append_char(&sentence, '.');
	/* A name with a dot in it, such as pool.max, is not a word that may be capitalised. */
	if (text.n && text.p[0] >= 'a' && text.p[0] <= 'z' &&
	    str_find_char(str_slice(text, 0, end), '.') == STR_NONE)
		sentence.p[0] = (char)(sentence.p[0] - 'a' + 'A');
	roff_prose(out, buf_str(&sentence));
}

static void write_inputs(struct buf *out, const struct command *command, bool flags)
{
	for (size_t i = 0; i < command->input_count; i++) {
		const struct operation_input *input = &command->inputs[i];

		if (flags ? input->command != INPUT_FLAG : !is_argument(input))
			continue;
		roff_entry(out);
		flags ? write_flag_term(out, input) : write_argument(out, input);
		buf_append_char(out, '\n');
		write_description(out, input->description);
	}
}

static void write_setting_value(struct buf *out, const struct setting_declaration *setting)
{
	struct str name = help_setting_value(setting);

	if (!name.n)
		return;
	buf_append_char(out, ' ');
	roff_font(out, ROFF_ITALIC, name);
}

/* Settings that have a short flag on this command, unless that is one of the command's own. */
static void write_short_flags(struct buf *out, const struct command *command)
{
	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		const struct setting_declaration *setting = &setting_declarations[i];

		if (!setting_words_have(&setting->alias_commands, command->words) ||
		    command_find_flag(command, setting->flag_aliases.words[0]))
			continue;
		roff_entry(out);
		for (size_t k = setting->flag_aliases.count; k-- > 0;) {
			write_flag(out, setting->flag_aliases.words[k]);
			if (k)
				buf_append(out, STR(", "));
		}
		write_setting_value(out, setting);
		buf_append(out, STR("\nThe setting "));
		roff_font(out, ROFF_ITALIC, setting->path);
		buf_append(out, STR(".\n"));
		write_description(out, setting->text);
	}
}

static void write_command(struct buf *out, const struct command *command)
{
	_cleanup_buf_ struct buf inside = { 0 };

	roff_entry(out);
	write_usage(out, command);
	roff_prose(out, command->summary);
	roff_prose(out, command->detail);
	buf_init(&inside, out->max);
	write_inputs(&inside, command, false);
	write_inputs(&inside, command, true);
	write_short_flags(&inside, command);
	if (inside.n == 0)
		return;
	roff_indent(out);
	buf_append(out, buf_str(&inside));
	roff_outdent(out);
}

void manual_write_commands(struct buf *out)
{
	for (size_t i = 0; i < command_group_count; i++) {
		roff_subsection(out, command_groups[i].title);
		for (size_t k = 0; k < command_count(); k++)
			if (str_eq(command_at(k)->group, command_groups[i].name))
				write_command(out, command_at(k));
	}
}

/* -- settings -------------------------------------------------------------------------------------------- */

static struct str part_of(struct str path)
{
	return str_slice(path, 0, str_find_char(path, '.'));
}

static void write_words(struct buf *out, const struct setting_words *words)
{
	for (size_t i = 0; i < words->count; i++) {
		if (i)
			buf_append(out, STR(", "));
		roff_font(out, ROFF_BOLD, words->words[i]);
	}
}

/* "--pool-call-timeout DURATION, --timeout" */
static void write_setting_term(struct buf *out, const struct setting_declaration *setting)
{
	write_flag(out, setting->flag);
	write_setting_value(out, setting);
	for (size_t i = 0; i < setting->flag_aliases.count; i++) {
		buf_append(out, STR(", "));
		write_flag(out, setting->flag_aliases.words[i]);
	}
	buf_append_char(out, '\n');
}

/* Which commands know the flag, where not all do. */
static void write_bindings(struct buf *out, const struct setting_declaration *setting)
{
	if (setting->commands.count) {
		buf_append(out, STR("The flag is for "));
		write_words(out, &setting->commands);
		buf_append(out, STR(".\n"));
	}
	if (setting->alias_commands.count) {
		buf_append(out, STR("The short flag is for "));
		write_words(out, &setting->alias_commands);
		buf_append(out, STR(".\n"));
	}
}

static void write_choice_sentence(struct buf *out, const struct setting_declaration *setting)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, SENTENCE_MAX);
	for (size_t i = 0; i < setting->choices.count; i++)
		buf_printf(&text, "%s`%.*s`", i ? ", " : "One of ", STR_ARG(setting->choices.words[i]));
	buf_append_char(&text, '.');
	roff_prose(out, buf_str(&text));
}

static void write_default(struct buf *out, const struct setting_declaration *setting)
{
	if (setting->kind == SETTING_KIND_ENUM)
		write_choice_sentence(out, setting);
	if (setting->default_value.n) {
		buf_append(out, STR("Default: "));
		roff_font(out, ROFF_BOLD, setting->default_value);
		buf_append(out, STR(".\n"));
	}
}

static void write_names(struct buf *out, const struct setting_declaration *setting)
{
	roff_font(out, ROFF_ITALIC, setting->path);
	if (setting->hot)
		buf_append(out, STR(" (hot)"));
	buf_append(out, STR(", "));
	roff_font(out, ROFF_BOLD, setting->env);
	for (size_t i = 0; i < setting->env_aliases.count; i++) {
		buf_append(out, STR(" or "));
		roff_font(out, ROFF_BOLD, setting->env_aliases.words[i]);
	}
	buf_append(out, STR(".\n"));
}

static void write_setting(struct buf *out, const struct setting_declaration *setting)
{
	roff_entry(out);
	write_setting_term(out, setting);
	write_description(out, setting->text);
	roff_prose(out, setting->detail);
	write_default(out, setting);
	write_bindings(out, setting);
	write_names(out, setting);
}

void manual_write_settings(struct buf *out, bool plumbing)
{
	struct str part = { NULL, 0 };

	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		const struct setting_declaration *setting = &setting_declarations[i];

		if (setting->plumbing != plumbing)
			continue;
		if (!str_eq(part, part_of(setting->path)))
			roff_subsection(out, part_of(setting->path));
		part = part_of(setting->path);
		write_setting(out, setting);
	}
}

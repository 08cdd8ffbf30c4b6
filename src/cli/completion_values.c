/* Values that need no daemon: choices, commands, settings, scripts; and which input wants which kind of
 * value. */
#include "base/base.h"
#include "cli/completion.h"

#include "cli/completion_private.h"
#include "cli/script_names.h"

/* What the table of operations calls a string, and is more. An empty command stands for all. */
static const struct {
	struct str command, input;
	enum completion_source source;
} input_sources[] = {
	{ STR_INIT("call"), STR_INIT("tool"), SOURCE_TOOL },
	{ STR_INIT("call"), STR_INIT("args"), SOURCE_ARGUMENT },
	{ STR_INIT("tools"), STR_INIT("ns"), SOURCE_NAMESPACE },
	{ STR_INIT("types"), STR_INIT("ns"), SOURCE_TYPES },
	{ STR_INIT(""), STR_INIT("ns"), SOURCE_NAMESPACES },
	{ STR_INIT("artifact get"), STR_INIT("id"), SOURCE_ARTIFACT },
	{ STR_INIT("artifact delete"), STR_INIT("id"), SOURCE_ARTIFACT },
	{ STR_INIT("artifact put"), STR_INIT("file"), SOURCE_FILE },
	{ STR_INIT(""), STR_INIT("output"), SOURCE_FILE },
	{ STR_INIT("run"), STR_INIT("script"), SOURCE_SCRIPT },
	{ STR_INIT("run"), STR_INIT("args"), SOURCE_FILE },
	{ STR_INIT("settings set"), STR_INIT("value"), SOURCE_SETTING_VALUE },
	{ STR_INIT("settings get"), STR_INIT("path"), SOURCE_SETTING },
	{ STR_INIT("settings set"), STR_INIT("path"), SOURCE_SETTING },
	{ STR_INIT("settings unset"), STR_INIT("path"), SOURCE_SETTING },
	{ STR_INIT("help"), STR_INIT("command"), SOURCE_COMMAND },
};

/* The same for settings. */
static const struct {
	enum setting setting;
	enum completion_source source;
} setting_sources[] = {
	{ SETTING_AUTOSTART_BIN, SOURCE_FILE },		{ SETTING_LOGGING_DIR, SOURCE_FILE },
	{ SETTING_MCP_PASSTHROUGH, SOURCE_NAMESPACES }, { SETTING_PATHS_CACHE, SOURCE_FILE },
	{ SETTING_PATHS_CONFIG, SOURCE_FILE },		{ SETTING_PATHS_CONFIG_FILE, SOURCE_FILE },
	{ SETTING_PATHS_STATE, SOURCE_FILE },		{ SETTING_PATHS_SUPERVISOR, SOURCE_FILE },
};

/* -- words ----------------------------------------------------------------------------------------------- */

void completion_add_choices(struct completion *completion, struct str choices)
{
	struct str word;

	while (str_split(&choices, '|', &word))
		completion_add(completion, word, str_make(NULL, 0));
}

static void add_words(struct completion *completion, const struct setting_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		completion_add(completion, words->words[i], str_make(NULL, 0));
}

void completion_add_truth(struct completion *completion)
{
	completion_add_choices(completion, STR("true|false"));
}

/* -- commands -------------------------------------------------------------------------------------------- */

/* What follows `words` in the words of a command: "put" for "artifact" in "artifact put". Empty: nothing
 * does. */
static struct str words_after(struct str command, struct str words)
{
	if (words.n == 0)
		return command;
	if (!str_starts_with(command, words) || command.n <= words.n || command.p[words.n] != ' ')
		return str_make(NULL, 0);
	return str_from(command, words.n + 1);
}

/* "put, list, get, delete" */
static struct str family_note(struct completion *completion, struct str family)
{
	struct arena *arena = completion->context->arena;
	struct str note = { NULL, 0 };

	for (size_t i = 0; i < command_count(); i++) {
		struct str rest = words_after(command_at(i)->words, family);

		if (rest.n)
			note = note.n ? arena_concat(arena, note, STR(", "), rest) : rest;
	}
	return note;
}

/* Whether an earlier command begins with the same word. */
static bool was_before(size_t at, struct str words, struct str next)
{
	for (size_t i = 0; i < at; i++) {
		struct str rest = words_after(command_at(i)->words, words);

		if (str_eq(str_slice(rest, 0, str_find_char(rest, ' ')), next))
			return true;
	}
	return false;
}

void completion_add_commands(struct completion *completion, struct str words)
{
	for (size_t i = 0; i < command_count(); i++) {
		const struct command *command = command_at(i);
		struct str rest = words_after(command->words, words);
		struct str next = str_slice(rest, 0, str_find_char(rest, ' '));

		if (next.n == 0 || was_before(i, words, next))
			continue;
		completion_add(completion, next,
			       next.n < rest.n ? family_note(completion, next) : command->summary);
	}
}

/* The command that `mcpx help` is asked about. */
static void add_help_words(struct completion *completion)
{
	const struct completion_line *line = completion->line;
	const struct completion_place *place = &completion->place;

	if (place->positionals == 0)
		completion_add_commands(completion, STR(""));
	else if (place->positionals == 1)
		completion_add_commands(completion, line->words[place->after_first - 1]);
}

/* -- scripts --------------------------------------------------------------------------------------------- */

static void add_script(void *owner, struct str name, struct str path)
{
	completion_add(owner, name, path);
}

void completion_add_scripts(struct completion *completion)
{
	const struct completion_context *context = completion->context;

	script_names(context->environment, context->cwd, context->arena, add_script, completion);
}

/* -- settings -------------------------------------------------------------------------------------------- */

static bool begins_usual_setting(struct str text)
{
	for (unsigned i = 0; i < SETTING_COUNT; i++)
		if (!setting_declarations[i].plumbing && str_starts_with(setting_declarations[i].path, text))
			return true;
	return false;
}

/* Plumbing only for who typed the beginning of its name, and of no other. */
static void add_setting_paths(struct completion *completion)
{
	bool plumbing = !begins_usual_setting(completion->text);

	for (unsigned i = 0; i < SETTING_COUNT; i++)
		if (plumbing || !setting_declarations[i].plumbing)
			completion_add(completion, setting_declarations[i].path,
				       setting_declarations[i].text);
}

static enum completion_source setting_source(const struct setting_declaration *setting)
{
	for (size_t i = 0; i < ARRAY_LEN(setting_sources); i++)
		if (setting == setting_declaration(setting_sources[i].setting))
			return setting_sources[i].source;
	return SOURCE_NOTHING;
}

static void add_source(struct completion *completion, enum completion_source source);

void completion_add_setting(struct completion *completion, const struct setting_declaration *setting)
{
	if (setting->kind == SETTING_KIND_BOOL)
		completion_add_truth(completion);
	else if (setting->kind == SETTING_KIND_ENUM)
		add_words(completion, &setting->choices);
	else
		add_source(completion, setting_source(setting));
}

static void add_setting_value(struct completion *completion)
{
	enum setting setting;

	if (setting_find(completion->place.first, &setting))
		completion_add_setting(completion, setting_declaration(setting));
}

/* -- inputs ---------------------------------------------------------------------------------------------- */

static enum completion_source input_source(const struct command *command, struct str input)
{
	for (size_t i = 0; i < ARRAY_LEN(input_sources); i++)
		if (str_eq(input_sources[i].input, input) &&
		    (!input_sources[i].command.n || str_eq(input_sources[i].command, command->words)))
			return input_sources[i].source;
	return SOURCE_NOTHING;
}

/* The last of several with commas. */
static void advance_to_element(struct completion *completion)
{
	size_t comma = str_find_last_char(completion->text, ',');

	if (comma != STR_NONE)
		completion_advance(completion, comma + 1);
}

static void add_script_or_file(struct completion *completion)
{
	completion_expect_file(completion);
	if (str_find_char(completion->text, '/') == STR_NONE)
		completion_add_scripts(completion);
}

static void add_source(struct completion *completion, enum completion_source source)
{
	switch (source) {
	case SOURCE_NOTHING:
		return;
	case SOURCE_FILE:
		completion_expect_file(completion);
		return;
	case SOURCE_SCRIPT:
		add_script_or_file(completion);
		return;
	case SOURCE_COMMAND:
		add_help_words(completion);
		return;
	case SOURCE_NAMESPACES:
		advance_to_element(completion);
		completion_add_namespaces(completion);
		return;
	case SOURCE_NAMESPACE:
		completion_add_namespaces(completion);
		return;
	case SOURCE_TYPES:
		advance_to_element(completion);
		completion_add_types(completion);
		return;
	case SOURCE_TOOL:
		completion_add_tools(completion);
		return;
	case SOURCE_ARGUMENT:
		completion_add_arguments(completion);
		return;
	case SOURCE_ARTIFACT:
		completion_add_artifacts(completion);
		return;
	case SOURCE_SETTING:
		add_setting_paths(completion);
		return;
	case SOURCE_SETTING_VALUE:
		add_setting_value(completion);
		return;
	}
}

void completion_add_input(struct completion *completion, const struct operation_input *input)
{
	if (input->choices.n)
		completion_add_choices(completion, input->choices);
	else if (input->kind == INPUT_BOOLEAN)
		completion_add_truth(completion);
	else
		add_source(completion, input_source(completion->place.command, input->name));
}

bool completion_sources_are_true(void)
{
	for (size_t i = 0; i < ARRAY_LEN(input_sources); i++) {
		bool found = false;

		for (size_t k = 0; k < command_count(); k++) {
			const struct command *command = command_at(k);

			if (input_sources[i].command.n && !str_eq(input_sources[i].command, command->words))
				continue;
			for (size_t n = 0; n < command->input_count; n++)
				found |= str_eq(command->inputs[n].name, input_sources[i].input);
		}
		if (!found)
			return false;
	}
	return true;
}

#include "base/base.h"
#include "cli/arguments.h"

#include "base/quote.h"
#include "cli/script.h"
#include "settings/registry.h"
#include "text/nearest.h"
#include "text/utf8.h"

struct parser {
	struct arguments *to;
	const struct argument_context *context;
	char **argv;
	int argc, at;
	size_t positional; /* how many were given */
	const char **rest;
	bool flags_ended;
	struct err *err;
};

static struct str command_words(const struct parser *parser)
{
	return parser->to->command ? parser->to->command->words : STR("");
}

/* -- values ---------------------------------------------------------------------------------------------- */

static bool choice_has(struct str choices, struct str text)
{
	struct str word;

	while (str_split(&choices, '|', &word))
		if (str_eq(word, text))
			return true;
	return false;
}

static struct str choices_text(struct str choices, struct arena *arena)
{
	struct str all = { NULL, 0 }, word;

	while (str_split(&choices, '|', &word))
		all = all.n ? arena_concat(arena, all, STR(", "), word) : word;
	return all;
}

static int value_check(const struct parser *parser, const struct operation_input *input, struct str shown,
		       struct str text)
{
	int64_t number;

	if (input->choices.n && !choice_has(input->choices, text))
		return err_set(parser->err, ERR_INVALID, "%.*s is one of %.*s, not %s", STR_ARG(shown),
			       STR_ARG(choices_text(input->choices, parser->context->arena)), QUOTE(text));
	if (input->kind == INPUT_INTEGER && str_to_i64(text, &number) < 0)
		return err_set(parser->err, ERR_INVALID,
			       str_is_digits(text) ? "%.*s: %s is too large"
						   : "%.*s is a whole number, not %s",
			       STR_ARG(shown), QUOTE(text));
	if (input->kind == INPUT_INTEGER && input->has_minimum && number < input->minimum)
		return err_set(parser->err, ERR_INVALID, "%.*s is at least %d, not %s", STR_ARG(shown),
			       input->minimum, QUOTE(text));
	return 0;
}

static int value_set(struct parser *parser, const struct operation_input *input, struct str shown,
		     struct str text)
{
	struct arguments *to = parser->to;
	int r = value_check(parser, input, shown, text);

	if (r == 0)
		to->values[input - to->command->inputs] = (struct argument){ input, text };
	return r;
}

/* -- flags ----------------------------------------------------------------------------------------------- */

struct flag_word {
	struct str whole; /* as typed: "--limit=3" */
	struct str shown; /* "--limit" */
	struct str name;  /* "limit" */
	struct str value;
	bool has_value;
};

static void flag_word_split(struct flag_word *word, const char *argument)
{
	size_t dashes = argument[1] == '-' ? 2 : 1;
	size_t equals;

	word->whole = str_of(argument);
	equals = str_find_char(word->whole, '=');
	word->shown = str_slice(word->whole, 0, equals);
	word->name = str_from(word->shown, dashes);
	word->has_value = equals != STR_NONE;
	word->value = word->has_value ? str_from(word->whole, equals + 1) : str_make(NULL, 0);
}

/* "no-raw" for a boolean "raw". */
static const struct operation_input *find_negated(const struct command *command, struct str name)
{
	const struct operation_input *input;

	if (!str_starts_with(name, STR("no-")))
		return NULL;
	input = command_find_flag(command, str_from(name, strlen("no-")));
	return input && input->kind == INPUT_BOOLEAN ? input : NULL;
}

static int take_boolean(struct parser *parser, const struct operation_input *input,
			const struct flag_word *word, bool plain)
{
	struct str text = plain ? STR("true") : STR("false");

	if (word->has_value &&
	    (!plain || (!str_eq(word->value, STR("true")) && !str_eq(word->value, STR("false")))))
		return err_set(parser->err, ERR_INVALID, "%.*s is true or false, not %s",
			       STR_ARG(word->shown), QUOTE(word->value));
	if (word->has_value)
		text = word->value;
	return value_set(parser, input, word->shown, text);
}

/* 1 when it was a flag of the command's own, 0 when it is none. */
static int take_own_flag(struct parser *parser, const struct flag_word *word)
{
	const struct command *command = parser->to->command;
	const struct operation_input *input = command ? command_find_flag(command, word->name) : NULL;
	const struct operation_input *negated = command ? find_negated(command, word->name) : NULL;
	struct str text = word->value;
	int r;

	if (!input && !negated)
		return 0;
	if (!input || input->kind == INPUT_BOOLEAN)
		return (r = take_boolean(parser, input ? input : negated, word, input != NULL)) < 0 ? r : 1;
	if (!word->has_value && parser->at + 1 >= parser->argc)
		return err_set(parser->err, ERR_INVALID, "%.*s needs a value: %.*s", STR_ARG(word->shown),
			       STR_ARG(input->description));
	if (!word->has_value)
		text = str_of(parser->argv[++parser->at]);
	return (r = value_set(parser, input, word->shown, text)) < 0 ? r : 1;
}

/* A flag of the command's own that is a setting's as well is one spelling among others of that setting, which
 * may not contradict each other. */
static int take_command_flag(struct parser *parser, const struct flag_word *word)
{
	const char *next = parser->at + 1 < parser->argc ? parser->argv[parser->at + 1] : NULL;
	int r = take_own_flag(parser, word);
	unsigned used;

	if (r <= 0)
		return r;
	r = settings_add_flag(parser->context->settings, command_words(parser), word->whole.p, next, &used,
			      parser->err);
	return r < 0 ? r : 1;
}

/* The setting that a flag's name is for; a boolean's with "no-" in front too. */
static bool find_setting(const struct parser *parser, struct str name, enum setting *ret_setting,
			 bool *ret_negated)
{
	*ret_negated = false;
	if (setting_find_flag(name, command_words(parser), ret_setting))
		return true;
	*ret_negated = true;
	return str_starts_with(name, STR("no-")) &&
	       setting_find_flag(str_from(name, strlen("no-")), command_words(parser), ret_setting);
}

static void remember_setting_flag(struct parser *parser, const struct flag_word *word, unsigned used)
{
	struct arguments *to = parser->to;
	enum setting setting;
	struct str value;
	bool negated;

	if (!find_setting(parser, word->name, &setting, &negated))
		return;
	value = word->has_value ? word->value
		: used == 2	? str_of(parser->argv[parser->at + 1])
		: negated	? STR("false")
				: STR("true");
	to->setting_flags[to->setting_flag_count++] = (struct setting_flag){
		.setting = setting,
		.typed = word->shown,
		.text = arena_printf(parser->context->arena, "--%s=%.*s",
				     setting_declarations[setting].flag.p, STR_ARG(value))
				.p,
	};
}

static int take_setting_flag(struct parser *parser, const struct flag_word *word)
{
	const char *next = parser->at + 1 < parser->argc ? parser->argv[parser->at + 1] : NULL;
	unsigned used;
	int r = settings_add_flag(parser->context->settings, command_words(parser), word->whole.p, next,
				  &used, parser->err);

	if (r <= 0)
		return r;
	remember_setting_flag(parser, word, used);
	parser->at += (int)used - 1;
	return 1;
}

/* -- what comes nearest to an unknown flag --------------------------------------------------------------- */

static void consider_settings(struct nearest *nearest, struct str command)
{
	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		const struct setting_declaration *declaration = &setting_declarations[i];
		enum setting found;

		if (setting_find_flag(declaration->flag, command, &found))
			nearest_consider(nearest, declaration->flag);
		for (size_t k = 0; k < declaration->flag_aliases.count; k++)
			if (setting_find_flag(declaration->flag_aliases.words[k], command, &found))
				nearest_consider(nearest, declaration->flag_aliases.words[k]);
	}
}

/* From the arena: "limit". Empty when nothing is near. */
static struct str nearest_flag(const struct parser *parser, struct str name)
{
	const struct command *command = parser->to->command;
	struct arena *arena = parser->context->arena;
	char storage[COMMAND_FLAG_MAX];
	struct nearest nearest;

	nearest_init(&nearest, name);
	for (size_t i = 0; command && i < command->input_count; i++)
		if (command->inputs[i].command == INPUT_FLAG)
			nearest_consider(
				&nearest,
				arena_copy(arena, command_flag_text(storage, command->inputs[i].name)));
	nearest_consider(&nearest, STR("help"));
	if (!command)
		nearest_consider(&nearest, STR("version"));
	consider_settings(&nearest, command_words(parser));
	return nearest.best;
}

static int unknown_flag(const struct parser *parser, const struct flag_word *word)
{
	struct str near = nearest_flag(parser, word->name);

	if (near.n)
		return err_set(parser->err, ERR_INVALID, "unknown flag %s; did you mean --%.*s?",
			       QUOTE(word->shown), STR_ARG(near));
	return err_set(parser->err, ERR_INVALID, "unknown flag %s", QUOTE(word->shown));
}

static int take_flag(struct parser *parser)
{
	struct flag_word word;
	int r;

	flag_word_split(&word, parser->argv[parser->at]);
	if (str_eq(word.whole, STR("--help")) || str_eq(word.whole, STR("-h"))) {
		parser->to->help = true;
		return 0;
	}
	if (!parser->to->command && (str_eq(word.whole, STR("--version")) || str_eq(word.whole, STR("-V")))) {
		parser->to->version = true;
		return 0;
	}
	r = take_command_flag(parser, &word);
	if (r == 0)
		r = take_setting_flag(parser, &word);
	if (r == 0)
		r = unknown_flag(parser, &word);
	return r < 0 ? r : 0;
}

/* -- words ----------------------------------------------------------------------------------------------- */

static void begin_command(struct parser *parser, const struct command *command)
{
	parser->to->command = command;
	parser->to->family = str_make(NULL, 0);
	parser->to->values = arena_array(parser->context->arena, struct argument, command->input_count + 1);
}

static int take_positional(struct parser *parser, const char *word)
{
	const struct command *command = parser->to->command;
	const struct operation_input *input = command_positional(command, parser->positional);

	if (input) {
		parser->positional++;
		return value_set(parser, input, input->value, str_of(word));
	}
	if (!command_rest(command))
		return err_set(parser->err, ERR_INVALID, "%s: `mcpx %.*s` takes %s", QUOTE(str_of(word)),
			       STR_ARG(command->words),
			       parser->positional ? "no further argument" : "no argument");
	parser->rest[parser->to->rest_count++] = word;
	return 0;
}

/* The first word, and the second of a family of commands. */
static int take_command_word(struct parser *parser, const char *word)
{
	struct arena *arena = parser->context->arena;
	struct str words = str_of(word);
	const struct command *command;
	struct script script;
	int r;

	if (parser->to->family.n)
		words = arena_concat(arena, parser->to->family, STR(" "), words);
	command = command_find(words);
	if (command) {
		begin_command(parser, command);
		return 0;
	}
	if (!parser->to->family.n && command_is_family(words)) {
		parser->to->family = words;
		return 0;
	}
	if (parser->to->family.n)
		return command_unknown(words, NULL, "command", parser->err);
	r = script_find(&script, words, parser->context->environment, parser->context->cwd, arena,
			parser->err);
	if (r < 0)
		return r;
	if (r == 0 && script_word_is_path(words))
		return script_missing(words, arena, parser->err);
	if (r == 0)
		return command_unknown(words,
				       parser->at + 1 < parser->argc ? parser->argv[parser->at + 1] : NULL,
				       "command or script", parser->err);
	begin_command(parser, command_find(STR("run")));
	return take_positional(parser, word);
}

static bool is_flag(const struct parser *parser, const char *word)
{
	return !parser->flags_ended && word[0] == '-' && word[1];
}

/* Everything from here on belongs to the script. */
static bool rest_is_passed(const struct parser *parser)
{
	return parser->to->command && parser->to->command->passes_rest && parser->positional > 0;
}

static int take_word(struct parser *parser)
{
	const char *word = parser->argv[parser->at];

	if (rest_is_passed(parser)) {
		parser->rest[parser->to->rest_count++] = word;
		return 0;
	}
	if (!parser->flags_ended && strcmp(word, "--") == 0) {
		parser->flags_ended = true;
		return 0;
	}
	if (is_flag(parser, word))
		return take_flag(parser);
	if (!parser->to->command)
		return take_command_word(parser, word);
	return take_positional(parser, word);
}

int arguments_parse(struct arguments *arguments, int argc, char **argv,
		    const struct argument_context *context, struct err *err)
{
	struct parser parser = {
		.to = arguments, .context = context, .argv = argv, .argc = argc, .at = 1, .err = err
	};
	int r = 0;

	*arguments = (struct arguments){ 0 };
	arguments->setting_flags = arena_array(context->arena, struct setting_flag, (size_t)argc + 1);
	parser.rest = arena_array(context->arena, const char *, (size_t)argc + 1);
	arguments->rest = parser.rest;
	for (; r == 0 && parser.at < argc; parser.at++)
		r = take_word(&parser);
	return r;
}

/* -- afterwards ------------------------------------------------------------------------------------------ */

/* A parameter of a route that is empty would make another route of it. */
static bool is_given(const struct arguments *arguments, size_t at)
{
	const struct operation_input *input = &arguments->command->inputs[at];

	if (input->command == INPUT_REST)
		return arguments->rest_count > 0;
	return arguments->values[at].input &&
	       (input->place != INPUT_PATH || arguments->values[at].text.n > 0);
}

/* Whether what was typed can be a parameter of a route: a segment that io/http_target.h takes. */
static bool is_segment(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c == '/' || c == '\\' || c < ' ' || c == 0x7f)
			return false;
	}
	return !str_eq(text, STR(".")) && !str_eq(text, STR(".."));
}

static int check_segment(const struct operation_input *input, struct str text, struct err *err)
{
	if (input->place != INPUT_PATH || is_segment(text))
		return 0;
	return err_set(
		err, ERR_INVALID,
		"%s is no %.*s: none has a slash, a backslash or a control character in it, or is a dot or two",
		QUOTE(text), STR_ARG(input->value));
}

/* JSON and targets would carry other bytes than were typed, and the daemon would look for another name. */
static int check_bytes(const struct operation_input *input, struct str text, struct err *err)
{
	if (input->place == INPUT_COMMAND_LINE || utf8_valid(text))
		return 0;
	return err_set(err, ERR_INVALID, "%.*s is not UTF-8: %s", STR_ARG(input->value), QUOTE(text));
}

static int check_given(const struct operation_input *input, struct str text, struct err *err)
{
	int r = check_bytes(input, text, err);

	return r < 0 ? r : check_segment(input, text, err);
}

int arguments_check(const struct arguments *arguments, struct err *err)
{
	const struct command *command = arguments->command;

	for (size_t i = 0; i < command->input_count; i++) {
		const struct operation_input *input = &command->inputs[i];

		if (arguments->values[i].input && check_given(input, arguments->values[i].text, err) < 0)
			return err->code;
		if (!input->required || input->command == INPUT_NOT_ON_COMMAND_LINE || is_given(arguments, i))
			continue;
		return err_set(err, ERR_INVALID, "`mcpx %.*s` needs %.*s: %.*s", STR_ARG(command->words),
			       STR_ARG(input->value), STR_ARG(input->description));
	}
	return 0;
}

static const struct argument *find_argument(const struct arguments *arguments, struct str name)
{
	const struct command *command = arguments->command;

	for (size_t i = 0; i < command->input_count; i++)
		if (str_eq(command->inputs[i].name, name))
			return &arguments->values[i];
	bug(__FILE__, __LINE__, "the command has no such input");
}

struct str argument_text(const struct arguments *arguments, struct str name)
{
	const struct argument *argument = find_argument(arguments, name);

	return argument->input ? argument->text : str_make(NULL, 0);
}

bool argument_bool(const struct arguments *arguments, struct str name)
{
	return str_eq(argument_text(arguments, name), STR("true"));
}

/* Decides which files a daemon is known by, and where its own are: a daemon that was not told would be
 * another one. */
static bool finds_the_daemon(enum setting setting)
{
	return setting == SETTING_PATHS_CONFIG_FILE || setting == SETTING_PATHS_CONFIG ||
	       setting == SETTING_PATHS_STATE || setting == SETTING_PATHS_CACHE;
}

/* Acts on the daemon alone; the daemon's own command is all for the daemon. Scripts run here, under limits
 * that the daemon has for those it runs, and serve sends its mode along. */
static bool acts_on_the_daemon(const struct command *command, enum setting setting)
{
	struct str path = setting_declarations[setting].path;

	if (str_eq(command->words, STR("daemon")))
		return true;
	if (setting_declarations[setting].scope != SETTING_SCOPE_DAEMON)
		return false;
	if (str_eq(command->words, STR("run")) || str_eq(command->words, STR("exec")))
		return !str_starts_with(path, STR("exec."));
	return !str_eq(command->words, STR("serve")) || setting != SETTING_SERVE_MODE;
}

bool arguments_hand_on(const struct arguments *arguments, const struct setting_flag *flag)
{
	return finds_the_daemon(flag->setting) || acts_on_the_daemon(arguments->command, flag->setting);
}

struct str arguments_daemon_flag(const struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->setting_flag_count; i++)
		if (acts_on_the_daemon(arguments->command, arguments->setting_flags[i].setting))
			return arguments->setting_flags[i].typed;
	return str_make(NULL, 0);
}

struct str arguments_joined(const struct arguments *arguments, struct arena *arena)
{
	struct str all = { NULL, 0 };

	for (size_t i = 0; i < arguments->rest_count; i++)
		all = i == 0 ? str_of(arguments->rest[0])
			     : arena_concat(arena, all, STR(" "), str_of(arguments->rest[i]));
	return all;
}

#include "base/base.h"
#include "cli/command.h"
#include "cli/commands.h"

#include "base/buf.h"
#include "base/quote.h"
#include "text/nearest.h"

const struct command_group command_groups[] = {
	{ STR_INIT("tools"), STR_INIT("Tools") },
	{ STR_INIT("scripts"), STR_INIT("Scripts") },
	{ STR_INIT("artifacts"), STR_INIT("Artifacts") },
	{ STR_INIT("daemon"), STR_INIT("Daemon") },
	{ STR_INIT("configuration"), STR_INIT("Configuration") },
	{ STR_INIT("help"), STR_INIT("Help") },
};
const size_t command_group_count = ARRAY_LEN(command_groups);

/* -- commands that are no operation ---------------------------------------------------------------------- */

static const struct operation_input run_inputs[] = {
	{ .name = STR_INIT("script"),
	  .value = STR_INIT("SCRIPT"),
	  .description = STR_INIT("a .ts, .mts or .js file, or the name of a script; - for standard input"),
	  .place = INPUT_COMMAND_LINE,
	  .command = INPUT_POSITIONAL,
	  .required = true },
	{ .name = STR_INIT("args"),
	  .value = STR_INIT("ARGUMENTS"),
	  .description = STR_INIT("what the script gets as its arguments"),
	  .place = INPUT_COMMAND_LINE,
	  .command = INPUT_REST },
	{ .name = STR_INIT("export"),
	  .value = STR_INIT("FUNCTION"),
	  .description = STR_INIT("the function to call instead of the default export"),
	  .place = INPUT_COMMAND_LINE },
	{ .name = STR_INIT("ns"),
	  .value = STR_INIT("NAMESPACES"),
	  .description = STR_INIT("only these namespaces, with commas"),
	  .place = INPUT_COMMAND_LINE },
	{ .name = STR_INIT("session"),
	  .value = STR_INIT("SESSION"),
	  .description = STR_INIT("the session whose instances are used"),
	  .place = INPUT_COMMAND_LINE },
};

static const struct operation_input daemon_inputs[] = {
	{ .name = STR_INIT("detached"),
	  .kind = INPUT_BOOLEAN,
	  .description =
		  STR_INIT("log to the log file alone, and close standard output when requests are answered"),
	  .place = INPUT_COMMAND_LINE },
};

static const struct operation_input config_inputs[] = {
	{ .name = STR_INIT("path"),
	  .kind = INPUT_BOOLEAN,
	  .description = STR_INIT("only the path of the nearest file"),
	  .place = INPUT_COMMAND_LINE },
	{ .name = STR_INIT("sources"),
	  .kind = INPUT_BOOLEAN,
	  .description = STR_INIT("every place that was looked at, nearest first"),
	  .place = INPUT_COMMAND_LINE },
	{ .name = STR_INIT("schema"),
	  .kind = INPUT_BOOLEAN,
	  .description = STR_INIT("the JSON Schema of configuration files"),
	  .place = INPUT_COMMAND_LINE },
};

static const struct operation_input completion_inputs[] = {
	{ .name = STR_INIT("shell"),
	  .value = STR_INIT("SHELL"),
	  .description = STR_INIT("which shell's script to print"),
	  .choices = STR_INIT("bash|zsh|fish|words"),
	  .place = INPUT_COMMAND_LINE,
	  .command = INPUT_POSITIONAL,
	  .required = true },
	{ .name = STR_INIT("words"),
	  .value = STR_INIT("WORDS"),
	  .description = STR_INIT("with `words`: the line so far, as those scripts ask for its completions"),
	  .place = INPUT_COMMAND_LINE,
	  .command = INPUT_REST },
};

static const struct operation_input help_inputs[] = {
	{ .name = STR_INIT("command"),
	  .value = STR_INIT("COMMAND"),
	  .description = STR_INIT("the command to explain; all when left out"),
	  .place = INPUT_COMMAND_LINE,
	  .command = INPUT_REST },
	{ .name = STR_INIT("man"),
	  .kind = INPUT_BOOLEAN,
	  .description = STR_INIT("the manual page of everything, for man(1)"),
	  .place = INPUT_COMMAND_LINE },
	{ .name = STR_INIT("markdown"),
	  .kind = INPUT_BOOLEAN,
	  .description = STR_INIT("the reference of everything, in Markdown"),
	  .place = INPUT_COMMAND_LINE },
};

#define WITH_INPUTS(array) .inputs = array, .input_count = ARRAY_LEN(array)

static const struct command own_commands[] = {
	{ .words = STR_INIT("run"),
	  .group = STR_INIT("scripts"),
	  .summary = STR_INIT("Run a script file, or a script by its name."),
	  .detail = STR_INIT(
		  "A name without a slash or an extension is looked up as NAME.ts or NAME.js in .mcpx/scripts/ and "
		  ".config/mcpx/scripts/ here and in every directory above, then in the user's "
		  "configuration directory. The word `run` may be left out before a file or a name that exists. What follows the script is the script's own, and so is standard input, unless the script itself was read from there."),
	  WITH_INPUTS(run_inputs),
	  .run = command_run_script,
	  .passes_rest = true },
	{ .words = STR_INIT("serve"),
	  .group = STR_INIT("daemon"),
	  .summary =
		  STR_INIT("Be an MCP server on standard input and output, for MCP clients that start one."),
	  .run = command_serve },
	{ .words = STR_INIT("daemon"),
	  .group = STR_INIT("daemon"),
	  .summary = STR_INIT("Run the daemon in the foreground."),
	  .detail = STR_INIT(
		  "Any command that needs a daemon starts one in the background by itself; this is for service "
		  "managers and for looking on. SIGTERM ends it when what runs has ended, within "
		  "http.shutdownGrace; SIGHUP has it read its configuration files again."),
	  WITH_INPUTS(daemon_inputs),
	  .run = command_daemon,
	  .starts_no_daemon = true,
	  .needs_files = true },
	{ .words = STR_INIT("config"),
	  .group = STR_INIT("configuration"),
	  .summary = STR_INIT("Show which configuration files are read, and what is wrong in them."),
	  WITH_INPUTS(config_inputs),
	  .run = command_config,
	  .starts_no_daemon = true,
	  .needs_files = true },
	{ .words = STR_INIT("completion"),
	  .group = STR_INIT("help"),
	  .summary = STR_INIT(
		  "Print the script that makes a shell complete commands, flags, servers and tools."),
	  .detail = STR_INIT(
		  "An installation under /usr or /usr/local has them where these shells look. Elsewhere, for bash: "
		  "source <(mcpx completion bash). For zsh: the same, or its output as _mcpx in a directory of fpath. "
		  "For fish: mcpx completion fish > ~/.config/fish/completions/mcpx.fish."),
	  WITH_INPUTS(completion_inputs),
	  .run = command_completion,
	  .bare = true,
	  .starts_no_daemon = true },
	{ .words = STR_INIT("help"),
	  .group = STR_INIT("help"),
	  .summary = STR_INIT("Explain a command, or list them all."),
	  WITH_INPUTS(help_inputs),
	  .run = command_help,
	  .bare = true,
	  .starts_no_daemon = true },
};

/* -- the whole table ------------------------------------------------------------------------------------- */

/* Operations whose command does more than ask and show. */
static command_run *const operation_runs[OPERATION_COUNT] = {
	[OPERATION_TOOLS] = command_tools,
	[OPERATION_CALL] = command_call,
	[OPERATION_EXEC] = command_exec,
	[OPERATION_ARTIFACT_PUT] = command_artifact_put,
	[OPERATION_ARTIFACT_GET] = command_artifact_get,
	[OPERATION_SETTINGS_LIST] = command_settings_list,
	[OPERATION_SETTINGS_GET] = command_settings_get,
	[OPERATION_SETTINGS_SET] = command_settings_set,
	[OPERATION_SHUTDOWN] = command_stop,
};

/* A daemon that was started only to be asked whether there is one would be a lie; and to be stopped, or to
 * end what it never had, a waste. */
static bool asks_about_the_daemon(const struct operation *operation)
{
	return operation->id == OPERATION_HEALTH || operation->id == OPERATION_STATUS ||
	       operation->id == OPERATION_SHUTDOWN || operation->id == OPERATION_SESSION_RELEASE;
}

static struct command of_operation(const struct operation *operation)
{
	return (struct command){
		.words = operation->command,
		.group = operation->group,
		.summary = operation->summary,
		.detail = operation->detail,
		.inputs = operation->inputs,
		.input_count = operation->input_count,
		.operation = operation,
		.run = operation_runs[operation->id] ? operation_runs[operation->id] : command_operation,
		.starts_no_daemon = asks_about_the_daemon(operation),
	};
}

size_t command_count(void)
{
	return OPERATION_COMMANDS + ARRAY_LEN(own_commands);
}

const struct command *command_at(size_t at)
{
	static struct command table[OPERATION_COMMANDS];

	BUG_ON(at >= command_count());
	if (at >= OPERATION_COMMANDS)
		return &own_commands[at - OPERATION_COMMANDS];
	if (!table[at].run)
		table[at] = of_operation(&operations[at]);
	return &table[at];
}

static bool is_alias(const struct command *command, struct str words)
{
	if (!command->operation || words.n == 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(command->operation->command_aliases); i++)
		if (str_eq(command->operation->command_aliases[i], words))
			return true;
	return false;
}

const struct command *command_find(struct str words)
{
	for (size_t i = 0; i < command_count(); i++)
		if (str_eq(command_at(i)->words, words) || is_alias(command_at(i), words))
			return command_at(i);
	return NULL;
}

bool command_is_family(struct str word)
{
	for (size_t i = 0; i < command_count(); i++) {
		struct str words = command_at(i)->words;

		if (words.n > word.n && str_starts_with(words, word) && words.p[word.n] == ' ')
			return true;
	}
	return false;
}

/* "settings" of "settings list". */
static struct str first_word(struct str words)
{
	size_t blank = str_find_char(words, ' ');

	return blank == STR_NONE ? words : str_slice(words, 0, blank);
}

/* What a command is called over HTTP, or by other programs. */
static struct str known_as(struct str words)
{
	static const struct {
		struct str elsewhere, here;
	} names[] = {
		{ STR_INIT("shutdown"), STR_INIT("stop") },
		{ STR_INIT("version"), STR_INIT("--version") },
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(names[i].elsewhere, words))
			return names[i].here;
	return str_make(NULL, 0);
}

int command_unknown(struct str words, const char *next, const char *what, struct err *err)
{
	_cleanup_buf_ struct buf both = { .max = NEAREST_WORD_MAX };
	struct nearest nearest, nearest_both;

	(void)buf_printf(&both, "%.*s %s", STR_ARG(words), next ? next : "");
	nearest_init(&nearest, words);
	nearest_init(&nearest_both, next && !buf_failed(&both) ? buf_str(&both) : STR(""));
	for (size_t i = 0; i < command_count(); i++) {
		nearest_consider(&nearest, command_at(i)->words);
		nearest_consider(&nearest, first_word(command_at(i)->words));
		nearest_consider(&nearest_both, command_at(i)->words);
	}
	if (nearest_both.best.n && nearest_both.distance <= nearest.distance)
		nearest = nearest_both;
	if (known_as(words).n)
		nearest.best = known_as(words);
	if (nearest.best.n)
		return err_set(err, ERR_INVALID, "there is no %s %s; did you mean `mcpx %.*s`?", what,
			       QUOTE(words), STR_ARG(nearest.best));
	return err_set(err, ERR_INVALID, "there is no %s %s; `mcpx help` lists the commands", what,
		       QUOTE(words));
}

/* -- inputs ---------------------------------------------------------------------------------------------- */

struct str command_flag_text(char storage[COMMAND_FLAG_MAX], struct str name)
{
	size_t n = 0;

	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		BUG_ON(n + 2 > COMMAND_FLAG_MAX);
		if (c >= 'A' && c <= 'Z') {
			storage[n++] = '-';
			c = (char)(c | 0x20);
		}
		storage[n++] = c == '_' ? '-' : c;
	}
	return str_make(storage, n);
}

static bool flag_is(struct str name, struct str flag)
{
	char storage[COMMAND_FLAG_MAX];

	return name.n && (str_eq(name, flag) || str_eq(command_flag_text(storage, name), flag));
}

const struct operation_input *command_find_flag(const struct command *command, struct str flag)
{
	for (size_t i = 0; i < command->input_count; i++) {
		const struct operation_input *input = &command->inputs[i];

		if (input->command == INPUT_FLAG &&
		    (flag_is(input->name, flag) || flag_is(input->aliases[0], flag) ||
		     flag_is(input->aliases[1], flag)))
			return input;
	}
	return NULL;
}

const struct operation_input *command_positional(const struct command *command, size_t at)
{
	for (size_t i = 0; i < command->input_count; i++)
		if (command->inputs[i].command == INPUT_POSITIONAL && at-- == 0)
			return &command->inputs[i];
	return NULL;
}

const struct operation_input *command_rest(const struct command *command)
{
	for (size_t i = 0; i < command->input_count; i++)
		if (command->inputs[i].command == INPUT_REST)
			return &command->inputs[i];
	return NULL;
}

#include "base/base.h"
#include "cli/arguments.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "cli/reference.h"
#include "io/files.h"

enum { WORDS_MAX = 32 };

/* One parsed command line. */
struct parsed {
	struct arena arena;
	struct settings *settings;
	struct arguments arguments;
	struct err err;
	int result;
};

static const char *const no_variables[] = { NULL };

/* Splits `line` at blanks: enough for these tests. */
static void parse_in(struct parsed *parsed, const char *line, struct str cwd)
{
	const struct environment environment = { no_variables };
	char *argv[WORDS_MAX + 1] = { NULL };
	struct str rest = str_of(line), word;
	int argc = 0;

	memset(parsed, 0, sizeof(*parsed));
	arena_init(&parsed->arena, 0);
	parsed->settings = settings_new();
	while (str_split(&rest, ' ', &word)) {
		assert_true(argc < WORDS_MAX);
		argv[argc++] = arena_cstr(&parsed->arena, word);
	}
	parsed->result = arguments_parse(&parsed->arguments, argc, argv,
					 &(struct argument_context){ .settings = parsed->settings,
								     .environment = &environment,
								     .cwd = cwd,
								     .arena = &parsed->arena },
					 &parsed->err);
}

static void parse(struct parsed *parsed, const char *line)
{
	parse_in(parsed, line, STR("/nonexistent"));
	if (parsed->result < 0)
		fail_msg("%s: %s", line, parsed->err.message);
}

static void parsed_release(struct parsed *parsed)
{
	settings_free(&parsed->settings);
	arena_release(&parsed->arena);
}

static void assert_str(struct str s, const char *expected)
{
	if (!str_eq(s, str_of(expected)))
		fail_msg("\"%.*s\" is not \"%s\"", STR_ARG(s), expected);
}

static void assert_refused(const char *line, const char *message)
{
	struct parsed parsed;

	parse_in(&parsed, line, STR("/nonexistent"));
	if (parsed.result == 0)
		parsed.result = arguments_check(&parsed.arguments, &parsed.err);
	assert_int_equal(parsed.result, ERR_INVALID);
	assert_string_equal(parsed.err.message, message);
	parsed_release(&parsed);
}

/* -- commands -------------------------------------------------------------------------------------------- */

static void test_commands(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, "mcpx");
	assert_null(p.arguments.command);
	assert_int_equal(p.arguments.family.n, 0);
	parsed_release(&p);

	parse(&p, "mcpx artifact");
	assert_null(p.arguments.command);
	assert_str(p.arguments.family, "artifact");
	parsed_release(&p);

	parse(&p, "mcpx --json artifact --color=never delete art-1");
	assert_str(p.arguments.command->words, "artifact delete");
	assert_str(argument_text(&p.arguments, STR("id")), "art-1");
	assert_true(settings_bool(p.settings, SETTING_OUTPUT_JSON));
	parsed_release(&p);

	parse(&p, "mcpx --version");
	assert_true(p.arguments.version);
	parsed_release(&p);

	parse(&p, "mcpx call -h");
	assert_true(p.arguments.help);
	assert_str(p.arguments.command->words, "call");
	parsed_release(&p);
}

static void test_every_command_is_found_by_its_words(void **state)
{
	(void)state;
	assert_true(command_count() > OPERATION_COUNT);
	for (size_t i = 0; i < command_count(); i++) {
		const struct command *command = command_at(i);
		bool grouped = false;

		assert_ptr_equal(command_find(command->words), command);
		assert_non_null(command->run);
		assert_true(command->summary.n > 0);
		for (size_t k = 0; k < command->input_count; k++)
			assert_true(command->inputs[k].kind == INPUT_BOOLEAN ||
				    command->inputs[k].value.n > 0);
		for (size_t g = 0; g < command_group_count; g++)
			grouped |= str_eq(command_groups[g].name, command->group);
		if (!grouped)
			fail_msg("%.*s has the group %.*s, which the help does not show",
				 STR_ARG(command->words), STR_ARG(command->group));
	}
	for (size_t i = 0; i < OPERATION_COMMANDS; i++)
		assert_ptr_equal(command_find(operations[i].command)->operation, &operations[i]);
}

/* Each operation: a route, a command, a text for its help, and an MCP tool or the reason why not. */
static void test_operations_have_all_their_faces(void **state)
{
	(void)state;
	for (size_t i = 0; i < OPERATION_COUNT; i++) {
		const struct operation *operation = &operations[i];
		struct operation_parameters parameters;

		assert_ptr_equal(operation_route(operation->method, operation->route, &parameters),
				 operation);
		assert_int_equal(operation->command.n > 0, i < OPERATION_COMMANDS);
		assert_true(operation->summary.n > 0);
		assert_true((operation->tool.n > 0) != (operation->alone.n > 0));
		if (operation->tool.n)
			assert_ptr_equal(operation_tool(operation->tool), operation);
	}
}

/* -- flags ----------------------------------------------------------------------------------------------- */

static void test_flags_of_a_command(void **state)
{
	static const char *const lines[] = { "mcpx search --limit 3 a b", "mcpx search a -n 3 b",
					     "mcpx search a b --limit=3", "mcpx search -n=3 a b" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct parsed p;

		parse(&p, lines[i]);
		assert_str(argument_text(&p.arguments, STR("limit")), "3");
		assert_str(arguments_joined(&p.arguments, &p.arena), "a b");
		assert_int_equal(arguments_check(&p.arguments, &p.err), 0);
		parsed_release(&p);
	}
}

static void test_flags_with_several_words_are_in_kebab_case(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, "mcpx call files.read --timeout-ms 500 path=x");
	assert_str(argument_text(&p.arguments, STR("timeoutMs")), "500");
	assert_null(argument_text(&p.arguments, STR("session")).p);
	parsed_release(&p);
}

static void test_booleans(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, "mcpx call a.b --raw");
	assert_true(argument_bool(&p.arguments, STR("raw")));
	parsed_release(&p);
	parse(&p, "mcpx call a.b --raw --no-raw");
	assert_false(argument_bool(&p.arguments, STR("raw")));
	assert_str(argument_text(&p.arguments, STR("raw")), "false");
	parsed_release(&p);
	parse(&p, "mcpx call a.b --links=false");
	assert_str(argument_text(&p.arguments, STR("links")), "false");
	parsed_release(&p);
	assert_refused("mcpx call a.b --raw=maybe", "--raw is true or false, not \"maybe\"");
}

static void test_dashes(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, "mcpx exec -- --json -n");
	assert_str(arguments_joined(&p.arguments, &p.arena), "--json -n");
	assert_false(settings_bool(p.settings, SETTING_OUTPUT_JSON));
	parsed_release(&p);
	parse(&p, "mcpx call a.b -");
	assert_int_equal(p.arguments.rest_count, 1);
	assert_string_equal(p.arguments.rest[0], "-");
	parsed_release(&p);
}

static void test_what_follows_a_script_is_its_own(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, "mcpx run --export main tour --json -- -x");
	assert_str(argument_text(&p.arguments, STR("script")), "tour");
	assert_str(argument_text(&p.arguments, STR("export")), "main");
	assert_str(arguments_joined(&p.arguments, &p.arena), "--json -- -x");
	assert_false(settings_bool(p.settings, SETTING_OUTPUT_JSON));
	parsed_release(&p);
}

/* -- flags of settings ----------------------------------------------------------------------------------- */

static void test_settings_are_flags_everywhere(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, "mcpx --pool-max 3 ls --no-daemon-autostart");
	assert_int_equal(settings_int(p.settings, SETTING_POOL_MAX), 3);
	assert_false(settings_bool(p.settings, SETTING_DAEMON_AUTOSTART));
	parsed_release(&p);
	/* A short spelling binds on its own command only. */
	parse(&p, "mcpx exec --timeout 5s return");
	assert_int_equal(settings_duration(p.settings, SETTING_EXEC_TIMEOUT), 5000);
	parsed_release(&p);
	assert_refused("mcpx ls --timeout 5s", "unknown flag \"--timeout\"");
}

/* The flags that a daemon which `line` starts is given, each with a blank behind it. */
static void assert_handed_on(const char *line, const char *expected, const char *acting)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct parsed p;

	parse(&p, line);
	buf_init(&out, 1000);
	for (size_t i = 0; i < p.arguments.setting_flag_count; i++)
		if (arguments_hand_on(&p.arguments, &p.arguments.setting_flags[i]))
			buf_printf(&out, "%s ", p.arguments.setting_flags[i].text);
	assert_string_equal(buf_cstr(&out), expected);
	assert_str(arguments_daemon_flag(&p.arguments), acting);
	parsed_release(&p);
}

static void test_what_a_daemon_must_know(void **state)
{
	(void)state;
	assert_handed_on("mcpx --config /c.json --json ls", "--config=/c.json ", "");
	assert_handed_on("mcpx ls --pool-max 3 --color always", "--pool-max=3 ", "--pool-max");
	assert_handed_on("mcpx --no-daemon-warm ls", "--daemon-warm=false ", "--no-daemon-warm");
	/* serve sends its mode along, and a script runs here. */
	assert_handed_on("mcpx serve --mode full", "", "");
	assert_handed_on("mcpx exec --timeout 5s --exec-output-max 1KiB x", "", "");
	/* The daemon's own command hands on everything, in spellings that bind anywhere. */
	assert_handed_on("mcpx --search-limit 4 daemon --idle-exit 1h --passthrough a,b --json",
			 "--search-limit=4 --daemon-idle-exit=1h --mcp-passthrough=a,b --output-json=true ",
			 "--search-limit");
}

/* -- mistakes -------------------------------------------------------------------------------------------- */

static void test_mistakes(void **state)
{
	(void)state;
	assert_refused("mcpx serch x",
		       "there is no command or script \"serch\"; did you mean `mcpx search`?");
	assert_refused("mcpx frobnicate",
		       "there is no command or script \"frobnicate\"; `mcpx help` lists the commands");
	assert_ptr_equal(command_find(STR("list")), command_find(STR("ls")));
	assert_ptr_equal(command_find(STR("namespaces")), command_find(STR("ls")));
	assert_refused("mcpx version",
		       "there is no command or script \"version\"; did you mean `mcpx --version`?");
	assert_refused("mcpx setings list",
		       "there is no command or script \"setings\"; did you mean `mcpx settings list`?");
	assert_refused("mcpx setings",
		       "there is no command or script \"setings\"; did you mean `mcpx settings`?");
	assert_refused("mcpx server list",
		       "there is no command or script \"server\"; did you mean `mcpx servers list`?");
	assert_refused("mcpx server",
		       "there is no command or script \"server\"; did you mean `mcpx servers`?");
	assert_refused("mcpx artifact lst",
		       "there is no command \"artifact lst\"; did you mean `mcpx artifact list`?");
	assert_refused("mcpx search --limt 3 x", "unknown flag \"--limt\"; did you mean --limit?");
	assert_refused("mcpx call a.b --timeout-msec 3",
		       "unknown flag \"--timeout-msec\"; did you mean --timeout-ms?");
	assert_refused("mcpx ls --pol-max 3", "unknown flag \"--pol-max\"; did you mean --pool-max?");
	assert_refused("mcpx --versoin", "unknown flag \"--versoin\"; did you mean --version?");
	assert_refused("mcpx search", "`mcpx search` needs WORDS: the words");
	assert_refused("mcpx artifact get", "`mcpx artifact get` needs ID: its handle");
	assert_refused("mcpx ls more", "\"more\": `mcpx ls` takes no argument");
	assert_refused("mcpx artifact get a b", "\"b\": `mcpx artifact get` takes no further argument");
	assert_refused("mcpx search --limit",
		       "--limit needs a value: at most so many (default: search.limit)");
	assert_refused("mcpx call --timeout-ms 99999999999999999999 a.b",
		       "--timeout-ms: \"99999999999999999999\" is too large");
	assert_refused("mcpx artifact get ", "`mcpx artifact get` needs ID: its handle");
#define NO_SEGMENT "none has a slash, a backslash or a control character in it, or is a dot or two"
	assert_refused("mcpx artifact get a/b", "\"a/b\" is no ID: " NO_SEGMENT);
	assert_refused("mcpx artifact delete ..", "\"..\" is no ID: " NO_SEGMENT);
	assert_refused("mcpx artifact get a\\b", "\"a\\\\b\" is no ID: " NO_SEGMENT);
	assert_refused("mcpx settings get a\tb", "\"a\\tb\" is no SETTING: " NO_SEGMENT);
	assert_refused("mcpx artifact get a\xff", "ID is not UTF-8: \"a\\xff\"");
	assert_refused("mcpx call files.\xc3 a=1", "TOOL is not UTF-8: \"files.\\xc3\"");
	assert_refused("mcpx call --session \xff a.b", "SESSION is not UTF-8: \"\\xff\"");
	assert_refused("mcpx session release \xff", "SESSION is not UTF-8: \"\\xff\"");
	assert_refused("mcpx settings set  1", "`mcpx settings set` needs SETTING: such as pool.callTimeout");
	assert_refused("mcpx search --limit many x", "--limit is a whole number, not \"many\"");
	assert_refused("mcpx search --limit 0 x", "--limit is at least 1, not \"0\"");
	assert_refused("mcpx settings list --scope world",
		       "--scope is one of daemon, client, call, plugin, not \"world\"");
	assert_refused("mcpx ls --pool-max many", "--pool-max: expected an integer, got \"many\"");
}

/* -- scripts --------------------------------------------------------------------------------------------- */

static void write_empty(struct arena *arena, const char *directory, const char *name)
{
	const struct file_write_options options = { .mode = 0600 };
	const char *path = arena_printf(arena, "%s/%s", directory, name).p;
	char *slash = strrchr(path, '/');

	/* Its directory, one level below what is there. */
	*slash = '\0';
	(void)mkdir(path, 0700);
	*slash = '/';
	assert_int_equal(file_write(path, STR(""), &options, NULL), 0);
}

static void test_a_script_needs_no_command(void **state)
{
	char directory[] = "/tmp/mcpx-arguments-XXXXXX";
	struct arena arena;
	struct parsed p;
	struct str below;

	(void)state;
	arena_init(&arena, 0);
	assert_non_null(mkdtemp(directory));
	(void)mkdir(arena_printf(&arena, "%s/.mcpx", directory).p, 0700);
	write_empty(&arena, directory, ".mcpx/scripts/tour.ts");
	write_empty(&arena, directory, ".mcpx/scripts/twice.ts");
	write_empty(&arena, directory, ".mcpx/scripts/twice.js");
	write_empty(&arena, directory, "below/file.mts");
	below = arena_printf(&arena, "%s/below", directory);

	parse_in(&p, "mcpx tour --flag x", below);
	assert_int_equal(p.result, 0);
	assert_str(p.arguments.command->words, "run");
	assert_str(argument_text(&p.arguments, STR("script")), "tour");
	assert_str(arguments_joined(&p.arguments, &p.arena), "--flag x");
	parsed_release(&p);

	parse_in(&p, arena_printf(&arena, "mcpx %s/file.mts", below.p).p, STR("/"));
	assert_int_equal(p.result, 0);
	assert_str(p.arguments.command->words, "run");
	parsed_release(&p);

	parse_in(&p, "mcpx twice", below);
	assert_int_equal(p.result, ERR_INVALID);
	assert_string_equal(
		p.err.message,
		arena_printf(
			&arena,
			"both %s/.mcpx/scripts/twice.ts and %s/.mcpx/scripts/twice.js are there: name one of them with its path",
			directory, directory)
			.p);
	parsed_release(&p);

	parse_in(&p, "mcpx ../tour", below);
	assert_int_equal(p.result, ERR_NOT_FOUND);
	assert_string_equal(p.err.message,
			    "\"../tour\" is no script: a script is a file that ends in .ts, .mts or .js");
	parsed_release(&p);

	for (size_t i = 0; i < 4; i++) {
		static const char *const names[] = { ".mcpx/scripts/tour.ts", ".mcpx/scripts/twice.ts",
						     ".mcpx/scripts/twice.js", "below/file.mts" };

		assert_int_equal(unlink(arena_printf(&arena, "%s/%s", directory, names[i]).p), 0);
	}
	assert_int_equal(rmdir(arena_printf(&arena, "%s/.mcpx/scripts", directory).p), 0);
	assert_int_equal(rmdir(arena_printf(&arena, "%s/.mcpx", directory).p), 0);
	assert_int_equal(rmdir(below.p), 0);
	assert_int_equal(rmdir(directory), 0);
	arena_release(&arena);
}

/* -- the document ---------------------------------------------------------------------------------------- */

static void test_the_reference_is_current(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct str document;
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/docs/%s", getenv("MESON_SOURCE_ROOT"), "commands.md");
	buf_init(&out, REFERENCE_MAX);
	reference_write(&out);
	assert_int_equal(file_read(path, REFERENCE_MAX, &document, NULL), 0);
	if (!str_eq(document, buf_str(&out)))
		fail_msg("docs/commands.md is not what `mcpx help --markdown` prints: write it again");
	free((char *)document.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_every_command_is_found_by_its_words),
		cmocka_unit_test(test_operations_have_all_their_faces),
		cmocka_unit_test(test_flags_of_a_command),
		cmocka_unit_test(test_flags_with_several_words_are_in_kebab_case),
		cmocka_unit_test(test_booleans),
		cmocka_unit_test(test_dashes),
		cmocka_unit_test(test_what_follows_a_script_is_its_own),
		cmocka_unit_test(test_settings_are_flags_everywhere),
		cmocka_unit_test(test_what_a_daemon_must_know),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_a_script_needs_no_command),
		cmocka_unit_test(test_the_reference_is_current),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/completion.h"
#include "cli/completion_private.h"

#include <fcntl.h>
#include <sys/stat.h>

/* -- a daemon that knows these --------------------------------------------------------------------------- */

#define NAMESPACES                                                                                           \
	"[{\"namespace\":\"files\",\"server\":\"files\",\"live\":1,\"description\":\"Reads and writes.\"},"  \
	"{\"namespace\":\"git\",\"server\":\"git\",\"live\":0},{\"server\":\"nameless\"},7]"

#define TOOLS                                                                                                         \
	"[{\"namespace\":\"files\",\"tool\":\"read\",\"function\":\"read\",\"description\":\"Reads a file. Whole.\"," \
	"\"inputSchema\":{\"$defs\":{\"Mode\":{\"enum\":[\"text\",\"base64\",3],\"description\":\"How.\"}},"          \
	"\"required\":[\"path\"],\"properties\":{"                                                                    \
	"\"path\":{\"type\":\"string\",\"description\":\"Which file.\"},"                                             \
	"\"mode\":{\"$ref\":\"#/$defs/Mode\"},"                                                                       \
	"\"tags\":{\"type\":\"array\",\"items\":{\"enum\":[\"new\",\"old\"]}},"                                       \
	"\"deep\":{\"anyOf\":[{\"type\":\"boolean\"},{\"const\":\"auto\"},{\"type\":\"null\"}]},"                     \
	"\"loop\":{\"$ref\":\"#/properties/loop\"},"                                                                  \
	"\"far\":{\"$ref\":\"https://elsewhere.example/schema\"}}}},"                                                 \
	"{\"namespace\":\"files\",\"tool\":\"read-all\",\"function\":\"read_all\",\"inputSchema\":true},"             \
	"{\"namespace\":\"files\",\"tool\":\"evil\\u001b[2J\",\"function\":\"evil\",\"description\":\"no\"},"         \
	"{\"namespace\":\"files\",\"tool\":\"two\\nlines\"},"                                                         \
	"{\"namespace\":\"files\",\"tool\":\"quiet\",\"description\":\"a\\u001b[31mb\\n c\"}]"

#define ARTIFACTS                                                                                            \
	"{\"artifacts\":[{\"id\":\"art_1\",\"name\":\"map.png\",\"size\":3},{\"id\":\"art_2\",\"name\":\"\"}]}"

struct daemon {
	struct str target, answer;
	unsigned asked;
};

static struct str answer(void *owner, struct str target)
{
	static const struct daemon known[] = {
		{ STR_INIT("/v1/namespaces"), STR_INIT(NAMESPACES), 0 },
		{ STR_INIT("/v1/tools?ns=files"), STR_INIT(TOOLS), 0 },
		{ STR_INIT("/v1/artifacts"), STR_INIT(ARTIFACTS), 0 },
		{ STR_INIT("/v1/tools?ns=a%26b"), STR_INIT("[{\"tool\":\"odd\"}]"), 0 },
		{ STR_INIT("/v1/tools?ns=broken"), STR_INIT("[{\"tool\":"), 0 },
	};

	++*(unsigned *)owner;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(known[i].target, target))
			return known[i].answer;
	return str_make(NULL, 0);
}

/* -- asking ---------------------------------------------------------------------------------------------- */

struct fixture {
	struct arena arena;
	struct str root, cwd;
	unsigned asked;
	struct candidates found;
};

static const char *const no_environment[] = { NULL };

static void find_from(struct fixture *f, struct str cwd, const char *line)
{
	struct environment environment = { no_environment };
	struct completion_context context = { &environment, cwd, &f->arena, answer, &f->asked };
	struct str words[20], rest = str_of(line), word;
	struct completion_line parts = { .words = words };

	while (str_split(&rest, ' ', &word))
		words[parts.count++] = word;
	parts.current = words[--parts.count];
	f->asked = 0;
	completion_find(&f->found, &parts, &context);
	for (size_t i = 0; i < f->found.count; i++)
		assert_true(f->found.items[i].text.n > 0);
}

static void find(struct fixture *f, const char *line)
{
	find_from(f, f->cwd, line);
}

/* The candidates that begin like the last word, with blanks between them; "." behind those that go on. */
static const char *shown(struct fixture *f, const char *line)
{
	struct str all = { "", 0 }, current = str_of(line);
	size_t blank = str_find_last_char(current, ' ');

	find(f, line);
	candidates_narrow(&f->found, blank == STR_NONE ? current : str_from(current, blank + 1));
	for (size_t i = 0; i < f->found.count; i++)
		all = arena_printf(&f->arena, "%.*s%s%.*s%s", STR_ARG(all), i ? " " : "",
				   STR_ARG(f->found.items[i].text), f->found.items[i].open ? "|" : "");
	return all.p;
}

static const struct candidate *candidate(const struct fixture *f, const char *text)
{
	for (size_t i = 0; i < f->found.count; i++)
		if (str_eq(f->found.items[i].text, str_of(text)))
			return &f->found.items[i];
	return NULL;
}

static void expect_note(const struct fixture *f, const char *text, const char *note)
{
	const struct candidate *found = candidate(f, text);

	if (!found)
		fail_msg("no candidate %s", text);
	else if (!str_eq(found->note, str_of(note)))
		fail_msg("%s has the note %.*s", text, STR_ARG(found->note));
}

/* -- commands -------------------------------------------------------------------------------------------- */

static void test_commands(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(shown(f, "ca"), "call");
	assert_string_equal(shown(f, "ar"), "artifact");
	assert_string_equal(shown(f, "to"), "tools tour");
	assert_string_equal(shown(f, "artifact "), "put list get delete");
	assert_string_equal(shown(f, "artifact ge"), "get");
	assert_string_equal(shown(f, "artifact get ar"), "art_1 art_2");
	assert_string_equal(shown(f, "nonsense "), "");
	assert_string_equal(shown(f, "nonsense cal"), "");
	assert_string_equal(shown(f, "artifact nonsense "), "");
	find(f, "");
	assert_int_equal(f->asked, 0);
	assert_false(f->found.files);
	for (size_t i = 0; i < command_count(); i++) {
		struct str words = command_at(i)->words;

		words = arena_copy(&f->arena, str_slice(words, 0, str_find_char(words, ' ')));
		assert_non_null(candidate(f, words.p));
	}
	expect_note(f, "call", "Call one tool of a server.");
	expect_note(f, "artifact", "put, list, get, delete");
}

static void test_help(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(shown(f, "help artifact "), "put list get delete");
	assert_string_equal(shown(f, "help ca"), "call");
	assert_string_equal(shown(f, "help call "), "");
	assert_string_equal(shown(f, "help artifact put "), "");
	assert_string_equal(shown(f, "help --ma"), "--man --markdown");
}

/* -- flags ----------------------------------------------------------------------------------------------- */

static void test_flags(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(shown(f, "--vers"), "--version");
	assert_string_equal(shown(f, "call --vers"), "");
	assert_string_equal(shown(f, "artifact put --mi"), "--mime");
	assert_string_equal(shown(f, "call --timeout-"), "--timeout-ms");
	assert_string_equal(shown(f, "call a.b c=d --timeout-"), "--timeout-ms");
	assert_string_equal(shown(f, "call -- --timeout-"), "");
	assert_string_equal(shown(f, "frobnicate --hel"), "--help");
	find(f, "call --");
	expect_note(f, "--session", "the session whose instances are used");
	expect_note(f, "--json", "whether a command prints one JSON document");
	assert_non_null(candidate(f, "--pool-call-timeout"));
	assert_null(candidate(f, "--no-json"));
	assert_null(candidate(f, "--artifacts-buffer"));
	assert_int_equal(f->asked, 0);
	assert_string_equal(shown(f, "call --no-j"), "--no-json");
	assert_string_equal(shown(f, "call --no-li"), "--no-links");
}

static void test_rare_flags(void **state)
{
	struct fixture *f = *state;

	/* Plumbing, and the long way to say what has a short one here. */
	assert_string_equal(shown(f, "ls --artifacts-b"), "--artifacts-buffer");
	assert_string_equal(shown(f, "run --exec-ti"), "--exec-timeout");
	find(f, "run --");
	assert_non_null(candidate(f, "--timeout"));
	assert_null(candidate(f, "--exec-timeout"));
	find(f, "ls --");
	assert_non_null(candidate(f, "--exec-timeout"));
	assert_null(candidate(f, "--timeout"));
}

static void test_short_flags(void **state)
{
	struct fixture *f = *state;

	find(f, "artifact get -");
	assert_non_null(candidate(f, "-o"));
	assert_non_null(candidate(f, "--output"));
	find(f, "artifact get --");
	assert_null(candidate(f, "-o"));
	find(f, "search -");
	assert_non_null(candidate(f, "-n"));
}

/* Each of them, on each command, is one that the command line takes. */
static void test_offered_flags_exist(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < command_count(); i++) {
		struct str words = command_at(i)->words;
		enum setting setting;

		find(f, arena_concat(&f->arena, words, STR(" --"), STR("")).p);
		assert_true(f->found.count > SETTING_COUNT / 4);
		for (size_t k = 0; k < f->found.count; k++) {
			struct str flag = str_from(f->found.items[k].text, 2);

			if (!command_find_flag(command_at(i), flag) &&
			    !setting_find_flag(flag, words, &setting) && !str_eq(flag, STR("help")))
				fail_msg("mcpx %.*s --%.*s", STR_ARG(words), STR_ARG(flag));
		}
	}
}

static void test_flag_values(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(shown(f, "ls --color "), "auto always never");
	assert_string_equal(shown(f, "ls --color al"), "always");
	assert_string_equal(shown(f, "ls --color=al"), "--color=always");
	assert_string_equal(shown(f, "--color al"), "always");
	assert_string_equal(shown(f, "settings list --scope "), "daemon client call plugin");
	assert_string_equal(shown(f, "settings list --scope=c"), "--scope=client --scope=call");
	assert_string_equal(shown(f, "ls --json="), "--json=true --json=false");
	assert_string_equal(shown(f, "call --links=f"), "--links=false");
	assert_string_equal(shown(f, "run --output s"), "structured stream");
	assert_string_equal(shown(f, "call --nonsense="), "");
	/* A value is no command, and what follows it is no value. */
	assert_string_equal(shown(f, "--color always ca"), "call");
	assert_string_equal(shown(f, "call --session x fi"), "files.|");
	assert_string_equal(shown(f, "--color=always ca"), "call");
	assert_string_equal(shown(f, "--json ca"), "call");
	/* The value of a flag may look like a flag. */
	assert_string_equal(shown(f, "call --session --"), "");
}

static void expect_file(struct fixture *f, const char *line, size_t at)
{
	find(f, line);
	if (!f->found.files || f->found.files_at != at)
		fail_msg("%s: a file %s at %zu", line, f->found.files ? "is" : "is not", f->found.files_at);
}

static void expect_no_file(struct fixture *f, const char *line)
{
	find(f, line);
	assert_false(f->found.files);
}

static void test_files(void **state)
{
	struct fixture *f = *state;

	expect_file(f, "artifact put ", 0);
	expect_file(f, "artifact put src/ma", 0);
	expect_file(f, "artifact get art_1 --output ", 0);
	expect_file(f, "artifact get -o ", 0);
	expect_file(f, "artifact get --output=a/b", strlen("--output="));
	expect_file(f, "--config ", 0);
	expect_file(f, "ls --config=", strlen("--config="));
	expect_file(f, "./to", 0);
	expect_file(f, "~/to", 0);
	expect_file(f, "run ", 0);
	expect_file(f, "run tour ", 0);
	expect_file(f, "run tour --x", 0);
	expect_file(f, "tour a ", 0);
	expect_file(f, "call files.read @ar", 1);
	expect_file(f, "call files.read path:=@ar", strlen("path:=@"));
	expect_no_file(f, "artifact get art_1 ");
	expect_no_file(f, "artifact get --outputs=a");
	expect_no_file(f, "call files.read path=");
	expect_no_file(f, "ls ");
	expect_no_file(f, "artifact ./");
}

static void test_redirection(void **state)
{
	struct fixture *f = *state;
	struct environment environment = { no_environment };
	struct completion_context context = { &environment, f->cwd, &f->arena, answer, &f->asked };
	struct str words[] = { STR_INIT("call") };
	struct completion_line line = { words, 1, STR("fi"), true };

	completion_find(&f->found, &line, &context);
	assert_true(f->found.files);
	assert_int_equal(f->found.count, 0);
}

/* -- what the daemon knows ------------------------------------------------------------------------------- */

static void test_tools(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(shown(f, "call "), "files.| git.|");
	expect_note(f, "files.", "Reads and writes.");
	assert_int_equal(f->asked, 1);
	assert_string_equal(shown(f, "call files."), "files.read files.read-all files.quiet");
	assert_int_equal(f->asked, 1);
	assert_string_equal(shown(f, "call files.read-"), "files.read-all");
	assert_string_equal(shown(f, "call nowhere."), "");
	assert_string_equal(shown(f, "call broken."), "");
	assert_string_equal(shown(f, "call a&b."), "a&b.odd");
	find(f, "call files.");
	expect_note(f, "files.read", "Reads a file.");
	expect_note(f, "files.quiet", "a\xef\xbf\xbd[31mb");
	assert_null(candidate(f, "files.evil"));
}

static void test_namespaces(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(shown(f, "tools "), "files git");
	assert_string_equal(shown(f, "tools files "), "");
	assert_string_equal(shown(f, "types "), "files git");
	assert_string_equal(shown(f, "types files.re"), "files.read files.read-all");
	assert_string_equal(shown(f, "types git,fi"), "git,files");
	assert_string_equal(shown(f, "types git,files.q"), "git,files.quiet");
	assert_string_equal(shown(f, "client files,"), "files,files files,git");
	assert_string_equal(shown(f, "exec --ns="), "--ns=files --ns=git");
	assert_string_equal(shown(f, "exec --ns=files,g"), "--ns=files,git");
	assert_string_equal(shown(f, "run --ns git,"), "git,files git,git");
	assert_string_equal(shown(f, "serve --passthrough fi"), "files");
	assert_string_equal(shown(f, "exec "), "");
	assert_string_equal(shown(f, "search "), "");
	assert_int_equal(f->asked, 0);
}

static void test_arguments(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(shown(f, "call files.read "), "path=| mode=| tags=| deep=| loop=| far=|");
	expect_note(f, "path=", "required: Which file.");
	expect_note(f, "mode=", "How.");
	expect_note(f, "loop=", "");
	assert_string_equal(shown(f, "call files.read mo"), "mode=|");
	assert_string_equal(shown(f, "call files.read path=a deep:=1 "), "mode=| tags=| loop=| far=|");
	assert_string_equal(shown(f, "call files.read tags=new t"), "tags=|");
	assert_string_equal(shown(f, "call files.read mode="), "mode=text mode=base64 mode=3");
	assert_string_equal(shown(f, "call files.read mode=b"), "mode=base64");
	assert_string_equal(shown(f, "call files.read tags=n"), "tags=new");
	assert_string_equal(shown(f, "call files.read deep="), "deep=true deep=false deep=auto");
	assert_string_equal(shown(f, "call files.read path="), "");
	assert_string_equal(shown(f, "call files.read loop="), "");
	assert_string_equal(shown(f, "call files.read far="), "");
	assert_string_equal(shown(f, "call files.read none="), "");
	assert_string_equal(shown(f, "call files.read mode:="), "");
	assert_string_equal(shown(f, "call files.read_all "), "");
	assert_string_equal(shown(f, "call files.nothing "), "");
	assert_string_equal(shown(f, "call files "), "");
	assert_string_equal(shown(f, "call files.read --session s mod"), "mode=|");
}

static void test_no_daemon(void **state)
{
	struct fixture *f = *state;
	struct environment environment = { no_environment };
	struct completion_context context = { .environment = &environment,
					      .cwd = f->cwd,
					      .arena = &f->arena };
	struct str words[] = { STR_INIT("call"), STR_INIT("files.read") };
	struct completion_line line = { words, 2, STR(""), false };

	for (line.count = 1; line.count <= 2; line.count++) {
		completion_find(&f->found, &line, &context);
		assert_int_equal(f->found.count, 0);
	}
}

static struct str many_tools(void *owner, struct str target)
{
	struct fixture *f = owner;
	struct buf text;

	(void)target;
	buf_init(&text, 1 << 20);
	buf_append_char(&text, '[');
	for (unsigned i = 0; i < CANDIDATES_MAX + 10; i++)
		buf_printf(&text, "%s{\"tool\":\"t%u\"}", i ? "," : "", i);
	buf_append_char(&text, ']');
	struct str copy = arena_copy(&f->arena, buf_str(&text));
	buf_release(&text);
	return copy;
}

static void test_bound(void **state)
{
	struct fixture *f = *state;
	struct environment environment = { no_environment };
	struct completion_context context = { &environment, f->cwd, &f->arena, many_tools, f };
	struct str words[] = { STR_INIT("call") };
	struct completion_line line = { words, 1, STR("big."), false };

	completion_find(&f->found, &line, &context);
	assert_int_equal(f->found.count, CANDIDATES_MAX);
	assert_true(str_eq(f->found.items[CANDIDATES_MAX - 1].text, STR("big.t4095")));
}

/* -- settings -------------------------------------------------------------------------------------------- */

static void test_settings(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(shown(f, "settings "), "list get set unset");
	assert_string_equal(shown(f, "settings get pool.callT"), "pool.callTimeout");
	assert_string_equal(shown(f, "settings get artifacts.bu"), "artifacts.buffer");
	find(f, "settings get ");
	assert_non_null(candidate(f, "pool.callTimeout"));
	assert_null(candidate(f, "artifacts.buffer"));
	assert_string_equal(shown(f, "settings set pool.sharing "), "shared exclusive");
	assert_string_equal(shown(f, "settings set daemon.warm "), "true false");
	assert_string_equal(shown(f, "settings set pool.callTimeout "), "");
	assert_string_equal(shown(f, "settings set nonsense "), "");
	assert_string_equal(shown(f, "settings set daemon.warm true "), "");
	expect_file(f, "settings set logging.dir ", 0);
}

static void expect_flag_value(struct fixture *f, const char *line, bool json, const char *config)
{
	struct environment environment = { no_environment };
	struct completion_context context = { &environment, f->cwd, &f->arena, answer, &f->asked };
	struct settings *set = settings_new();
	struct str words[20], rest = str_of(line), word;
	struct completion_line parts = { .words = words };

	while (str_split(&rest, ' ', &word))
		words[parts.count++] = word;
	completion_add_flags(set, &parts, &context);
	assert_int_equal(settings_bool(set, SETTING_OUTPUT_JSON), json);
	assert_true(str_eq(settings_string(set, SETTING_PATHS_CONFIG_FILE), str_of(config)));
	settings_free(&set);
}

static void test_flags_that_were_typed(void **state)
{
	struct fixture *f = *state;

	expect_flag_value(f, "ls", false, "");
	expect_flag_value(f, "ls --json", true, "");
	expect_flag_value(f, "--config a.json ls --json", true, "a.json");
	expect_flag_value(f, "--config=a.json call x.y", false, "a.json");
	expect_flag_value(f, "call --config a.json --nonsense --color purple --json", true, "a.json");
	expect_flag_value(f, "call --config", false, "");
	expect_flag_value(f, "call -- --json", false, "");
	expect_flag_value(f, "run --json tour --config b.json", true, "");
}

/* -- scripts --------------------------------------------------------------------------------------------- */

static void test_scripts(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(shown(f, "run t"), "tour");
	assert_string_equal(shown(f, "tou"), "tour");
	assert_string_equal(shown(f, "run a"), "above");
	expect_note(f, "above",
		    arena_concat(&f->arena, f->root, STR("/.config/mcpx/scripts/above.ts"), STR("")).p);
	find(f, "run ");
	assert_non_null(candidate(f, "tour"));
	assert_null(candidate(f, "types.d"));
	assert_null(candidate(f, ".hidden"));
	assert_null(candidate(f, "notes"));
	find(f, "run ./");
	assert_int_equal(f->found.count, 0);
	find_from(f, STR("/"), "run t");
	assert_null(candidate(f, "tour"));
}

static void test_sources(void **state)
{
	(void)state;
	assert_true(completion_sources_are_true());
}

/* -- the fixture ----------------------------------------------------------------------------------------- */

static void make(struct fixture *f, const char *path, bool directory)
{
	struct str whole = arena_concat(&f->arena, f->root, str_of(path), STR(""));

	if (directory) {
		assert_int_equal(mkdir(whole.p, 0700), 0);
		return;
	}
	int fd = open(whole.p, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static const char *const directories[] = { "/.config", "/.config/mcpx", "/.config/mcpx/scripts",
					   "/below",   "/below/.mcpx",	"/below/.mcpx/scripts" };
static const char *const files[] = { "/.config/mcpx/scripts/above.ts",	"/.config/mcpx/scripts/tour.ts",
				     "/below/.mcpx/scripts/tour.js",	"/below/.mcpx/scripts/types.d.ts",
				     "/below/.mcpx/scripts/.hidden.ts", "/below/.mcpx/scripts/notes.txt" };

static int setup(void **state)
{
	char root[] = "/tmp/mcpx-completion-XXXXXX";
	struct fixture *f = xnew(struct fixture);

	arena_init(&f->arena, 0);
	assert_non_null(mkdtemp(root));
	f->root = arena_copy(&f->arena, str_of(root));
	for (size_t i = 0; i < ARRAY_LEN(directories); i++)
		make(f, directories[i], true);
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		make(f, files[i], false);
	f->cwd = arena_concat(&f->arena, f->root, STR("/below"), STR(""));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		unlink(arena_concat(&f->arena, f->root, str_of(files[i]), STR("")).p);
	for (size_t i = ARRAY_LEN(directories); i-- > 0;)
		rmdir(arena_concat(&f->arena, f->root, str_of(directories[i]), STR("")).p);
	assert_int_equal(rmdir(f->root.p), 0);
	arena_release(&f->arena);
	free(f);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),    cmocka_unit_test(test_help),
		cmocka_unit_test(test_flags),	    cmocka_unit_test(test_rare_flags),
		cmocka_unit_test(test_short_flags), cmocka_unit_test(test_offered_flags_exist),
		cmocka_unit_test(test_flag_values), cmocka_unit_test(test_files),
		cmocka_unit_test(test_redirection), cmocka_unit_test(test_tools),
		cmocka_unit_test(test_namespaces),  cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_no_daemon),   cmocka_unit_test(test_bound),
		cmocka_unit_test(test_settings),    cmocka_unit_test(test_flags_that_were_typed),
		cmocka_unit_test(test_scripts),	    cmocka_unit_test(test_sources),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

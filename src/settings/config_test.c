#include "base/base.h"
#include "settings/config.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/time.h>

#include "settings/registry.h"
#include "settings/scratch.h"

/* A test's own world: a directory in which HOME is a folder, so that nothing of the machine's is found (but
 * /etc). */
struct world {
	struct scratch scratch;
	struct settings *set;
	struct config *config;
	struct environment environment;
	struct err err;
};

static int set_up(void **state)
{
	struct world *w = xnew(struct world);

	scratch_init(&w->scratch);
	w->set = settings_new();
	w->environment.entries = (const char *const *)arena_array(&w->scratch.arena, const char *, 16);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	config_free(&w->config);
	settings_free(&w->set);
	scratch_release(&w->scratch);
	free(w);
	return 0;
}

static void set_variable(struct world *w, const char *name, struct str value)
{
	const char **entries = (const char **)(uintptr_t)w->environment.entries;

	while (*entries)
		entries++;
	*entries = arena_printf(&w->scratch.arena, "%s=%s", name, value.p).p;
}

/* Searches from `cwd` below the root, with HOME at home/. */
static int search_from(struct world *w, const char *cwd)
{
	if (!environment_get(&w->environment, STR("HOME")).p)
		set_variable(w, "HOME", scratch_path(&w->scratch, "home"));
	config_free(&w->config);
	return settings_load(w->set, &w->config, &w->environment, scratch_path(&w->scratch, cwd), &w->err);
}

/* One file, named as --config would. */
static int load_text(struct world *w, const char *text)
{
	struct str path = scratch_write(&w->scratch, "one/mcpx.json", text);

	if (!environment_get(&w->environment, STR("MCPX_CONFIG")).p)
		set_variable(w, "MCPX_CONFIG", path);
	return search_from(w, "one");
}

static void must_load(struct world *w, const char *text)
{
	if (load_text(w, text) < 0)
		fail_msg("%s", w->err.message);
}

/* The text with "@" for the scratch directory. */
static const char *at_root(struct world *w, const char *text)
{
	struct str rest = str_of(text), all = STR(""), part;
	bool first = true;

	while (str_split(&rest, '@', &part)) {
		all = arena_concat(&w->scratch.arena, all, first ? STR("") : w->scratch.root, part);
		first = false;
	}
	return all.p;
}

static void must_fail(struct world *w, const char *text, int code, const char *message)
{
	assert_int_equal(load_text(w, text), code);
	assert_string_equal(w->err.message, at_root(w, message));
}

static const struct config_server *server(struct world *w, const char *name)
{
	const struct config_server *found = config_find(w->config, str_of(name));

	assert_non_null(found);
	return found;
}

static void server_fails(struct world *w, const char *text, int code, const char *message)
{
	must_load(w, text);
	assert_non_null(server(w, "s")->error);
	assert_string_equal(server(w, "s")->error->message, at_root(w, message));
	assert_int_equal(server(w, "s")->error->code, code);
}

static void is_list(struct setting_items items, const char *joined)
{
	char text[256] = "";

	for (size_t i = 0; i < items.count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? "|" : "",
			 items.items[i].p);
	assert_string_equal(text, joined);
}

/* -- the search ------------------------------------------------------------------------------------------ */

/* The files that were read, nearest first, without the scratch directory; what the machine has outside is
 * left out. */
static void are_loaded(struct world *w, const char *joined)
{
	char text[512] = "";

	for (size_t i = 0; i < w->config->source_count; i++) {
		const struct config_source *source = &w->config->sources[i];

		if (source->loaded && str_starts_with(source->path, w->scratch.root))
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", *text ? "|" : "",
				 source->path.p + w->scratch.root.n + 1);
	}
	assert_string_equal(text, joined);
}

static const struct config_source *source(struct world *w, const char *name)
{
	struct str path = scratch_path(&w->scratch, name);

	for (size_t i = 0; i < w->config->source_count; i++)
		if (str_eq(w->config->sources[i].path, path))
			return &w->config->sources[i];
	fail_msg("no source %s", name);
	return NULL;
}

static void files_are_searched_upwards_and_then_at_home(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/.config/mcpx/config.json", "{}");
	scratch_write(&w->scratch, "a/.mcpx.json", "{}");
	scratch_write(&w->scratch, "a/.mcpx/config.json", "{}");
	scratch_write(&w->scratch, "a/.mcp.json", "{}");
	scratch_write(&w->scratch, "a/b/.mcp.json", "{}");
	scratch_write(&w->scratch, "a/b/c/d/.mcpx.json", "{}");
	scratch_write(&w->scratch, "home/.config/mcpx/config.json", "{}");
	scratch_write(&w->scratch, "home/.mcpx.json", "{}");
	scratch_write(&w->scratch, "xdg/mcpx/config.json", "{}");
	set_variable(w, "XDG_CONFIG_HOME", scratch_path(&w->scratch, "xdg"));
	assert_int_equal(search_from(w, "a/b/c"), 0);
	are_loaded(w, "a/b/.mcp.json|a/.config/mcpx/config.json|a/.mcpx.json|a/.mcpx/config.json|a/.mcp.json|"
		      "xdg/mcpx/config.json|home/.config/mcpx/config.json|home/.mcpx.json");
}

static void one_file_can_be_named_instead(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "one/.mcpx.json", "{\"pool\":{\"max\":2}}");
	must_load(w, "{}");
	are_loaded(w, "one/mcpx.json");
	assert_string_equal(source(w, "one/mcpx.json")->named_by.p, "MCPX_CONFIG");
	assert_int_equal(settings_int(w->set, SETTING_POOL_MAX), 4);
}

static void a_named_file_must_exist(void **state)
{
	struct world *w = *state;
	unsigned used;

	assert_int_equal(settings_add_flag(w->set, STR("call"), "--config", "none.json", &used, NULL), 1);
	assert_int_equal(search_from(w, "one"), ERR_NOT_FOUND);
	assert_string_equal(w->err.message,
			    at_root(w, "cannot read the configuration file @/one/none.json: No such "
				       "file or directory"));
}

static void the_nearest_file_wins_per_value(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/b/.mcpx.json",
		      "{\"pool\":{\"max\":2},\"mcpServers\":{\"s\":{\"command\":\"near\"}}}");
	scratch_write(
		&w->scratch, "a/.mcpx.json",
		"{\"pool\":{\"max\":7,\"min\":1},"
		"\"mcpServers\":{\"s\":{\"command\":\"far\",\"args\":[\"x\"]},\"t\":{\"command\":\"t\"}}}");
	assert_int_equal(search_from(w, "a/b"), 0);
	assert_int_equal(settings_int(w->set, SETTING_POOL_MAX), 2);
	assert_int_equal(settings_int(w->set, SETTING_POOL_MIN), 1);
	assert_int_equal(w->config->server_count, 2);
	assert_string_equal(server(w, "s")->process.command.p, "near");
	assert_int_equal(server(w, "s")->process.args.count, 0);
	assert_string_equal(server(w, "t")->file.p, at_root(w, "@/a/.mcpx.json"));
}

static void a_nearer_file_can_switch_a_server_off(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/b/.mcpx.json",
		      "{\"mcpServers\":{\"s\":{\"mcpx\":{\"disabled\":true}}}}");
	scratch_write(&w->scratch, "a/.mcpx.json", "{\"mcpServers\":{\"s\":{\"command\":\"far\"}}}");
	assert_int_equal(search_from(w, "a/b"), 0);
	assert_int_equal(w->config->server_count, 1);
	assert_true(server(w, "s")->disabled);
	assert_null(server(w, "s")->error);
}

static void a_server_is_switched_off_in_the_words_of_other_programs_too(void **state)
{
	struct world *w = *state;

	must_load(w, "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"disabled\":true},"
		     "\"b\":{\"command\":\"x\",\"enabled\":false},"
		     "\"c\":{\"command\":\"x\",\"disabled\":false,\"enabled\":true},"
		     "\"d\":{\"mcpx\":{\"disabled\":false},\"command\":\"x\",\"disabled\":true},"
		     "\"e\":{\"command\":\"x\",\"disabled\":\"true\"},"
		     "\"f\":{\"command\":\"x\",\"enabled\":0}}}");
	assert_true(server(w, "a")->disabled && server(w, "b")->disabled);
	assert_false(server(w, "c")->disabled || server(w, "d")->disabled);
	assert_null(server(w, "a")->error);
	assert_non_null(strstr(server(w, "e")->error->message, "disabled: expected true or false"));
	assert_non_null(strstr(server(w, "f")->error->message, "enabled: expected true or false"));
}

static void a_list_replaces_what_would_come_after_it(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/b/.mcpx.json",
		      "{\"paths\":{\"config\":[\"extra.json\",null,\"../../last.json\"]}}");
	scratch_write(&w->scratch, "a/b/extra.json", "{\"paths\":{\"config\":[]}}");
	scratch_write(&w->scratch, "a/.mcpx.json", "{\"paths\":{\"config\":[\"dir\",\"none.json\"]}}");
	scratch_write(&w->scratch, "a/dir/.mcp.json", "{}");
	scratch_write(&w->scratch, "last.json", "{}");
	scratch_write(&w->scratch, "home/.mcpx.json", "{}");
	assert_int_equal(search_from(w, "a/b"), 0);
	are_loaded(w, "a/b/.mcpx.json|a/b/extra.json|a/.mcpx.json|a/dir/.mcp.json");
	assert_string_equal(source(w, "a/b/extra.json")->named_by.p, at_root(w, "@/a/b/.mcpx.json"));
	assert_string_equal(
		source(w, "a/b/extra.json")->note.p,
		at_root(w, "its paths.config has no effect, because @/a/b/.mcpx.json brought the file in"));
	assert_string_equal(source(w, "a/none.json")->note.p, "does not exist");
	assert_false(source(w, "a/none.json")->loaded);
}

static void the_environment_can_begin_the_list(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/.mcpx.json", "{}");
	scratch_write(&w->scratch, "first.json", "{}");
	scratch_write(&w->scratch, "home/last.json", "{}");
	set_variable(w, "MCPX_PATHS_CONFIG", STR("../first.json,null,~/last.json"));
	assert_int_equal(search_from(w, "a"), 0);
	are_loaded(w, "a/../first.json|a/.mcpx.json|home/last.json");
	assert_string_equal(source(w, "a/../first.json")->named_by.p, "MCPX_PATHS_CONFIG");
}

static void a_circle_is_refused_where_it_closes(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/b/.mcpx.json", "{\n \"paths\":{\"config\":[null]}}");
	scratch_write(&w->scratch, "a/.mcpx.json", "{\"paths\": {\"config\": [\"b/.mcpx.json\"]}}");
	assert_int_equal(search_from(w, "a/b"), ERR_INVALID);
	assert_string_equal(w->err.message,
			    at_root(w, "@/a/.mcpx.json:1:12: paths.config leads in a circle: it names "
				       "b/.mcpx.json, which led here"));
	assert_int_equal(w->err.line, 1);
	assert_int_equal(w->err.column, 12);
}

static void a_file_is_read_once_whatever_names_it(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/.mcpx.json",
		      "{\"paths\":{\"config\":[\"link.json\",\"link.json\",\"real.json\"]}}");
	scratch_write(&w->scratch, "a/real.json", "{}");
	assert_int_equal(symlink("real.json", scratch_path(&w->scratch, "a/link.json").p), 0);
	assert_int_equal(search_from(w, "a"), 0);
	are_loaded(w, "a/.mcpx.json|a/link.json");
	assert_string_equal(source(w, "a/link.json")->real.p, at_root(w, "@/a/real.json"));
	assert_string_equal(source(w, "a/real.json")->note.p,
			    at_root(w, "is @/a/link.json, which was read already"));
}

static void a_file_of_somebody_else_is_not_found_by_searching(void **state)
{
	struct world *w = *state;
	struct str path =
		scratch_write(&w->scratch, "a/.mcpx.json", "{\"mcpServers\":{\"s\":{\"command\":\"evil\"}}}");

	if (geteuid() != 0) {
		print_message("skipped: only root can make a file of somebody else\n");
		skip();
	}
	assert_int_equal(chown(path.p, 4711, 4711), 0);
	assert_int_equal(search_from(w, "a"), 0);
	assert_int_equal(w->config->server_count, 0);
	assert_string_equal(source(w, "a/.mcpx.json")->note.p,
			    "not read: it belongs to another user; name it with --config to read it");
}

/* -- files ----------------------------------------------------------------------------------------------- */

static void a_broken_file_is_an_error_with_its_place(void **state)
{
	struct world *w = *state;

	must_fail(w, "[]", ERR_INVALID, "@/one/mcpx.json:1:1: a configuration file holds an object: { ... }");
	must_fail(w, "// x\n{\"pool\":\n {\"max\":\"x\"}}", ERR_INVALID,
		  "@/one/mcpx.json:3:3: pool.max: expected an integer, got \"x\"");
	assert_int_equal(w->err.line, 3);
	assert_int_equal(w->err.column, 3);
	must_fail(w, "{\"pool\":{\"max\":2,\n\"max\":3}}", ERR_INVALID,
		  "@/one/mcpx.json:2:1: \"max\" is given twice here");
	must_fail(w, "{\"pool\":3}", ERR_INVALID, "@/one/mcpx.json:1:2: pool: expected an object");
	must_fail(w, "{\"mcpServers\":[]}", ERR_INVALID,
		  "@/one/mcpx.json:1:2: mcpServers: expected an object");
	must_fail(w, "{\"mcpServers\":{\"a\":{},\"a\":{}}}", ERR_INVALID,
		  "@/one/mcpx.json:1:23: \"a\" is given twice here");
	must_fail(
		w, "{\"pool\":{\"callTimeout\":5}}", ERR_INVALID,
		"@/one/mcpx.json:1:10: pool.callTimeout: expected a duration such as \"1m30s\", got a number");
	must_fail(
		w, "{\"script\":{\"runtimeOrder\":[1]}}", ERR_INVALID,
		"@/one/mcpx.json:1:12: script.runtimeOrder: expected an array of strings, got a number in it");
	must_fail(
		w, "{\"paths\":{\"configFile\":\"x\"}}", ERR_INVALID,
		"@/one/mcpx.json:1:11: paths.configFile cannot be set in a file: it decides how files are read; use "
		"MCPX_CONFIG");
	must_fail(
		w, "{\"paths\":{\"state\":\"${NO_SUCH}/x\"}}", ERR_INVALID,
		"@/one/mcpx.json:1:11: paths.state: the variable NO_SUCH is not set (set it, or give a default: "
		"${NO_SUCH:-text})");
	assert_int_equal(load_text(w, "{\"pool\": {,}}"), ERR_INVALID);
	assert_true(str_starts_with(str_of(w->err.message), str_of(at_root(w, "@/one/mcpx.json:1:11: "))));
}

static void comments_trailing_commas_and_a_byte_order_mark_are_fine(void **state)
{
	struct world *w = *state;

	must_fail(w, "\xef\xbb\xbf{\"pool\":{\"max\":\"x\"}}", ERR_INVALID,
		  "@/one/mcpx.json:1:10: pool.max: expected an integer, got \"x\"");
	must_fail(w, "\xef\xbb\xbf{\"pool\" 1}", ERR_INVALID,
		  "@/one/mcpx.json:1:9: expected ':' after a member name");
	must_load(w, "\xef\xbb\xbf{ // c\n \"$schema\": \"x\", /* d */ \"pool\": {\"max\": 3,},}");
	assert_int_equal(settings_int(w->set, SETTING_POOL_MAX), 3);
	assert_int_equal(w->config->ignored_count, 0);
}

static void settings_of_every_kind_are_read(void **state)
{
	struct world *w = *state;

	set_variable(w, "WHERE", STR("/var/x"));
	must_load(w, "{\"pool\":{\"callTimeout\":\"1.5s\",\"scope\":\"repo\"},\"http\":{\"bodyLimit\":4096,"
		     "\"callBodyLimit\":\"2MiB\"},\"script\":{\"runtimeOrder\":[\"node\",\"a,b\"]},"
		     "\"paths\":{\"state\":\"${WHERE}/s\",\"config\":[null,\"x\"]},\"daemon\":{\"tcp\":true,"
		     "\"warm\":\"no\"},\"upstream\":{\"protocol\":\"modern\"}}");
	assert_int_equal(settings_duration(w->set, SETTING_POOL_CALL_TIMEOUT), 1500);
	assert_int_equal(settings_choice(w->set, SETTING_POOL_SCOPE), CHOICE_POOL_SCOPE_REPO);
	assert_int_equal(settings_bytes(w->set, SETTING_HTTP_BODY_LIMIT), 4096);
	assert_int_equal(settings_bytes(w->set, SETTING_HTTP_CALL_BODY_LIMIT), 2 << 20);
	is_list(settings_items(w->set, SETTING_SCRIPT_RUNTIME_ORDER), "node|a,b");
	assert_string_equal(settings_string(w->set, SETTING_PATHS_STATE).p, "/var/x/s");
	assert_null(settings_items(w->set, SETTING_PATHS_CONFIG).items[0].p);
	assert_true(settings_bool(w->set, SETTING_DAEMON_TCP));
	assert_false(settings_bool(w->set, SETTING_DAEMON_WARM));
	assert_int_equal(settings_choice(w->set, SETTING_UPSTREAM_PROTOCOL),
			 CHOICE_UPSTREAM_PROTOCOL_PREFER_DISCOVER);
}

static void keys_that_nothing_claims_are_noted(void **state)
{
	struct world *w = *state;

	must_load(w, "{\"colour\":1,\n\"http\":{\"colour\":2},\"mcpServers\":{\"s\":{\"command\":\"x\",\n"
		     "  \"alwaysAllow\":[],\"mcpx\":{\"profiles\":[\"a\"]}}}}");
	assert_int_equal(w->config->ignored_count, 4);
	assert_string_equal(w->config->ignored[0].key.p, "colour");
	assert_true(w->config->ignored[0].unclaimed);
	assert_string_equal(w->config->ignored[1].key.p, "http.colour");
	assert_int_equal(w->config->ignored[1].line, 2);
	assert_int_equal(w->config->ignored[1].column, 9);
	assert_string_equal(w->config->ignored[2].key.p, "mcpServers.s.alwaysAllow");
	assert_int_equal(w->config->ignored[2].line, 3);
	assert_string_equal(w->config->ignored[3].key.p, "mcpServers.s.mcpx.profiles");
	assert_int_equal(w->config->ignored[3].column, 28);
	assert_false(w->config->ignored[3].unclaimed);
	assert_null(server(w, "s")->error);
}

static void keys_of_other_versions_are_taken_or_told_apart(void **state)
{
	struct world *w = *state;

	must_load(w, "{\"runtime\":\"node\",\n \"socketPath\":\"/s\", \"permissions\":{}}");
	assert_string_equal(settings_string(w->set, SETTING_SCRIPT_RUNTIME).p, "node");
	assert_int_equal(w->config->ignored_count, 2);
	assert_string_equal(w->config->ignored[0].key.p, "socketPath");
	assert_int_equal(w->config->ignored[0].line, 2);
	assert_false(w->config->ignored[0].unclaimed);
	assert_string_equal(w->config->ignored[1].key.p, "permissions");
	assert_false(w->config->ignored[1].unclaimed);
	must_fail(
		w, "{\"script\":{\"runtime\":\"deno\"},\"runtime\":\"node\"}", ERR_INVALID,
		"@/one/mcpx.json:1:30: runtime and script.runtime are two spellings of one setting: leave out "
		"one of them");
	must_fail(w, "{\"runtime\":1}", ERR_INVALID,
		  "@/one/mcpx.json:1:2: script.runtime: expected a string, got a number");
}

static void texts_have_the_form_that_their_setting_asks_for(void **state)
{
	struct world *w = *state;

	set_variable(w, "WHERE", STR("/var/x"));
	must_load(w, "{\"script\":{\"env\":[\"A=${WHERE}\",\"B=\"]},\"proto\":{\"mcpPath\":\"${WHERE}\"}}");
	is_list(settings_items(w->set, SETTING_SCRIPT_ENV), "A=/var/x|B=");
	assert_string_equal(settings_string(w->set, SETTING_PROTO_MCP_PATH).p, "/var/x");
	must_fail(w, "{\"script\":{\"env\":[\"A=1\",\"B\"]}}", ERR_INVALID,
		  "@/one/mcpx.json:1:12: script.env: \"B\" has no =: a variable is written NAME=VALUE");
	must_fail(w, "{\"script\":{\"env\":[\"=1\"]}}", ERR_INVALID,
		  "@/one/mcpx.json:1:12: script.env: \"=1\" has no name: a variable is written NAME=VALUE");
	must_fail(
		w, "{\"proto\":{\"mcpPath\":\"mcp\"}}", ERR_INVALID,
		"@/one/mcpx.json:1:11: proto.mcpPath: \"mcp\" does not begin with /: a path such as /mcp is "
		"expected");
	must_fail(w, "{\"proto\":{\"mcpPath\":\"/a?b\"}}", ERR_INVALID,
		  "@/one/mcpx.json:1:11: proto.mcpPath: \"/a?b\" is no path: it holds a blank, a ? or a #");
}

static void an_unknown_key_of_the_pool_is_refused(void **state)
{
	struct world *w = *state;

	must_fail(
		*state, "{\"pool\":{\"excludeTool\":[]}}", ERR_INVALID,
		"@/one/mcpx.json:1:10: pool: unknown key \"excludeTool\"; besides the pool settings it may hold "
		"tools, extraIncludeTools, excludeTools and default");
	must_fail(
		*state, "{\"pool\":{\"namespace\":\"x\"}}", ERR_INVALID,
		"@/one/mcpx.json:1:10: pool: unknown key \"namespace\"; besides the pool settings it may hold "
		"tools, extraIncludeTools, excludeTools and default");
	assert_int_equal(load_text(w, "{\"pool\":{\"excludeTools\":[\"[\"]}}"), ERR_INVALID);
	assert_true(str_starts_with(str_of(w->err.message),
				    str_of(at_root(w, "@/one/mcpx.json:1:10: pool.excludeTools: "))));
	must_fail(
		*state, "{\"pool\":{\"argumentRules\":{}}}", ERR_UNSUPPORTED,
		"@/one/mcpx.json:1:10: pool.argumentRules: this version does not enforce it, and will not run what it "
		"should guard: remove it, and hide tools with excludeTools where that is enough");
	must_fail(
		*state, "{\"pool\":{\"writePolicy\":\"allow\"}}", ERR_UNSUPPORTED,
		"@/one/mcpx.json:1:10: pool.writePolicy: this version does not enforce it, and will not run what it "
		"should guard: remove it, and hide tools with excludeTools where that is enough");
}

/* -- servers --------------------------------------------------------------------------------------------- */

static void a_server_is_read_whole(void **state)
{
	struct world *w = *state;
	const struct config_server *s;
	struct config_limits limits;

	set_variable(w, "TOKEN", STR("t0ken"));
	must_load(
		w,
		"{\"mcpServers\":{\"my-files\":{\"command\":\"./bin/${TOKEN}\",\"args\":[\"-x\",\"${TOKEN}\"],"
		"\"env\":{\"KEY\":\"a${TOKEN}\",\"PASS\":\"\",\"NONE\":\"${ABSENT:-}\"},\"cwd\":\"sub\","
		"\"protocol\":\"legacy\",\"transport\":\"stdio\",\"mcpx\":{\"sharing\":\"exclusive\","
		"\"scope\":\"session\",\"max\":3,\"min\":1,\"idleTimeout\":\"1s\",\"callTimeout\":\"2s\","
		"\"startTimeout\":\"3s\",\"description\":\"d ${x}\",\"prelude\":\"p\"}}}}");
	s = server(w, "my-files");
	assert_null(s->error);
	assert_string_equal(s->namespace.p, "my_files");
	assert_ptr_equal(server(w, "my_files"), s);
	assert_string_equal(s->process.command.p, at_root(w, "@/one/bin/t0ken"));
	is_list(s->process.args, "-x|t0ken");
	assert_int_equal(s->process.env_count, 2);
	assert_string_equal(s->process.env[0].name.p, "KEY");
	assert_string_equal(s->process.env[0].value.p, "at0ken");
	assert_string_equal(s->process.env[1].name.p, "NONE");
	assert_string_equal(s->process.env[1].value.p, "");
	assert_string_equal(s->process.cwd.p, at_root(w, "@/one/sub"));
	assert_int_equal(s->protocol, CHOICE_UPSTREAM_PROTOCOL_PREFER_INITIALIZE);
	assert_string_equal(s->description.p, "d ${x}");
	assert_string_equal(s->prelude.p, "p");
	config_server_limits(s, w->set, &limits);
	assert_int_equal(limits.scope, CHOICE_POOL_SCOPE_SESSION);
	assert_int_equal(limits.sharing, CHOICE_POOL_SHARING_EXCLUSIVE);
	assert_int_equal(limits.max, 3);
	assert_int_equal(limits.min, 1);
	assert_int_equal(limits.idle_ms, 1000);
	assert_int_equal(limits.call_ms, 2000);
	assert_int_equal(limits.start_ms, 3000);
}

static void what_an_entry_leaves_out_comes_from_the_settings(void **state)
{
	struct world *w = *state;
	const struct config_server *s;
	struct config_limits limits;

	must_load(w,
		  "{\"mcpServers\":{\"s\":{\"command\":\"x\"}},\"pool\":{\"min\":2,\"callTimeout\":\"7s\"}}");
	s = server(w, "s");
	assert_string_equal(s->process.command.p, "x");
	assert_string_equal(s->process.cwd.p, at_root(w, "@/one"));
	assert_int_equal(s->protocol, -1);
	config_server_limits(s, w->set, &limits);
	assert_int_equal(limits.scope, CHOICE_POOL_SCOPE_GLOBAL);
	assert_int_equal(limits.max, 1); /* global scope */
	assert_int_equal(limits.min, 1);
	assert_int_equal(limits.call_ms, 7000);
	assert_int_equal(limits.start_ms, 60000);
}

static void relative_paths_start_where_the_file_speaks_for(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/.mcpx/config.json", "{\"mcpServers\":{\"s\":{\"command\":\"../x\"}}}");
	scratch_write(&w->scratch, "a/.config/mcpx/config.json",
		      "{\"mcpServers\":{\"t\":{\"command\":\"x\",\"cwd\":\"~/w\"}}}");
	assert_int_equal(search_from(w, "a"), 0);
	assert_string_equal(server(w, "s")->process.cwd.p, at_root(w, "@/a"));
	assert_string_equal(server(w, "s")->process.command.p, at_root(w, "@/a/../x"));
	assert_string_equal(server(w, "t")->process.cwd.p, at_root(w, "@/home/w"));
}

static void a_mistake_disables_only_its_server(void **state)
{
	struct world *w = *state;

	must_load(
		w,
		"{\"mcpServers\":{\"a\":{\"command\":\"x\"},\"s\":{\"command\":3},\"b\":{\"command\":\"y\"}}}");
	assert_null(server(w, "a")->error);
	assert_null(server(w, "b")->error);
	assert_string_equal(server(w, "s")->error->message,
			    at_root(w, "@/one/mcpx.json:1:41: server \"s\": command: expected a string"));
	assert_int_equal(server(w, "s")->error->column, 41);
}

static void mistakes_of_entries_are_told_with_their_place(void **state)
{
	static const struct {
		const char *entry;
		int code;
		const char *message;
	} cases[] = {
		{ "3", ERR_INVALID, "1:16: server \"s\": expected an object" },
		{ "{}", ERR_INVALID, "1:16: server \"s\": needs command, url or aliasOf" },
		{ "{\"command\":\"\"}", ERR_INVALID, "1:21: server \"s\": command: must not be empty" },
		{ "{\"command\":\"x\",\"args\":\"y\"}", ERR_INVALID,
		  "1:35: server \"s\": args: expected an array of strings" },
		{ "{\"command\":\"x\",\"args\":[\"a\",5]}", ERR_INVALID,
		  "1:47: server \"s\": args: expected a string" },
		{ "{\"command\":\"x\",\"env\":{\"A\":\"1\",\"B\":2}}", ERR_INVALID,
		  "1:50: server \"s\": env.B: expected a string" },
		{ "{\"command\":\"x\",\"env\":{\"T\":\"${GONE}\"}}", ERR_INVALID,
		  "1:42: server \"s\": env.T: the variable GONE is not set (set it, or give a default: ${GONE:-text})" },
		{ "{\"command\":\"x\",\"env\":{\"A=B\":\"\"}}", ERR_INVALID,
		  "1:42: server \"s\": env.A=B: this cannot be a name" },
		{ "{\"command\":\"x\",\"args\":[\"\\u0000\"]}", ERR_INVALID,
		  "1:43: server \"s\": args: a string here cannot hold a NUL character" },
		{ "{\"command\":\"x\",\"url\":\"y\"}", ERR_INVALID,
		  "1:16: server \"s\": has both command and url: leave out one" },
		{ "{\"command\":\"x\",\"transport\":\"http\"}", ERR_INVALID,
		  "1:16: server \"s\": its transport does not fit: stdio needs command, http and sse need url" },
		{ "{\"command\":\"x\",\"transport\":\"pigeon\"}", ERR_INVALID,
		  "1:35: server \"s\": transport: expected stdio, http or sse" },
		{ "{\"command\":\"x\",\"auth\":1}", ERR_INVALID,
		  "1:35: server \"s\": auth: expected an object" },
		{ "{\"command\":\"x\",\"protocol\":\"new\"}", ERR_INVALID,
		  "1:35: server \"s\": protocol: expected prefer-discover, prefer-initialize, force-discover, "
		  "force-initialize or follow, got \"new\"" },
		{ "{\"url\":\"http://x\",\"headers\":{\"A\":\"b\"},\"auth\":{}}", ERR_UNSUPPORTED,
		  "1:16: server \"s\": remote servers (url) are not part of this version yet: start it with command" },
		{ "{\"aliasOf\":\"\"}", ERR_INVALID, "1:21: server \"s\": aliasOf: must not be empty" },
		{ "{\"aliasOf\":\"t\",\"args\":[]}", ERR_INVALID,
		  "1:16: server \"s\": aliasOf takes the process of another server: leave out what describes one" },
		{ "{\"command\":\"x\",\"command\":\"y\"}", ERR_INVALID,
		  "1:35: \"command\" is given twice here" },
		{ "{\"command\":\"x\",\"mcpx\":1}", ERR_INVALID,
		  "1:35: server \"s\": mcpx: expected an object" },
		{ "{\"command\":\"x\",\"mcpx\":{\"max\":1,\"max\":2}}", ERR_INVALID,
		  "1:51: \"max\" is given twice here" },
		{ "{\"command\":\"x\",\"mcpx\":{\"max\":0}}", ERR_INVALID,
		  "1:43: server \"s\": mcpx.max: 0 is too small; the least is 1" },
		{ "{\"command\":\"x\",\"mcpx\":{\"max\":1,\"min\":2}}", ERR_INVALID,
		  "1:16: server \"s\": mcpx.min is 2 and mcpx.max only 1" },
		{ "{\"command\":\"x\",\"mcpx\":{\"namespace\":\"a-b\"}}", ERR_INVALID,
		  "1:43: server \"s\": mcpx.namespace: \"a-b\" is no identifier: use letters, digits and _, with no digit "
		  "in front" },
		{ "{\"command\":\"x\",\"mcpx\":{\"namespace\":\"delete\"}}", ERR_INVALID,
		  "1:43: server \"s\": mcpx.namespace: \"delete\" is reserved in scripts: choose another name" },
		{ "{\"command\":\"x\",\"mcpx\":{\"argumentRules\":{}}}", ERR_UNSUPPORTED,
		  "1:43: server \"s\": mcpx.argumentRules: this version does not enforce it, and will not run what it "
		  "should guard: remove it, and hide tools with excludeTools where that is enough" },
		{ "{\"command\":\"x\",\"mcpx\":{\"writePolicy\":\"deny\"}}", ERR_UNSUPPORTED,
		  "1:43: server \"s\": mcpx.writePolicy: this version does not enforce it, and will not run what it "
		  "should guard: remove it, and hide tools with excludeTools where that is enough" },
		{ "{\"command\":\"x\",\"mcpx\":{\"mode\":\"session\"}}", ERR_INVALID,
		  "1:43: server \"s\": mcpx: unknown key \"mode\"; it may hold sharing, scope, max, min, idleTimeout, "
		  "callTimeout, startTimeout, namespace, disabled, description, prelude, tools, extraIncludeTools, "
		  "excludeTools, writePolicy, argumentRules, requiresSecrets, requiresServers, preconditions, profiles, "
		  "default, logging" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world *w = *state;

		server_fails(w,
			     arena_printf(&w->scratch.arena, "{\"mcpServers\":{\"s\":%s}}", cases[i].entry).p,
			     cases[i].code,
			     arena_printf(&w->scratch.arena, "@/one/mcpx.json:%s", cases[i].message).p);
	}
}

static void the_least_is_at_most_the_most_wherever_they_stand(void **state)
{
	server_fails(*state, "{\"pool\":{\"min\":9,\"max\":2},\"mcpServers\":{\"s\":{\"command\":\"x\"}}}",
		     ERR_INVALID, "@/one/mcpx.json:1:41: server \"s\": pool.min is 9 and pool.max only 2");
	server_fails(*state, "{\"mcpServers\":{\"s\":{\"command\":\"x\",\"mcpx\":{\"min\":9}}}}", ERR_INVALID,
		     "@/one/mcpx.json:1:16: server \"s\": mcpx.min is 9 and pool.max only 4");
	server_fails(*state,
		     "{\"pool\":{\"min\":3},\"mcpServers\":{\"s\":{\"command\":\"x\",\"mcpx\":{\"max\":2}}}}",
		     ERR_INVALID, "@/one/mcpx.json:1:33: server \"s\": pool.min is 3 and mcpx.max only 2");
	must_load(*state, "{\"pool\":{\"min\":9,\"max\":9},\"mcpServers\":{\"s\":{\"command\":\"x\"}}}");
	assert_null(server(*state, "s")->error);
}

static void an_integer_may_be_written_in_any_form(void **state)
{
	struct world *w = *state;

	must_load(w, "{\"pool\":{\"max\":3.0},\"search\":{\"limit\":3e1},\"http\":{\"bodyLimit\":1e6}}");
	must_fail(w, "{\"pool\":{\"max\":3.5}}", ERR_INVALID,
		  "@/one/mcpx.json:1:10: pool.max: expected an integer, got \"3.5\"");
	must_fail(w, "{\"pool\":{\"max\":1e23}}", ERR_INVALID,
		  "@/one/mcpx.json:1:10: pool.max: \"1e23\" is too large; the most is 1000");
	must_fail(w, "{\"pool\":{\"max\":-1e23}}", ERR_INVALID,
		  "@/one/mcpx.json:1:10: pool.max: \"-1e23\" is too small; the least is 1");
	must_fail(w, "{\"http\":{\"bodyLimit\":1e23}}", ERR_INVALID,
		  "@/one/mcpx.json:1:10: http.bodyLimit: \"1e23\" is too large; the most is 128MiB");
	must_fail(w, "{\"pool\":{\"max\":\"99999999999999999999\"}}", ERR_INVALID,
		  "@/one/mcpx.json:1:10: pool.max: \"99999999999999999999\" is too large; the most is 1000");
}

static void a_malformed_pattern_names_its_field(void **state)
{
	struct world *w = *state;

	must_load(w, "{\"mcpServers\":{\"s\":{\"command\":\"x\",\"mcpx\":{\"tools\":[\"a\",\"\"]}}}}");
	assert_true(str_starts_with(str_of(server(w, "s")->error->message),
				    str_of(at_root(w, "@/one/mcpx.json:1:43: server \"s\": mcpx.tools: "))));
	assert_int_equal(server(w, "s")->error->code, ERR_INVALID);
	must_load(w, "{\"mcpServers\":{\"s\":{\"command\":\"x\",\"mcpx\":{\"excludeTools\":[\"/x/\"]}}}}");
	assert_int_equal(server(w, "s")->error->code, ERR_UNSUPPORTED);
}

static void an_alias_takes_the_process_and_not_the_block(void **state)
{
	struct world *w = *state;
	const struct config_server *alias;

	must_load(w, "{\"mcpServers\":{\"read\":{\"aliasOf\":\"files\",\"mcpx\":{\"tools\":[\"read_*\"]}},"
		     "\"files\":{\"command\":\"x\",\"args\":[\"y\"],\"mcpx\":{\"excludeTools\":[\"z\"]}}}}");
	alias = server(w, "read");
	assert_null(alias->error);
	assert_string_equal(alias->alias_of.p, "files");
	assert_string_equal(alias->process.command.p, "x");
	is_list(alias->process.args, "y");
	is_list(alias->filter.tools, "read_*");
	is_list(alias->filter.excluded, "");
	is_list(server(w, "files")->filter.excluded, "z");
}

static void an_alias_must_lead_to_a_process(void **state)
{
	server_fails(*state, "{\"mcpServers\":{\"s\":{\"aliasOf\":\"t\"}}}", ERR_NOT_FOUND,
		     "@/one/mcpx.json:1:16: server \"s\": aliasOf: there is no server \"t\"");
	server_fails(
		*state,
		"{\"mcpServers\":{\"s\":{\"aliasOf\":\"t\"},\"t\":{\"aliasOf\":\"u\"},\"u\":{\"command\":\"x\"}}}",
		ERR_INVALID,
		"@/one/mcpx.json:1:16: server \"s\": aliasOf: \"t\" is an alias itself; name the server that it "
		"stands for");
	server_fails(
		*state, "{\"mcpServers\":{\"s\":{\"aliasOf\":\"t\"},\"t\":{}}}", ERR_INVALID,
		"@/one/mcpx.json:1:16: server \"s\": aliasOf: @/one/mcpx.json:1:36: server \"t\": needs command, url or "
		"aliasOf");
}

static void a_namespace_belongs_to_one_server(void **state)
{
	struct world *w = *state;

	server_fails(
		w,
		"{\"mcpServers\":{\"a-b\":{\"command\":\"x\"},\"s\":{\"command\":\"y\",\"mcpx\":{\"namespace\":\"a_b\"}}}}",
		ERR_EXISTS,
		"@/one/mcpx.json:1:38: server \"s\": its namespace a_b belongs to server \"a-b\" (@/one/mcpx.json:1): "
		"give one of them another with mcpx.namespace");
	assert_null(server(w, "a-b")->error);
	assert_ptr_equal(server(w, "a_b"), server(w, "a-b"));
	/* Neither one that is off nor one that is broken takes a name from one that works. */
	must_load(w, "{\"mcpServers\":{\"a-b\":{\"command\":\"x\",\"mcpx\":{\"disabled\":true}},\"a.b\":{},"
		     "\"a_b\":{\"command\":\"y\"}}}");
	assert_null(server(w, "a_b")->error);
	assert_ptr_equal(config_find(w->config, STR("a_b")), server(w, "a_b"));
}

static void pool_and_server_filter_together(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/b/.mcpx.json",
		      "{\"pool\":{\"extraIncludeTools\":[\"e1\"],\"tools\":[]}}");
	scratch_write(
		&w->scratch, "a/.mcpx.json",
		"{\"pool\":{\"tools\":[\"get_*\"],\"extraIncludeTools\":[\"e2\"],\"excludeTools\":[\"x1\"]},"
		"\"mcpServers\":{"
		"\"s\":{\"command\":\"x\",\"mcpx\":{\"extraIncludeTools\":[\"e3\"],\"excludeTools\":[\"x2\"]}},"
		"\"t\":{\"command\":\"x\",\"mcpx\":{\"tools\":[\"own\"]}}}}");
	assert_int_equal(search_from(w, "a/b"), 0);
	is_list(server(w, "s")->filter.tools, "get_*");
	is_list(server(w, "s")->filter.extra, "e1|e2|e3");
	is_list(server(w, "s")->filter.excluded, "x1|x2");
	is_list(server(w, "t")->filter.tools, "own");
	is_list(server(w, "t")->filter.excluded, "x1");
}

static void the_pool_can_switch_off_what_does_not_switch_itself_on(void **state)
{
	struct world *w = *state;

	must_load(w, "{\"pool\":{\"default\":false},\"mcpServers\":{\"a\":{\"command\":\"x\"},"
		     "\"b\":{\"command\":\"x\",\"mcpx\":{\"default\":true}}}}");
	assert_true(server(w, "a")->disabled);
	assert_false(server(w, "b")->disabled);
}

static void a_server_can_require_variables_and_servers(void **state)
{
	struct world *w = *state;

	set_variable(w, "HAVE", STR("1"));
	must_load(
		w,
		"{\"mcpServers\":{"
		"\"a\":{\"command\":\"x\",\"mcpx\":{\"requiresSecrets\":[\"HAVE\",\"OWN\"]},\"env\":{\"OWN\":\"1\"}},"
		"\"b\":{\"command\":\"x\",\"mcpx\":{\"requiresSecrets\":[\"LACK\"]}},"
		"\"c\":{\"command\":\"x\",\"mcpx\":{\"requiresServers\":[\"d\"]}},"
		"\"d\":{\"command\":\"x\",\"mcpx\":{\"requiresServers\":[\"b\"]}},"
		"\"e\":{\"command\":\"x\",\"mcpx\":{\"requiresServers\":[\"a\",\"f\"]}},"
		"\"f\":{\"command\":\"x\",\"mcpx\":{\"requiresServers\":[\"e\"]}},"
		"\"g\":{\"command\":\"x\",\"mcpx\":{\"requiresServers\":[\"a\",\"h\",\"c\"]}},"
		"\"h\":{\"command\":\"x\",\"mcpx\":{\"requiresServers\":[\"g\"]}}}}");
	assert_null(server(w, "a")->error);
	assert_string_equal(
		server(w, "b")->error->message,
		at_root(w,
			"@/one/mcpx.json:1:96: server \"b\": mcpx.requiresSecrets: the variable LACK is not "
			"set in our environment or the entry's env"));
	assert_non_null(server(w, "c")->error);
	assert_true(str_ends_with(str_of(server(w, "c")->error->message),
				  STR("mcpx.requiresServers: no server that is on has the namespace \"d\"")));
	assert_non_null(server(w, "d")->error);
	/* Two that need each other stand and fall together. */
	assert_null(server(w, "e")->error);
	assert_null(server(w, "f")->error);
	assert_true(str_ends_with(str_of(server(w, "g")->error->message),
				  STR("mcpx.requiresServers: no server that is on has the namespace \"c\"")));
	assert_true(str_ends_with(str_of(server(w, "h")->error->message),
				  STR("mcpx.requiresServers: no server that is on has the namespace \"g\"")));
}

/* -- changes --------------------------------------------------------------------------------------------- */

static void a_change_is_noticed_by_contents(void **state)
{
	struct world *w = *state;
	struct str path = scratch_path(&w->scratch, "one/mcpx.json");
	const struct timeval later[2] = { { 2000000000, 0 }, { 2000000000, 0 } };

	must_load(w, "{\"pool\":{\"max\":2}}");
	assert_false(config_changed(w->config, w->set));
	assert_int_equal(utimes(path.p, later), 0);
	assert_false(config_changed(w->config, w->set));
	scratch_write(&w->scratch, "one/mcpx.json", "{\"pool\":{\"max\":3}}");
	assert_true(config_changed(w->config, w->set));
	assert_int_equal(unlink(path.p), 0);
	assert_true(config_changed(w->config, w->set));
}

static void a_reload_reads_the_same_files(void **state)
{
	struct world *w = *state;
	struct config *next = NULL;

	scratch_write(&w->scratch, "a/.mcpx.json", "{\"mcpServers\":{\"s\":{\"command\":\"old\"}}}");
	scratch_write(&w->scratch, "home/.mcpx.json", "{\"mcpServers\":{\"t\":{\"command\":\"t\"}}}");
	assert_int_equal(search_from(w, "a"), 0);
	scratch_write(&w->scratch, "a/.mcpx.json", "{\"mcpServers\":{\"s\":{\"command\":\"new\"}}}");
	scratch_write(&w->scratch, "a/.mcp.json", "{\"mcpServers\":{\"u\":{\"command\":\"u\"}}}");
	assert_int_equal(unlink(scratch_path(&w->scratch, "home/.mcpx.json").p), 0);
	assert_int_equal(config_reload(&next, w->config, w->set, &w->environment, &w->err), 0);
	config_free(&w->config);
	w->config = next;
	assert_int_equal(w->config->server_count, 1);
	assert_string_equal(server(w, "s")->process.command.p, "new");
	assert_string_equal(source(w, "home/.mcpx.json")->note.p,
			    "is gone; it counts as empty until it is back or the daemon ends");
}

static void reload(struct world *w)
{
	struct config *next = NULL;

	assert_int_equal(config_reload(&next, w->config, w->set, &w->environment, &w->err), 0);
	config_free(&w->config);
	w->config = next;
}

static void a_file_that_is_back_is_noticed(void **state)
{
	struct world *w = *state;
	const char *text = "{\"mcpServers\":{\"s\":{\"command\":\"x\"}}}";

	scratch_write(&w->scratch, "a/.mcpx.json", text);
	assert_int_equal(search_from(w, "a"), 0);
	assert_false(config_lacks_file(w->config));
	assert_int_equal(unlink(scratch_path(&w->scratch, "a/.mcpx.json").p), 0);
	assert_true(config_lacks_file(w->config));
	assert_true(config_changed(w->config, w->set));
	reload(w);
	assert_false(config_changed(w->config, w->set));
	assert_false(config_lacks_file(w->config));
	assert_int_equal(w->config->server_count, 0);
	assert_null(config_appeared(w->config));
	scratch_write(&w->scratch, "a/.mcpx.json", text);
	assert_true(config_changed(w->config, w->set));
	reload(w);
	assert_int_equal(w->config->server_count, 1);
	assert_string_equal(source(w, "a/.mcpx.json")->note.p, "");
}

static void a_file_where_none_was_is_of_another_set(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/.mcpx.json", "{}");
	assert_int_equal(search_from(w, "a"), 0);
	assert_null(config_appeared(w->config));
	scratch_write(&w->scratch, "a/.mcp.json", "{}");
	assert_false(config_changed(w->config, w->set));
	assert_string_equal(config_appeared(w->config)->path.p, at_root(w, "@/a/.mcp.json"));
}

static void a_reload_of_a_broken_file_leaves_the_old_one(void **state)
{
	struct world *w = *state;
	struct config *next = NULL;

	must_load(w, "{\"mcpServers\":{\"s\":{\"command\":\"x\"}}}");
	scratch_write(&w->scratch, "one/mcpx.json", "{");
	assert_int_equal(config_reload(&next, w->config, w->set, &w->environment, &w->err), ERR_INVALID);
	assert_null(next);
	assert_string_equal(server(w, "s")->process.command.p, "x");
}

/* -- showing --------------------------------------------------------------------------------------------- */

static void a_server_is_shown_without_its_secrets(void **state)
{
	struct world *w = *state;
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer writer;

	must_load(w, "{\"mcpServers\":{\"s\":{\"command\":\"x\",\"args\":[\"a\"],\"env\":{\"KEY\":\"hush\"},"
		     "\"mcpx\":{\"description\":\"d\"}}}}");
	buf_init(&out, 4096);
	json_writer_init(&writer, &out, false);
	config_write_server(server(w, "s"), w->set, &writer);
	assert_string_equal(
		buf_cstr(&out),
		at_root(w, "{\"name\":\"s\",\"namespace\":\"s\",\"transport\":\"stdio\",\"command\":\"x\","
			   "\"args\":[\"a\"],\"envKeys\":[\"KEY\"],\"cwd\":\"@/one\",\"sharing\":\"shared\","
			   "\"scope\":\"global\",\"max\":1,\"disabled\":false,\"description\":\"d\","
			   "\"from\":\"@/one/mcpx.json\"}"));
}

/* The schema and the code know the same fields. */
static void the_schema_lists_what_is_read(void **state)
{
	struct world *w = *state;
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *key, *value, *entry;
	struct str text;
	size_t count = 0;

	assert_int_equal(file_read(getenv("CONFIG_SCHEMA"), 1 << 20, &text, NULL), 0);
	assert_int_equal(json_parse(&doc, text, NULL, NULL), 0);
	free((char *)text.p);
	entry = json_pointer(json_root(&doc), STR("/properties/mcpServers/additionalProperties/properties"));
	json_for_each_member(key, value, entry) {
		must_load(w, arena_printf(&w->scratch.arena, "{\"mcpServers\":{\"s\":{\"%s\":null}}}",
					  json_str(key).p)
				     .p);
		assert_int_equal(w->config->ignored_count, 0);
		count++;
	}
	assert_int_equal(count, 11);
	count = 0;
	json_for_each_member(key, value, json_pointer(entry, STR("/mcpx/properties"))) {
		must_load(w,
			  arena_printf(&w->scratch.arena, "{\"mcpServers\":{\"s\":{\"mcpx\":{\"%s\":null}}}}",
				       json_str(key).p)
				  .p);
		assert_int_equal(str_find(str_of(server(w, "s")->error->message), STR("unknown key")),
				 STR_NONE);
		count++;
	}
	assert_int_equal(count, 22);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(files_are_searched_upwards_and_then_at_home),
		IN_WORLD(one_file_can_be_named_instead),
		IN_WORLD(a_named_file_must_exist),
		IN_WORLD(the_nearest_file_wins_per_value),
		IN_WORLD(a_nearer_file_can_switch_a_server_off),
		IN_WORLD(a_server_is_switched_off_in_the_words_of_other_programs_too),
		IN_WORLD(a_list_replaces_what_would_come_after_it),
		IN_WORLD(the_environment_can_begin_the_list),
		IN_WORLD(a_circle_is_refused_where_it_closes),
		IN_WORLD(a_file_is_read_once_whatever_names_it),
		IN_WORLD(a_file_of_somebody_else_is_not_found_by_searching),
		IN_WORLD(a_broken_file_is_an_error_with_its_place),
		IN_WORLD(comments_trailing_commas_and_a_byte_order_mark_are_fine),
		IN_WORLD(settings_of_every_kind_are_read),
		IN_WORLD(keys_that_nothing_claims_are_noted),
		IN_WORLD(keys_of_other_versions_are_taken_or_told_apart),
		IN_WORLD(texts_have_the_form_that_their_setting_asks_for),
		IN_WORLD(an_unknown_key_of_the_pool_is_refused),
		IN_WORLD(a_server_is_read_whole),
		IN_WORLD(what_an_entry_leaves_out_comes_from_the_settings),
		IN_WORLD(relative_paths_start_where_the_file_speaks_for),
		IN_WORLD(a_mistake_disables_only_its_server),
		IN_WORLD(mistakes_of_entries_are_told_with_their_place),
		IN_WORLD(the_least_is_at_most_the_most_wherever_they_stand),
		IN_WORLD(an_integer_may_be_written_in_any_form),
		IN_WORLD(a_malformed_pattern_names_its_field),
		IN_WORLD(an_alias_takes_the_process_and_not_the_block),
		IN_WORLD(an_alias_must_lead_to_a_process),
		IN_WORLD(a_namespace_belongs_to_one_server),
		IN_WORLD(pool_and_server_filter_together),
		IN_WORLD(the_pool_can_switch_off_what_does_not_switch_itself_on),
		IN_WORLD(a_server_can_require_variables_and_servers),
		IN_WORLD(a_change_is_noticed_by_contents),
		IN_WORLD(a_reload_reads_the_same_files),
		IN_WORLD(a_file_that_is_back_is_noticed),
		IN_WORLD(a_file_where_none_was_is_of_another_set),
		IN_WORLD(a_reload_of_a_broken_file_leaves_the_old_one),
		IN_WORLD(a_server_is_shown_without_its_secrets),
		IN_WORLD(the_schema_lists_what_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

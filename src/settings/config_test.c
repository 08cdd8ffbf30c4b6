#include "base/base.h"
#include "settings/config.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/time.h>

#include "settings/config_scratch.h"

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
		"@/one/mcpx.json:1:11: paths.state: the variable NO_SUCH is not set (set it, and `mcpx stop` a daemon "
		"that was started without it; or give a default: ${NO_SUCH:-text})");
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

	must_fail(*state, "{\"pool\":{\"excludeTool\":[]}}", ERR_INVALID,
		  "@/one/mcpx.json:1:10: pool: unknown key \"excludeTool\"; did you mean excludeTools?");
	must_fail(*state, "{\"pool\":{\"callTimout\":\"7s\"}}", ERR_INVALID,
		  "@/one/mcpx.json:1:10: pool: unknown key \"callTimout\"; did you mean callTimeout?");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(a_broken_file_is_an_error_with_its_place),
		IN_WORLD(comments_trailing_commas_and_a_byte_order_mark_are_fine),
		IN_WORLD(settings_of_every_kind_are_read),
		IN_WORLD(keys_that_nothing_claims_are_noted),
		IN_WORLD(keys_of_other_versions_are_taken_or_told_apart),
		IN_WORLD(texts_have_the_form_that_their_setting_asks_for),
		IN_WORLD(an_unknown_key_of_the_pool_is_refused),
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

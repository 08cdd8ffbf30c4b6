#include "base/base.h"
#include "settings/config.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "settings/config_scratch.h"

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
		"\"scope\":\"${ABSENT:-session}\",\"max\":\"${ABSENT:-3}\",\"min\":1,\"idleTimeout\":\"1s\","
		"\"callTimeout\":\"${ABSENT:-2}s\",\"startTimeout\":\"3s\",\"tools\":[\"${TOKEN}_*\"],"
		"\"description\":\"d ${TOKEN} $${x}\",\"prelude\":\"p\"}}}}");
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
	assert_string_equal(s->description.p, "d t0ken ${x}");
	is_list(s->filter.tools, "t0ken_*");
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
		  "1:42: server \"s\": env.T: the variable GONE is not set (set it, and `mcpx stop` a daemon "
		  "that was started without it; or give a default: ${GONE:-text})" },
		{ "{\"command\":\"x\",\"mcpx\":{\"callTimeout\":\"${GONE}\"}}", ERR_INVALID,
		  "1:43: server \"s\": mcpx.callTimeout: the variable GONE is not set (set it, and `mcpx stop` a "
		  "daemon that was started without it; or give a default: ${GONE:-text})" },
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
		  "excludeTools, requiresSecrets, requiresServers, preconditions, default" },
		{ "{\"command\":\"x\",\"mcpx\":{\"preconditions\":[]}}", ERR_INVALID,
		  "1:43: server \"s\": mcpx.preconditions: expected an object of tools and what each of them needs" },
		{ "{\"command\":\"x\",\"mcpx\":{\"preconditions\":{\"t\":\"X\"}}}", ERR_INVALID,
		  "1:43: server \"s\": mcpx.preconditions: \"t\": expected an object with requiresSecret or "
		  "requiresServer" },
		{ "{\"command\":\"x\",\"mcpx\":{\"preconditions\":{\"t\":{\"requiresSecrets\":\"X\"}}}}",
		  ERR_INVALID,
		  "1:43: server \"s\": mcpx.preconditions: \"t\": unknown key \"requiresSecrets\"; it may hold "
		  "requiresSecret and requiresServer" },
		{ "{\"command\":\"x\",\"mcpx\":{\"preconditions\":{\"t\":{\"requiresSecret\":\"\"}}}}",
		  ERR_INVALID,
		  "1:43: server \"s\": mcpx.preconditions: \"t\": requiresSecret: it names nothing" },
		{ "{\"command\":\"x\",\"mcpx\":{\"preconditions\":{\"\":{}}}}", ERR_INVALID,
		  "1:43: server \"s\": mcpx.preconditions: an empty pattern names nothing; write * for all" },
		{ "{\"command\":\"x\",\"mcpx\":{\"excludTools\":[]}}", ERR_INVALID,
		  "1:43: server \"s\": mcpx: unknown key \"excludTools\"; did you mean excludeTools?" },
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

static void a_tool_that_lacks_something_is_hidden(void **state)
{
	struct world *w = *state;

	set_variable(w, "HAVE", STR("1"));
	must_load(
		w,
		"{\"mcpServers\":{"
		"\"a\":{\"command\":\"x\",\"env\":{\"OWN\":\"1\"},\"mcpx\":{\"excludeTools\":[\"never\"],"
		"\"preconditions\":{"
		"\"one\":{\"requiresSecret\":\"HAVE\"},\"two\":{\"requiresSecret\":\"OWN\"},"
		"\"three_*\":{\"requiresSecret\":\"LACK\"},\"four\":{\"requiresServer\":\"b_b\"},"
		"\"five\":{\"requiresServer\":\"c\"},\"six\":{\"requiresServer\":\"d\"},"
		"\"seven\":{\"requiresSecret\":\"HAVE\",\"requiresServer\":\"nowhere\"},\"eight\":{}}}},"
		"\"b.b\":{\"command\":\"x\"},"
		"\"c\":{\"command\":\"x\",\"mcpx\":{\"requiresSecrets\":[\"LACK\"]}},"
		"\"d\":{\"command\":\"x\",\"disabled\":true},"
		"\"e\":{\"aliasOf\":\"a\",\"mcpx\":{\"preconditions\":{\"two\":{\"requiresSecret\":\"OWN\"},"
		"\"one\":{\"requiresSecret\":\"LACK\"}}}}}}");
	assert_null(server(w, "a")->error);
	is_list(server(w, "a")->filter.excluded, "never|three_*|five|six|seven");
	/* An alias looks into the environment of its process, and has preconditions of its own. */
	is_list(server(w, "e")->filter.excluded, "one");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		IN_WORLD(a_tool_that_lacks_something_is_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Scripts that throw what nobody expects, say what cannot be said, and spoil their channel: each must end as
 * what it was, and none as if nothing had been wrong. */
#include "base/base.h"
#include "exec/run_fixture.h"

/* -- what is thrown -------------------------------------------------------------------------------------- */

static void test_errors_outside_the_main_line(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"setTimeout(() => {\n throw new TypeError('late') }, 1); await new Promise((r) => setTimeout(r, 60000))");
		assert_member(&scene, "error", 0, "/error", "\"TypeError: late (snippet:2:8)\"");
		scene_run(
			&scene,
			"Promise.reject(new Error('lost')); await new Promise((r) => setTimeout(r, 60000))");
		assert_member(&scene, "error", 0, "/error", "\"Error: lost (snippet:1:16)\"");
		scene_run(&scene, "throw 'a text'");
		assert_member(&scene, "error", 0, "/error", "\"Error: threw a text\"");
		scene_run(&scene, "throw new Error('outer', { cause: new TypeError('inner') })");
		assert_member(&scene, "error", 0, "/errorDetail/cause", "\"TypeError: inner\"");
	}
}

#define LOOKING_THROWS "\"Error: threw a value that cannot be described: looking at it throws\""

static void assert_throws(struct scene *scene, const char *source, const char *error)
{
	scene_run(scene, source);
	assert_member(scene, "error", 0, "/error", error);
	assert_member(scene, "end", 0, "/exitCode", "1");
	assert_int_equal(scene_count(scene, "result"), 0);
}

static void test_whatever_is_thrown_fails_the_run(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		assert_throws(&scene, "throw undefined", "\"Error: threw undefined\"");
		assert_throws(&scene, "throw Symbol('s')", "\"Error: threw Symbol(s)\"");
		assert_throws(&scene, "throw new Proxy({}, { getPrototypeOf() { throw 1 } })",
			      LOOKING_THROWS);
		assert_throws(
			&scene,
			"throw Object.defineProperty(new Error('x'), 'message', { get() { throw new Error('no') } })",
			LOOKING_THROWS);
		assert_throws(&scene,
			      "throw Object.assign(new Error(), { message: Object.create(null), stack: 1n })",
			      "\"Error: {}\"");
		assert_throws(
			&scene,
			"throw new Error('outer', { cause: Object.assign(new Error('inner'), { name: Symbol('s') }) })",
			"\"Error: outer (snippet:1:7)\"");
		assert_member(&scene, "error", 0, "/errorDetail/cause", "\"Symbol(s): inner\"");
		assert_throws(&scene, "const e: any = new ToolError('mine'); e.server = [e]; throw e",
			      "\"ToolError: mine (snippet:1:16)\"");
		assert_member(&scene, "error", 0, "/errorDetail/tool", NULL);
		scene_run(&scene, "throw { toString() { throw 1 }, toJSON() { throw 2 } }");
		assert_non_null(strstr(scene_member(&scene, "error", 0, "/error"), "Error: threw {"));
	}
}

/* Whatever characters it has, and however much came with it. */
static void test_a_long_error_keeps_its_text(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(&scene, "throw new Error('\xe3\x81\x82'.repeat(30000))");
		assert_non_null(strstr(scene_member(&scene, "error", 0, "/error"),
				       "Error: \xe3\x81\x82\xe3\x81\x82"));
		assert_member(&scene, "error", 0, "/errorDetail/line", "1");
		scene_run(&scene,
			  "throw new Error('why' + 'x'.repeat(32000), { cause: '\\u0001'.repeat(32000) })");
		assert_non_null(strstr(scene_member(&scene, "error", 0, "/error"), "Error: whyxxx"));
		assert_non_null(
			strstr(scene_member(&scene, "error", 0, "/errorDetail/cause"), "\\u0001\\u0001"));
	}
}

/* -- what cannot be said --------------------------------------------------------------------------------- */

static void test_a_value_that_json_cannot_say(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(&scene, "const a: any = {}; a.a = a; return a");
		assert_int_equal(scene.run.outcome.exit_code, 1);
		assert_non_null(strstr(scene_member(&scene, "error", 0, "/error"),
				       "the script's value cannot be written as JSON"));
		scene_run(&scene, "return () => 1");
		assert_non_null(strstr(scene_member(&scene, "error", 0, "/error"), "which JSON cannot say"));
	}
}

static void test_an_emit_that_json_cannot_say(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(&scene, "emit(() => 1)");
		assert_non_null(strstr(scene_member(&scene, "error", 0, "/error"),
				       "TypeError: the emitted value is a function"));
		scene_run(&scene, "emit({ toJSON() { throw 'mine' } })");
		assert_non_null(strstr(scene_member(&scene, "error", 0, "/error"),
				       "TypeError: the emitted value cannot be written as JSON: mine"));
	}
}

static void test_names_that_the_language_knows(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"return [new Map([['__proto__', 1], ['constructor', 2]]),"
			" JSON.parse('{\"__proto__\":{\"a\":1}}'), new Date(0), new Date(NaN), /x/, [() => 1]]");
		assert_member(&scene, "result", 0, "/value",
			      "[{\"__proto__\":1,\"constructor\":2},{\"__proto__\":{\"a\":1}},"
			      "\"1970-01-01T00:00:00.000Z\",null,{},[null]]");
	}
}

static void test_fields_that_are_no_object(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(&scene, "log('n', 5); log('t', await test.echo({ text: 'hi' })); log('l', [1, 2]);"
				  "log('m', new Map([['a', 1]])); log('z', null); log('o', { a: 1 })");
		assert_member(&scene, "log", 0, "/attrs", "{\"value\":5}");
		assert_member(&scene, "log", 1, "/attrs", "{\"value\":\"echo hi\"}");
		assert_member(&scene, "log", 2, "/attrs", "{\"value\":[1,2]}");
		assert_member(&scene, "log", 3, "/attrs", "{\"value\":{\"a\":1}}");
		assert_member(&scene, "log", 4, "/attrs", NULL);
		assert_member(&scene, "log", 5, "/attrs", "{\"a\":1}");
	}
}

/* -- the channel ----------------------------------------------------------------------------------------- */

static void test_a_forged_record_does_no_harm(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"const w = (s: string) => process.stderr.write(`\\x1emcpx\\x1e${s}\\n`);"
			"for (const s of ['', '{', '[]', '17', '{}', '{\"kind\":7}', '{\"kind\":\"emit\"}', '{\"kind\":\"called\",\"id\":9}',"
			" '{\"kind\":\"call\"}', '{\"kind\":\"call\",\"id\":\"x\",\"server\":1,\"tool\":2,\"argsHash\":3}', '{\"kind\":\"artifact\"}',"
			" '{\"kind\":\"log\"}', '{\"kind\":\"result\"}', '{\"kind\":\"nothing\",\"value\":1}']) w(s)");
		assert_member(&scene, "end", 0, "/exitCode", "0");
	}
}

/* What a child of the script writes to the stderr that they share may stand in the middle of a record. */
static void test_a_broken_record_is_told(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"process.stderr.write('\\x1emcpx\\x1e{\"kind\":\"emit\",\"value\":[1, noise\\n2]}\\n'); return 1");
		assert_member(
			&scene, "log", 0, "/msg",
			"\"an emitted value has text of another writer to standard error in its middle and was dropped\"");
		assert_member(&scene, "end", 0, "/dropped/frames", "1");
		assert_member(&scene, "result", 0, "/value", "1");
		scene_run(
			&scene,
			"process.stderr.write('\\x1emcpx\\x1e{\"kind\":\"result\",\"value\":[1, noise\\n')");
		assert_member(
			&scene, "error", 0, "/error",
			"\"the script's value has text of another writer to standard error in its middle: give what the script starts a standard error of its own\"");
		assert_member(&scene, "end", 0, "/exitCode", "1");
	}
}

/* JSON.stringify() writes one for a string that was cut within a pair. */
static void test_halves_of_pairs_become_characters(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(&scene, "emit('a\\ud83d'); log('m\\udc00', { 'k\\ud83d': '\\ud83d\\ude00' });"
				  "return ['😀'.slice(0, 1)]");
		assert_member(&scene, "emit", 0, "/value", "\"a\xef\xbf\xbd\"");
		assert_member(&scene, "log", 0, "/msg", "\"m\xef\xbf\xbd\"");
		assert_member(&scene, "log", 0, "/attrs", "{\"k\xef\xbf\xbd\":\"😀\"}");
		assert_member(&scene, "result", 0, "/value", "[\"\xef\xbf\xbd\"]");
		assert_member(&scene, "end", 0, "/exitCode", "0");
		scene_run(&scene, "throw new Error('e\\ud83d')");
		assert_member(&scene, "error", 0, "/errorDetail/message", "\"e\xef\xbf\xbd\"");
	}
}

static void test_scripts_may_replace_what_we_write_with(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(&scene, "JSON.stringify = () => 'x'; JSON.parse = () => 'x';"
				  "return [String(await test.echo({ text: 'y' }))]");
		assert_member(&scene, "result", 0, "/value", "[\"echo y\"]");
		assert_member(&scene, "end", 0, "/exitCode", "0");
	}
}

/* JSON.stringify() makes null of it in silence. */
static void test_a_number_that_json_cannot_say_is_no_null(void **state)
{
	static const char *const rows[][2] = {
		{ "return NaN", "\"TypeError: the script's value is NaN, which JSON cannot say" },
		{ "return { a: [1, { raw: 1 }, [], -Infinity], b: NaN }",
		  "\"TypeError: the script's value has -Infinity at .a[3], which JSON cannot say" },
		{ "const one = { x: 1 }; return { a: one, b: one, 'c d': new Map([['k', NaN]]) }",
		  "\"TypeError: the script's value has NaN at [\\\"c d\\\"].k, which JSON cannot say" },
		{ "emit([1 / 0])",
		  "\"TypeError: the emitted value has Infinity at [0], which JSON cannot say" },
	};
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
			const char *error;

			scene_run(&scene, rows[i][0]);
			error = scene_member(&scene, "error", 0, "/error");
			assert_non_null(error);
			if (!str_starts_with(str_of(error), str_of(rows[i][1])))
				fail_msg("%s: %s", rows[i][0], error);
			assert_member(&scene, "end", 0, "/exitCode", "1");
		}
		scene_run(&scene, "log('{n} of {all}', { n: NaN, all: [Infinity] })");
		assert_member(&scene, "log", 0, "/msg", "\"NaN of [\\\"Infinity\\\"]\"");
		assert_member(&scene, "log", 0, "/attrs", "{\"n\":\"NaN\",\"all\":[\"Infinity\"]}");
		assert_member(&scene, "end", 0, "/exitCode", "0");
	}
}

static void test_an_error_is_no_success(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(&scene,
			  "process.stderr.write('\\x1emcpx\\x1e{\"kind\":\"error\",\"message\":\"no\"}\\n')");
		assert_member(&scene, "error", 0, "/error", "\"Error: no\"");
		assert_member(&scene, "end", 0, "/exitCode", "1");
		scene_run(&scene,
			  "process.on('exit', () => { process.exitCode = 0 }); throw new Error('hidden')");
		assert_non_null(strstr(scene_member(&scene, "error", 0, "/error"), "Error: hidden"));
		assert_member(&scene, "end", 0, "/exitCode", "1");
	}
}

/* Without a channel there is no value, and that must not look like a script that gave none. */
static void test_a_closed_channel_fails_the_run(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(&scene, "import fs from 'node:fs'; fs.closeSync(2); return 1");
		assert_member(&scene, "error", 0, "/error", "\"the script exited with code 1\"");
		scene_run(&scene, "import fs from 'node:fs'; fs.closeSync(1); return 1");
		assert_member(&scene, "result", 0, "/value", "1");
	}
}

static void test_a_script_may_kill_its_supervisor(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"process.kill(process.ppid, 'SIGKILL'); await new Promise(() => setInterval(() => {}, 1000))");
		assert_member(&scene, "error", 0, "/error",
			      "\"the script: the supervisor of the process was killed by signal 9\"");
		assert_member(&scene, "end", 0, "/exitCode", "137");
	}
}

/* What is told when the run is over has a bound of number too: a short record costs as much as a long one. */
static void test_artifacts_without_end(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"const one = (id: string) => `\\x1emcpx\\x1e{\"kind\":\"artifact\",\"id\":\"${id}\"}\\n`;"
			"import fs from 'node:fs'; const tell = (text: string) => { for (let at = 0; at < text.length;) at += fs.writeSync(2, text.slice(at)); };"
			"tell(one('x'.repeat(70_000))); for (let i = 0; i < 102; i++) tell(one('a').repeat(100))");
		assert_member(&scene, "artifact", 9999, "/id", "\"a\"");
		assert_null(scene_member(&scene, "artifact", 10000, ""));
		assert_int_equal(scene_count(&scene, "log"), 1);
		assert_member(
			&scene, "log", 0, "/msg",
			"\"not every artifact is told of, but at most 10000: `mcpx artifact list` has all\"");
		assert_member(&scene, "end", 0, "/dropped/frames", "201");
	}
}

/* Names of any length, told any number of times, do not fill the memory of who runs the script. */
static void test_calls_with_endless_names(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"const w = (o: object) => process.stderr.write(`\\x1emcpx\\x1e${JSON.stringify(o)}\\n`);"
			"w({ kind: 'call', id: 1, server: 's'.repeat(2000), tool: 't', argsHash: '' });"
			"w({ kind: 'call', id: 2, server: 's', tool: 't', argsHash: '' });"
			"w({ kind: 'called', id: 1, ok: true, durationMs: 1 }); w({ kind: 'called', id: 2, ok: true, durationMs: 1 })");
		assert_int_equal(scene_count(&scene, "call"), 1);
		assert_int_equal(scene.run.outcome.calls, 2);
	}
}

static void test_a_daemon_that_is_not_there(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene.spec.socket = STR("/nowhere/daemon.sock");
		scene_run(
			&scene,
			"const all = await Promise.allSettled(Array.from({ length: 100 }, () => test.echo({})));"
			"return [...new Set(all.map(({ reason }: any) => reason.outcome))]");
		assert_member(&scene, "result", 0, "/value", "[\"not-sent\"]");
		assert_int_equal(scene.run.outcome.calls_failed, 100);
		assert_int_equal(scene.run.outcome.calls_unknown, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors_outside_the_main_line),
		cmocka_unit_test(test_whatever_is_thrown_fails_the_run),
		cmocka_unit_test(test_a_long_error_keeps_its_text),
		cmocka_unit_test(test_a_value_that_json_cannot_say),
		cmocka_unit_test(test_an_emit_that_json_cannot_say),
		cmocka_unit_test(test_names_that_the_language_knows),
		cmocka_unit_test(test_fields_that_are_no_object),
		cmocka_unit_test(test_a_forged_record_does_no_harm),
		cmocka_unit_test(test_a_broken_record_is_told),
		cmocka_unit_test(test_halves_of_pairs_become_characters),
		cmocka_unit_test(test_scripts_may_replace_what_we_write_with),
		cmocka_unit_test(test_a_number_that_json_cannot_say_is_no_null),
		cmocka_unit_test(test_an_error_is_no_success),
		cmocka_unit_test(test_a_closed_channel_fails_the_run),
		cmocka_unit_test(test_a_script_may_kill_its_supervisor),
		cmocka_unit_test(test_artifacts_without_end),
		cmocka_unit_test(test_calls_with_endless_names),
		cmocka_unit_test(test_a_daemon_that_is_not_there),
	};

	return cmocka_run_group_tests_name("exec-run-trouble", tests, NULL, NULL);
}

/* Runs of scripts, with deno and with node, beside a daemon that the test plays. */
#include "base/base.h"
#include "exec/run_fixture.h"
#include "exec/run_private.h"
#include "io/files.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

/* -- values ---------------------------------------------------------------------------------------------- */

static void test_value_of_a_snippet(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(&scene,
			  "const x: number = 1; return { x, big: 2n, list: new Set([1]), u: undefined }");
		assert_member(&scene, "start", 0, "/runtime", runtime_at ? "\"node\"" : "\"deno\"");
		assert_member(&scene, "result", 0, "/value", "{\"x\":1,\"big\":\"2\",\"list\":[1]}");
		assert_member(&scene, "end", 0, "/exitCode", "0");
		assert_member(&scene, "error", 0, "", NULL);
		assert_true(scene.run.outcome.started);
		assert_int_equal(strlen(scene.run.id), 16);
	}
}

static void test_nothing_is_no_result(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(&scene, "// nothing");
		assert_member(&scene, "result", 0, "", NULL);
		assert_member(&scene, "end", 0, "/exitCode", "0");
		scene_run(&scene, "return null");
		assert_member(&scene, "result", 0, "/value", "null");
	}
}

/* -- calls ----------------------------------------------------------------------------------------------- */

static void test_results_are_unwrapped(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"const text = await test.echo({ text: 'hi' });"
			"const list = await test.list(); const object = await test.object(); const image = await test.image();"
			"return { text, isText: text == 'echo hi' && text.length === 7, textRaw: text.raw.content[0].type,"
			" list, listRaw: list.raw.content.length, keys: Object.keys(list), object, image, imageRaw: image.raw.content.length }");
		assert_member(
			&scene, "result", 0, "/value",
			"{\"text\":\"echo hi\",\"isText\":true,\"textRaw\":\"text\",\"list\":[1,2],\"listRaw\":1,"
			"\"keys\":[\"0\",\"1\"],\"object\":{\"n\":1,\"raw\":\"mine\"},"
			"\"image\":[{\"type\":\"image\",\"data\":\"AAEC\",\"mimeType\":\"image/png\"}],\"imageRaw\":1}");
		assert_int_equal(scene_count(&scene, "call"), 4);
		assert_member(&scene, "call", 0, "/server", "\"test-server\"");
		assert_member(&scene, "call", 0, "/tool", "\"echo\"");
		assert_member(&scene, "call", 0, "/ok", "true");
		assert_member(&scene, "call", 0, "/destructiveHint", "false");
		assert_member(&scene, "call", 1, "/destructiveHint", NULL);
		assert_int_equal(scene.run.outcome.calls, 4);
	}
}

static void test_only_what_is_offered_can_be_reached(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"const t = test as any; return [typeof t.odd_name, typeof t.toString, typeof t.constructor,"
			" typeof t.constructor_, typeof t.__proto__, typeof t.__proto___, Object.getPrototypeOf(t),"
			" typeof (tools as any).constructor, Object.keys(tools), (globalThis as any).test === test]");
		assert_member(
			&scene, "result", 0, "/value",
			"[\"function\",\"undefined\",\"undefined\",\"function\",\"undefined\",\"function\",null,"
			"\"undefined\",[\"test\"],true]");
	}
}

static void test_the_same_arguments_have_the_same_hash(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(&scene, "await test.echo({ a: 1, b: { c: [1, 2], d: 'x' } });"
				  "await call('test-server', 'echo', { b: { d: 'x', c: [1, 2] }, a: 1 });"
				  "await call('test', 'echo', { a: 1, b: { c: [2, 1], d: 'x' } })");
		assert_string_equal(scene_member(&scene, "call", 0, "/argsHash"),
				    scene_member(&scene, "call", 1, "/argsHash"));
		assert_string_not_equal(scene_member(&scene, "call", 0, "/argsHash"),
					scene_member(&scene, "call", 2, "/argsHash"));
		assert_int_equal(strlen(scene_member(&scene, "call", 0, "/argsHash")), 18);
	}
}

static void test_many_calls_at_once(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"const all = await Promise.all(Array.from({ length: 200 }, (_, i) => test.echo({ text: String(i) })));"
			"return all.every((text, i) => text == `echo ${i}`) && all.length");
		assert_member(&scene, "result", 0, "/value", "200");
		assert_int_equal(scene.calls, 200);
		assert_int_equal(scene_count(&scene, "call"), 200);
	}
}

static void test_a_failed_call_throws(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"try { await test.fail() } catch (e) { if (!(e instanceof ToolError)) throw e;"
			" return { name: e.name, message: e.message, server: e.server, tool: e.tool, outcome: e.outcome,"
			" raw: e.raw.isError } }");
		assert_member(
			&scene, "result", 0, "/value",
			"{\"name\":\"ToolError\",\"message\":\"test.fail: no such thing\",\"server\":\"test\","
			"\"tool\":\"fail\",\"outcome\":\"answered\",\"raw\":true}");
		assert_member(&scene, "call", 0, "/ok", "false");
		assert_member(&scene, "call", 0, "/error", "\"no such thing\"");
		assert_member(&scene, "call", 0, "/outcome", "\"answered\"");

		scene_run(&scene, "await test.echo({ text: 'before' });\nawait test.gone()");
		assert_member(&scene, "error", 0, "/error",
			      "\"ToolError: test.gone: the server died (snippet:2:1)\"");
		assert_member(&scene, "error", 0, "/errorDetail/line", "2");
		assert_member(&scene, "error", 0, "/errorDetail/tool", "\"gone\"");
		assert_member(&scene, "error", 0, "/errorDetail/outcome", "\"unknown\"");
		assert_member(&scene, "end", 0, "/exitCode", "1");
		assert_int_equal(scene.run.outcome.calls_failed, 1);
		assert_int_equal(scene.run.outcome.calls_unknown, 1);
	}
}

static void test_arguments_that_are_no_object(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(&scene, "await (test.echo as any)('text')");
		assert_non_null(strstr(
			scene_member(&scene, "error", 0, "/error"),
			"TypeError: test.echo() takes one object with the tool's arguments, and got text (snippet:1:"));
		assert_int_equal(scene_count(&scene, "call"), 0);
	}
}

static void test_a_tool_that_does_not_exist(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(&scene, "\n  await (test as any).ehco({})");
		assert_non_null(strstr(scene_member(&scene, "error", 0, "/error"),
				       "test has no tool \\\"ehco\\\"; did you mean echo? (snippet:2:"));
		scene_run(&scene, "return await tset.echo({})");
		assert_non_null(strstr(scene_member(&scene, "error", 0, "/error"),
				       "tset is not defined; there is the namespace test"));
	}
}

/* -- what a script says ---------------------------------------------------------------------------------- */

static void test_emits_and_logs(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"emit({ step: 1 }); emit(undefined); log('plain');"
			"log.with({ job: 'j' }).warn('read {path} in {{ms}} ms, {other}', { path: '/x', ms: 5, n: 1n });"
			"log.error(new TypeError('broken')); console.warn('a %s', 'b', { c: 1 }); console.log('out')");
		assert_member(&scene, "emit", 0, "/value", "{\"step\":1}");
		assert_member(&scene, "emit", 1, "/value", "null");
		assert_member(&scene, "log", 0, "/msg", "\"plain\"");
		assert_member(&scene, "log", 0, "/level", "\"info\"");
		assert_member(&scene, "log", 0, "/template", NULL);
		assert_member(&scene, "log", 1, "/msg", "\"read /x in 5 ms, {other}\"");
		assert_member(&scene, "log", 1, "/template", "\"read {path} in {{ms}} ms, {other}\"");
		assert_member(&scene, "log", 1, "/attrs",
			      "{\"job\":\"j\",\"path\":\"/x\",\"ms\":5,\"n\":\"1\"}");
		assert_member(&scene, "log", 2, "/msg", "\"broken\"");
		assert_member(&scene, "log", 2, "/attrs/error/name", "\"TypeError\"");
		assert_member(&scene, "log", 3, "/level", "\"warn\"");
		assert_member(&scene, "log", 3, "/msg", "\"a b { c: 1 }\"");
		assert_member(&scene, "stdout", 0, "/data", "\"out\\n\"");
		assert_int_equal(scene_count(&scene, "log"), 4);
		assert_int_equal(scene.errors.n, 0);

		scene.spec.capture_console = false;
		scene_run(&scene, "console.warn('not captured')");
		assert_int_equal(scene_count(&scene, "log"), 0);
		assert_true(str_eq(buf_str(&scene.errors), STR("not captured\n")));
	}
}

/* A record among text that ends in no line, and characters that come in two pieces. */
static void test_streams_are_taken_apart_right(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"const fs = await import('node:fs'); fs.writeSync(2, 'progress 1 '); emit(1); fs.writeSync(2, 'progress 2');"
			"const bytes = new TextEncoder().encode('\xe6\xbc\xa2!');"
			"fs.writeSync(1, bytes.subarray(0, 1)); await new Promise((r) => setTimeout(r, 20)); fs.writeSync(1, bytes.subarray(1))");
		assert_true(str_eq(buf_str(&scene.errors), STR("progress 1 progress 2")));
		assert_member(&scene, "emit", 0, "/value", "1");
		assert_member(&scene, "stdout", 0, "/data", "\"\xe6\xbc\xa2!\"");
	}
}

static void test_artifacts(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"const a = await artifact('note', 'text'); const b = await artifact('x.bin', new Uint8Array([1, 2, 3]));"
			"const c = await artifact('shot.png', await test.image()); const d = await artifact('e \xc3\xa9.txt', { path: 'no/\xc3\xa9' });"
			"const e = await artifact('list.json', await test.list());"
			"let f; try { await artifact('bad', 17) } catch (error) { f = error.message } return { a, b, c, d, e, f }");
		assert_member(&scene, "result", 0, "/value/a/size", "4");
		assert_member(&scene, "result", 0, "/value/a/mime", "\"text/plain; charset=utf-8\"");
		assert_member(&scene, "result", 0, "/value/b/size", "3");
		assert_member(&scene, "result", 0, "/value/c/mime", "\"image/png\"");
		assert_member(&scene, "result", 0, "/value/c/size", "3");
		assert_member(&scene, "result", 0, "/value/d/name", "\"e \xc3\xa9.txt\"");
		assert_member(&scene, "result", 0, "/value/d/path",
			      arena_printf(&scene.arena, "\"%s/no/\xc3\xa9\"", scene.directory.path).p);
		assert_member(&scene, "result", 0, "/value/e/size", "12");
		assert_non_null(strstr(scene_member(&scene, "result", 0, "/value/f"), "it got 17"));
		assert_int_equal(scene_count(&scene, "artifact"), 5);
		assert_member(&scene, "artifact", 1, "/name", "\"x.bin\"");
	}
}

static void test_looking_tools_up(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"const d = describe('test.echo'); const hits = search('echo'); let e; try { describe('test.ecko') } catch (x) { e = x.message }"
			"return { d, first: hits[0].tool, score: hits[0].score, all: search('').length, two: search('', 2).length, none: search('nothing').length, e }");
		assert_member(
			&scene, "result", 0, "/value",
			"{\"d\":{\"namespace\":\"test\",\"server\":\"test-server\",\"tool\":\"echo\",\"function\":\"echo\","
			"\"description\":\"Gives the text back\",\"inputSchema\":{\"type\":\"object\",\"properties\":"
			"{\"text\":{\"type\":\"string\"}}},\"annotations\":{\"destructiveHint\":false}},"
			"\"first\":\"echo\",\"score\":100,\"all\":10,\"two\":2,\"none\":0,"
			"\"e\":\"describe: test has no tool \\\"ecko\\\"; did you mean echo?\"}");
	}
}

/* -- modules and files ----------------------------------------------------------------------------------- */

static void test_a_module_is_called_with_its_arguments(void **state)
{
	static const struct str arguments[] = { STR_INIT("a"), STR_INIT("-b c") };
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene.spec.arguments = arguments;
		scene.spec.argument_count = 2;
		scene_run(
			&scene,
			"export default (args: string[]) => args; export const join = (...args: string[]) => args.join('+')");
		assert_member(&scene, "result", 0, "/value", "[\"a\",\"-b c\"]");
		scene.spec.export_name = STR("join");
		scene_run(
			&scene,
			"export default (args: string[]) => args; export const join = (...args: string[]) => args.join('+')");
		assert_member(&scene, "result", 0, "/value", "\"a+-b c\"");
		scene_run(&scene, "export const other = () => 1, third = 3");
		assert_member(
			&scene, "error", 0, "/error",
			"\"Error: the script has no function \\\"join\\\" among its exports; it has other\"");
		scene.spec.export_name = str_make(NULL, 0);
		scene_run(&scene, "export default 17");
		assert_member(&scene, "result", 0, "/value", "17");
		scene_run(&scene, "emit(1); export {}");
		assert_member(&scene, "emit", 0, "/value", "1");
		assert_member(&scene, "result", 0, "/value", NULL);
	}
}

static void write_file(const struct scene *scene, const char *name, const char *text)
{
	const struct file_write_options options = { .mode = 0600 };

	assert_int_equal(
		file_write(test_directory_path(&scene->directory, name), str_of(text), &options, NULL), 0);
}

static void test_a_file_runs_from_its_own_place(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		assert_int_equal(mkdir(test_directory_path(&scene.directory, "a b#c"), 0700), 0);
		write_file(&scene, "a b#c/other.ts", "export const other: string = 'beside';");
		write_file(
			&scene, "a b#c/s.ts",
			"import { other } from './other.ts';\n"
			"export default async () => {\n"
			"\tif (other === 'x') throw new Error('no');\n"
			"\treturn [other, await test.echo({ text: paths.cwd === process.cwd() ? 'here' : 'there' })];\n"
			"};\n"
			"export function broken() {\n"
			"\tthrow new RangeError('too far');\n"
			"}\n");
		scene.spec.file = STR("a b#c/s.ts");
		scene_run_spec(&scene);
		assert_member(&scene, "result", 0, "/value", "[\"beside\",\"echo here\"]");
		scene.spec.export_name = STR("broken");
		scene_run_spec(&scene);
		assert_member(&scene, "error", 0, "/error",
			      arena_printf(&scene.arena, "\"RangeError: too far (%s/a b#c/s.ts:7:8)\"",
					   scene.directory.path)
				      .p);
	}
}

/* What is beside a file counts, not what is beside our launcher. */
static void test_a_file_has_its_projects_packages(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		assert_int_equal(mkdir(test_directory_path(&scene.directory, "node_modules"), 0700), 0);
		assert_int_equal(mkdir(test_directory_path(&scene.directory, "node_modules/pack"), 0700), 0);
		write_file(&scene, "package.json", "{\"dependencies\":{\"pack\":\"1.0.0\"}}");
		write_file(&scene, "node_modules/pack/package.json",
			   "{\"name\":\"pack\",\"version\":\"1.0.0\",\"type\":\"module\",\"main\":\"i.js\"}");
		write_file(&scene, "node_modules/pack/i.js", "export const x = 'packed'");
		write_file(&scene, "s.ts", "import { x } from 'pack'; export default () => x");
		scene.spec.file = STR("s.ts");
		scene_run_spec(&scene);
		assert_member(&scene, "result", 0, "/value", "\"packed\"");
	}
}

/* -- surroundings ---------------------------------------------------------------------------------------- */

static void test_stdin_and_environment(void **state)
{
	static const struct str variables[] = { STR_INIT("ADDED=a=b"), STR_INIT("MCPX_RUN=mine") };
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene.spec.stdin_kind = EXEC_STDIN_BYTES;
		scene.spec.stdin_bytes = STR("typed \xe2\x82\xac");
		scene.spec.variables = variables;
		scene.spec.variable_count = 2;
		scene.spec.session = STR("my session");
		scene_run(
			&scene,
			"const fs = await import('node:fs'); const e = process.env;"
			"return [fs.readFileSync(0, 'utf8'), e.ADDED, e.MCPX_RUN!.length, e.MCPX_SESSION, e.HOME === process.cwd()]");
		assert_member(&scene, "result", 0, "/value",
			      "[\"typed \xe2\x82\xac\",\"a=b\",16,\"my session\",true]");

		scene.spec.stdin_kind = EXEC_STDIN_NONE;
		scene_run(&scene, "return (await import('node:fs')).readFileSync(0, 'utf8')");
		assert_member(&scene, "result", 0, "/value", "\"\"");
	}
}

static void test_unchanged_files_are_written_once(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		struct stat before, after;
		const char *path;

		scene_run(&scene, "return process.env.MCPX_CLIENT");
		path = scene_member(&scene, "result", 0, "/value");
		path = arena_cstr(&scene.arena, str_slice(str_of(path), 1, strlen(path) - 2));
		assert_int_equal(stat(path, &before), 0);
		assert_int_equal(before.st_mode & 0777, 0600);
		scene_run(&scene, "return process.env.MCPX_CLIENT");
		assert_int_equal(stat(path, &after), 0);
		assert_true(before.st_ino == after.st_ino);
	}
}

/* -- ends ------------------------------------------------------------------------------------------------ */

static void test_exit_status_is_the_scripts_own(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(
			&scene,
			"console.log('said'); process.stderr.write('\\x1b[31mwhy\\x1b[0m\\n'); process.exit(3)");
		assert_member(&scene, "end", 0, "/exitCode", "3");
		assert_member(&scene, "error", 0, "/error", "\"the script exited with code 3:\\nwhy\"");
		assert_member(&scene, "stdout", 0, "/data", "\"said\\n\"");
		scene_run(
			&scene,
			"process.kill(process.pid, 'SIGKILL'); await new Promise(() => setTimeout(() => {}, 1e6))");
		assert_member(&scene, "end", 0, "/exitCode", "137");
	}
}

static void test_text_that_is_no_script(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		const char *error;

		scene_run(&scene, "const x = ;");
		error = scene_member(&scene, "error", 0, "/error");
		assert_member(&scene, "end", 0, "/exitCode", "1");
		assert_non_null(strstr(error, "Expression expected"));
		assert_non_null(strstr(error, "const x = ;\\n"));
		assert_null(strstr(error, "$mcpx"));
		assert_null(strstr(error, "node:internal"));
	}
}

/* A runtime may need long to come to the call. */
static void let_the_time_be_over(struct scene *scene)
{
	struct timer *timer = &scene->run.process->timer;

	timer_start(timer, scene->loop, 0, timer->done);
}

/* The last call is under way when the time is over: nobody knows how it ends. */
static void test_a_run_that_takes_too_long(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene.spec.limits.timeout_ms = 45000;
		scene.spec.limits.term_ms = 100;
		scene.waits = let_the_time_be_over;
		scene_run(
			&scene,
			"process.on('SIGTERM', () => {}); await test.echo({ text: 'x' }); await test.wait()");
		assert_member(&scene, "end", 0, "/exitCode", "124");
		assert_member(&scene, "end", 0, "/timedOut", "true");
		assert_member(&scene, "error", 0, "/error", "\"timed out after 45s (exec.timeout)\"");
		assert_member(&scene, "call", 1, "/tool", "\"wait\"");
		assert_member(&scene, "call", 1, "/outcome", "\"unknown\"");
		assert_true(scene.run.outcome.timed_out);
		assert_int_equal(scene.run.outcome.calls_unknown, 1);
	}
}

static void stop_the_run(struct scene *scene)
{
	exec_run_stop(&scene->run, NULL);
}

static void test_a_run_that_is_stopped(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene.waits = stop_the_run;
		scene_run(&scene, "await test.wait()");
		assert_member(&scene, "error", 0, "/error", "\"was stopped\"");
		assert_member(&scene, "end", 0, "/exitCode", "143");
		assert_member(&scene, "call", 0, "/outcome", "\"unknown\"");
	}
}

static pid_t watched;

static void cancel_the_run(struct timer *timer)
{
	struct scene *scene = container_of(timer, struct scene, guard);

	if (scene->waiting == 0) {
		timer_start(timer, scene->loop, 1, cancel_the_run);
		return;
	}
	exec_run_cancel(&scene->run);
	exec_run_cancel(&scene->run);
	/* The supervisor is still to be waited for: the loop ends when it is gone. */
	timer_stop(timer);
	http_server_free(&scene->server);
}

static void note_pid(struct scene *scene, const struct exec_frame *frame)
{
	uint64_t pid;

	if (frame->kind == EXEC_FRAME_EMIT && str_to_u64(frame->value, &pid) == 0)
		watched = (pid_t)pid;
	(void)scene;
}

static void unexpected_done(struct exec_run *run)
{
	(void)run;
	fail_msg("a cancelled run called back");
}

static void scene_note_frame(struct exec_run *run, const struct exec_frame *frame)
{
	note_pid(run->owner, frame);
}

static void test_a_cancelled_run_is_gone(void **state)
{
	static const struct exec_events events = { .frame = scene_note_frame, .done = unexpected_done };
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		watched = 0;
		scene.spec.source = STR("emit(process.pid); await test.wait()");
		exec_run_start(&scene.run, scene.loop, &scene.spec, &events, &scene);
		timer_start(&scene.guard, scene.loop, 1, cancel_the_run);
		loop_run(scene.loop);
		assert_true(watched > 0);
		assert_int_equal(kill(watched, 0), -1);

		/* Before anything has begun. */
		exec_run_start(&scene.run, scene.loop, &scene.spec, &events, &scene);
		exec_run_cancel(&scene.run);
		loop_run(scene.loop);
	}
}

/* -- bounds ---------------------------------------------------------------------------------------------- */

static void test_the_budget_leaves_room_for_the_result(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		unsigned warnings = 0;

		scene.spec.limits.output_max = 4000;
		scene_run(
			&scene,
			"for (let i = 0; i < 10; i++) emit('x'.repeat(498)); console.log('y'.repeat(500)); return 'z'.repeat(900)");
		assert_int_equal(scene_count(&scene, "emit"), 6);
		assert_int_equal(scene_count(&scene, "stdout"), 0);
		assert_int_equal(strlen(scene_member(&scene, "result", 0, "/value")), 902);
		assert_member(&scene, "end", 0, "/dropped/frames", "4");
		assert_member(&scene, "end", 0, "/dropped/bytes", "2501");
		for (unsigned i = 0; i < scene_count(&scene, "log"); i++)
			warnings += strstr(scene_member(&scene, "log", i, "/msg"), "exec.outputMax") != NULL;
		assert_int_equal(warnings, 1);

		/* What is short costs something, too. */
		scene_run(&scene, "for (let i = 0; i < 100; i++) emit(1)");
		assert_int_equal(scene_count(&scene, "emit"), 47);
		assert_member(&scene, "end", 0, "/dropped", "{\"bytes\":53,\"frames\":53}");

		scene_run(&scene, "console.log('y'.repeat(5000))");
		assert_int_equal(strlen(scene_member(&scene, "stdout", 0, "/data")), 3002);
		assert_member(&scene, "end", 0, "/dropped", "{\"bytes\":2001,\"frames\":0}");

		scene_run(&scene, "return 'z'.repeat(4000)");
		assert_member(&scene, "end", 0, "/exitCode", "1");
		assert_non_null(strstr(scene_member(&scene, "error", 0, "/error"),
				       "the script's value has 4002 bytes, more than the run's limit of "));
	}
}

static void test_a_record_over_the_maximum(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene.spec.limits.frame_max = 10000;
		scene_run(&scene, "emit('x'.repeat(20000)); emit('y'); return 1");
		assert_int_equal(scene_count(&scene, "emit"), 1);
		assert_non_null(strstr(scene_member(&scene, "log", 0, "/msg"), "exec.frameMax"));
		assert_member(&scene, "end", 0, "/dropped/frames", "1");
		assert_member(&scene, "result", 0, "/value", "1");
	}
}

static void assert_lost(struct scene *scene, const char *source, const char *text)
{
	scene_run(scene, source);
	assert_int_equal(scene_count(scene, "result"), 0);
	assert_member(scene, "end", 0, "/exitCode", "1");
	assert_member(scene, "error", 0, "/error", text);
	assert_true(scene->run.outcome.failed);
}

/* What says how a script ended must not vanish: a run without it would look like one that gave nothing. */
static void test_a_lost_result_fails_the_run(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene.spec.limits.frame_max = 10000;
		scene.spec.limits.depth_max = 8;
		for (unsigned bounded = 0; bounded < 2; bounded++) {
			/* As the command line runs what it shows at once. */
			if (!bounded)
				scene.spec.limits.output_max = 0;
			assert_lost(
				&scene, "return 'x'.repeat(20000)",
				"\"the script's value has 20028 bytes, more than the limit of 10KB for one value "
				"(exec.frameMax): keep it with artifact() and return that, or raise the limit\"");
			assert_member(&scene, "end", 0, "/dropped", "{\"bytes\":20028,\"frames\":1}");
			scene.spec.limits.output_max = 1 << 20;
		}
		assert_lost(
			&scene, "return [[[[[[[[[1]]]]]]]]]",
			"\"the script's value has more than 8 levels of nested arrays and objects (json.maxDepth): "
			"keep it with artifact() and return that, or raise the limit\"");
		scene_run(&scene, "throw new Error('x'.repeat(20000))");
		assert_member(&scene, "end", 0, "/exitCode", "1");
		assert_non_null(
			strstr(scene_member(&scene, "error", 0, "/error"), "what the script threw has "));
		assert_non_null(strstr(scene_member(&scene, "error", 0, "/error"),
				       "(exec.frameMax): raise the limit to see it"));
		assert_lost(
			&scene,
			"process.stderr.write(`\\x1emcpx\\x1e{\"value\":\"${'x'.repeat(20000)}\"}\\n`)",
			"\"a record that may have been the script's value has 20012 bytes, more than the limit of 10KB "
			"for one value (exec.frameMax): keep it with artifact() and return that, or raise the limit\"");
	}
}

/* Of many only the first are told. */
static void test_dropped_records_are_told(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene.spec.limits.frame_max = 10000;
		scene_run(
			&scene,
			"log('x'.repeat(20000)); for (let i = 0; i < 14; i++) emit('x'.repeat(20000)); return 1");
		assert_int_equal(scene_count(&scene, "emit"), 0);
		assert_int_equal(scene_count(&scene, "log"), 10);
		assert_non_null(strstr(scene_member(&scene, "log", 0, "/msg"), "a log record has 20"));
		assert_member(&scene, "log", 1, "/msg",
			      "\"an emitted value has 20026 bytes, more than the limit of 10KB for one value "
			      "(exec.frameMax) and was dropped\"");
		assert_member(&scene, "log", 9, "/msg",
			      "\"an emitted value has 20026 bytes, more than the limit of 10KB for one value "
			      "(exec.frameMax) and was dropped; further ones are only counted\"");
		assert_member(&scene, "end", 0, "/dropped/frames", "15");
		assert_member(&scene, "end", 0, "/exitCode", "0");
		assert_member(&scene, "result", 0, "/value", "1");

		/* An error is cut and not lost. */
		scene.spec.limits.frame_max = 1 << 20;
		scene_run(&scene, "throw new Error('x'.repeat(200000))");
		assert_int_equal(strlen(scene_member(&scene, "error", 0, "/errorDetail/message")), 32768 + 5);
		assert_non_null(strstr(scene_member(&scene, "error", 0, "/error"), "Error: xxx"));
		assert_member(&scene, "end", 0, "/dropped", NULL);
	}
}

static void test_a_record_over_the_depth(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene.spec.limits.depth_max = 8;
		scene_run(&scene, "emit([[[[[[[[[1]]]]]]]]]); emit('y'); return 1");
		assert_int_equal(scene_count(&scene, "emit"), 1);
		assert_non_null(strstr(scene_member(&scene, "log", 0, "/msg"),
				       "more than 8 levels of nested arrays and objects (json.maxDepth)"));
		assert_member(&scene, "end", 0, "/dropped/frames", "1");
		assert_member(&scene, "result", 0, "/value", "1");
	}
}

/* -- stderr ---------------------------------------------------------------------------------------------- */

static void test_words_before_the_script_begins(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		/* What a runtime says of a script that it cannot read is told once, in the error. */
		scene_run(&scene, "const x = = 3");
		assert_int_equal(scene.errors.n, 0);
		assert_non_null(strstr(scene_member(&scene, "error", 0, "/error"), "const x = = 3"));
		assert_null(strstr(scene_member(&scene, "error", 0, "/error"), "$mcpx"));
		assert_null(strstr(scene_member(&scene, "error", 0, "/error"), "Stack backtrace"));

		/* What the script says is shown, also when something that it imports says it first, and
		 * whatever becomes of it. */
#define SAYS(count) "import \"data:text/javascript,process.stderr.write('x'.repeat(" #count "))\"; "
		scene_run(&scene, SAYS(10) "process.stderr.write('y')");
		assert_true(str_eq(buf_str(&scene.errors), STR("xxxxxxxxxxy")));
		scene_run(&scene, SAYS(5000) "process.stderr.write('y')");
		assert_int_equal(scene.errors.n, 5001);
		scene_run(&scene, "process.stderr.write('y'); process.exit(3)");
		assert_true(str_eq(buf_str(&scene.errors), STR("y")));
	}
}

static void test_a_runtime_that_likes_colours(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		static const struct str colours[] = { STR_INIT("FORCE_COLOR=1"), STR_INIT("NO_COLOR=") };
		const char *text;

		scene.spec.variables = colours;
		scene.spec.variable_count = ARRAY_LEN(colours);
		scene_run(&scene, "await import('./nothing.ts')");
		text = scene_member(&scene, "error", 0, "");
		assert_null(strstr(text, "\\u001b"));
		assert_null(strstr(text, "snippet-"));
		assert_non_null(strstr(text, "nothing.ts"));
		scene_run(&scene, "throw new Error('\\x1b[31mred\\x1b[0m')");
		assert_member(&scene, "error", 0, "/error", "\"Error: red (snippet:1:7)\"");
	}
}

/* -- runs that do not start ------------------------------------------------------------------------------ */

static void assert_refused(struct scene *scene, int code, const char *message)
{
	assert_false(scene->run.outcome.started);
	assert_int_equal(scene->frames.n, 0);
	assert_int_equal(scene->run.err.code, code);
	if (!strstr(scene->run.err.message, message))
		fail_msg("\"%s\" should contain \"%s\"", scene->run.err.message, message);
}

static void test_runs_that_cannot_start(void **state)
{
	static const struct str order[] = { STR_INIT("ruby") };
	static const char *const no_path[] = { "PATH=/nonexistent:relative", NULL };
	struct scene scene;

	(void)state;
	if (!scene_init(&scene, "deno"))
		skip();
	scene.spec.source = STR("return 1");
	scene.spec.runtime = STR("bun");
	scene_run_spec(&scene);
	assert_refused(&scene, ERR_INVALID,
		       "there is no runtime \"bun\": it may be auto, deno, node, or a path");
	scene.spec.runtime = STR("/proc/nonexistent/deno");
	scene_run_spec(&scene);
	assert_refused(&scene, ERR_NOT_FOUND, "/proc/nonexistent/deno is no program that can be run");
	scene.spec.env = no_path;
	scene.spec.runtime = STR("node");
	scene_run_spec(&scene);
	assert_refused(&scene, ERR_NOT_FOUND, "node is not in PATH");
	scene.spec.runtime = STR("auto");
	scene_run_spec(&scene);
	assert_refused(&scene, ERR_NOT_FOUND, "neither deno nor node is in PATH");
	scene.spec.order = order;
	scene.spec.order_count = 1;
	scene_run_spec(&scene);
	assert_refused(&scene, ERR_INVALID, "script.runtimeOrder names \"ruby\"");
	scene_release(&scene);

	if (!scene_init(&scene, "deno"))
		skip();
	scene.spec.source = STR("return 1");
	scene.spec.export_name = STR("main");
	scene_run_spec(&scene);
	assert_refused(&scene, ERR_INVALID, "export is \"main\", and the source exports nothing");
	scene.spec.file = STR("none.ts");
	scene_run_spec(&scene);
	assert_refused(&scene, ERR_NOT_FOUND, "none.ts: the script cannot be read");
	scene.spec.file = STR("exec");
	scene_run_spec(&scene);
	assert_refused(&scene, ERR_INVALID, "exec: a script is a file, and this is none");
	scene.spec.cwd = STR("/proc/nonexistent");
	scene_run_spec(&scene);
	assert_refused(&scene, ERR_NOT_FOUND, "/proc/nonexistent: the script cannot run there");
	scene.spec.supervisor = "/proc/nonexistent/supervisor";
	scene.spec.cwd = str_of(scene.directory.path);
	scene.spec.file = str_make(NULL, 0);
	scene.spec.export_name = str_make(NULL, 0);
	scene_run_spec(&scene);
	assert_refused(&scene, ERR_NOT_FOUND, "/proc/nonexistent/supervisor");
	scene_release(&scene);
}

/* A node that tells an old version is passed over; one that tells none too. */
static void test_a_node_that_is_too_old(void **state)
{
	static const struct str order[] = { STR_INIT("node"), STR_INIT("deno") };
	const char *env[2];
	struct scene scene;

	(void)state;
	if (!scene_init(&scene, "deno"))
		skip();
	write_file(&scene, "node",
		   arena_printf(&scene.arena, "#!/bin/sh\necho asked >>%s/asked\necho v20.1.0\n",
				scene.directory.path)
			   .p);
	assert_int_equal(chmod(test_directory_path(&scene.directory, "node"), 0700), 0);
	env[0] = arena_printf(&scene.arena, "PATH=%s:/usr/bin:/bin", scene.directory.path).p;
	env[1] = NULL;
	scene.spec.env = env;
	scene.spec.source = STR("return 1");
	scene.spec.runtime = STR("node");
	scene_run_spec(&scene);
	assert_refused(&scene, ERR_UNSUPPORTED,
		       "cannot run TypeScript: that takes node 22.6 or newer, or deno");
	scene_run_spec(&scene);
	assert_refused(&scene, ERR_UNSUPPORTED, "cannot run TypeScript");
	{
		struct str asked;

		assert_int_equal(file_read(test_directory_path(&scene.directory, "asked"), 100, &asked, NULL),
				 0);
		assert_int_equal(asked.n, strlen("asked\n"));
		free((char *)asked.p);
	}
	/* auto goes on to the next that is there. */
	assert_int_equal(symlink(scene.deno, test_directory_path(&scene.directory, "deno")), 0);
	scene.spec.runtime = STR("auto");
	scene.spec.order = order;
	scene.spec.order_count = 2;
	scene_run_spec(&scene);
	assert_member(&scene, "start", 0, "/runtime", "\"deno\"");
	assert_member(&scene, "result", 0, "/value", "1");
	scene_release(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_value_of_a_snippet),
		cmocka_unit_test(test_nothing_is_no_result),
		cmocka_unit_test(test_results_are_unwrapped),
		cmocka_unit_test(test_only_what_is_offered_can_be_reached),
		cmocka_unit_test(test_the_same_arguments_have_the_same_hash),
		cmocka_unit_test(test_many_calls_at_once),
		cmocka_unit_test(test_a_failed_call_throws),
		cmocka_unit_test(test_arguments_that_are_no_object),
		cmocka_unit_test(test_a_tool_that_does_not_exist),
		cmocka_unit_test(test_emits_and_logs),
		cmocka_unit_test(test_streams_are_taken_apart_right),
		cmocka_unit_test(test_artifacts),
		cmocka_unit_test(test_looking_tools_up),
		cmocka_unit_test(test_a_module_is_called_with_its_arguments),
		cmocka_unit_test(test_a_file_runs_from_its_own_place),
		cmocka_unit_test(test_a_file_has_its_projects_packages),
		cmocka_unit_test(test_stdin_and_environment),
		cmocka_unit_test(test_unchanged_files_are_written_once),
		cmocka_unit_test(test_exit_status_is_the_scripts_own),
		cmocka_unit_test(test_text_that_is_no_script),
		cmocka_unit_test(test_a_run_that_takes_too_long),
		cmocka_unit_test(test_a_run_that_is_stopped),
		cmocka_unit_test(test_a_cancelled_run_is_gone),
		cmocka_unit_test(test_the_budget_leaves_room_for_the_result),
		cmocka_unit_test(test_a_record_over_the_maximum),
		cmocka_unit_test(test_a_lost_result_fails_the_run),
		cmocka_unit_test(test_dropped_records_are_told),
		cmocka_unit_test(test_a_record_over_the_depth),
		cmocka_unit_test(test_words_before_the_script_begins),
		cmocka_unit_test(test_a_runtime_that_likes_colours),
		cmocka_unit_test(test_runs_that_cannot_start),
		cmocka_unit_test(test_a_node_that_is_too_old),
	};

	return cmocka_run_group_tests_name("exec-run", tests, NULL, NULL);
}

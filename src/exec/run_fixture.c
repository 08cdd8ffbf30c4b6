#include "base/base.h"
#include "exec/run_fixture.h"
#include "exec/client.h"
#include "exec/frame.h"

#include <stdio.h>

enum {
	GUARD_MS =
		60000, /* no run of a test takes so long, under sanitizers and beside other builds either */
	MEBIBYTE = 1 << 20, /* for limits that no test comes near by accident */
	PATH_SIZE = 4096,
};

/* -- the daemon ------------------------------------------------------------------------------------------ */

static void answer(struct http_request *request, unsigned status, const char *body)
{
	const struct http_answer head = { .status = status, .content_type = STR("application/json") };

	http_respond(request, &head, str_of(body));
}

static void call_body(struct http_request *request, struct str body)
{
	struct scene *scene = request->owner;
	_cleanup_json_ struct json_doc doc = { 0 };
	struct str tool;

	scene->calls++;
	assert_int_equal(json_parse(&doc, body, NULL, NULL), 0);
	tool = json_str(json_get(json_root(&doc), STR("tool")));
	if (str_eq(tool, STR("wait"))) {
		scene->waiting++;
		if (scene->waits)
			scene->waits(scene);
	} else if (str_eq(tool, STR("fail"))) {
		answer(request, 200,
		       "{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"no such thing\"}],\"isError\":true}}");
	} else if (str_eq(tool, STR("gone"))) {
		answer(request, 502, "{\"error\":\"the server died\",\"outcome\":\"unknown\"}");
	} else if (str_eq(tool, STR("image"))) {
		answer(request, 200,
		       "{\"result\":{\"content\":[{\"type\":\"image\",\"data\":\"AAEC\",\"mimeType\":\"image/png\"}]}}");
	} else if (str_eq(tool, STR("object"))) {
		answer(request, 200,
		       "{\"result\":{\"content\":[],\"structuredContent\":{\"n\":1,\"raw\":\"mine\"}}}");
	} else if (str_eq(tool, STR("list"))) {
		answer(request, 200, "{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\" [1, 2]\"}]}}");
	} else {
		answer(request, 200,
		       arena_printf(&request->arena,
				    "{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"echo %.*s\"}]}}",
				    STR_ARG(json_str(json_pointer(json_root(&doc), STR("/args/text")))))
			       .p);
	}
}

static void artifact_body(struct http_request *request, struct str body)
{
	struct str path = http_field(request, STR("x-mcpx-path"));

	answer(request, 201,
	       arena_printf(
		       &request->arena,
		       "{\"id\":\"art-1\",\"name\":\"%.*s\",\"mime\":\"%.*s\",\"size\":%zu,\"path\":\"%.*s\"}",
		       STR_ARG(http_query(request, STR("name"))), STR_ARG(http_query(request, STR("mime"))),
		       body.n, STR_ARG(path))
		       .p);
}

static void daemon_request(void *context, struct http_request *request)
{
	request->owner = context;
	if (str_eq(request->path, STR("/v1/call")))
		http_read_body(request, MEBIBYTE, call_body);
	else if (str_eq(request->path, STR("/v1/artifacts")))
		http_read_body(request, MEBIBYTE, artifact_body);
	else
		answer(request, 404, "{\"error\":\"no such route\"}");
}

static void start_daemon(struct scene *scene)
{
	static const struct http_limits limits = {
		.header_bytes = 32 * 1024,
		.header_fields = 100,
		.target_bytes = 8192,
		.connections = 100,
		.header_ms = GUARD_MS,
		.body_ms = GUARD_MS,
		.idle_ms = GUARD_MS,
		.write_ms = GUARD_MS,
		.linger_ms = 1000,
		.unsent_bytes = MEBIBYTE,
		.accept_retry_ms = 10,
	};
	const struct http_handler handler = { .request = daemon_request, .context = scene };
	const char *path = test_directory_path(&scene->directory, "daemon.sock");
	struct err err;
	int fd;

	assert_int_equal(http_server_new(&scene->server, scene->loop, &limits, &handler, &err), 0);
	assert_int_equal(http_listen_unix(path, &fd, &err), 0);
	assert_int_equal(http_server_listen(scene->server, fd, true, &err), 0);
	scene->spec.socket = arena_copy(&scene->arena, str_of(path));
}

/* -- the catalogue --------------------------------------------------------------------------------------- */

static void write_client(struct scene *scene)
{
	static const struct str tools[] = {
		STR_INIT(
			"{\"name\":\"echo\",\"description\":\"Gives the text back\",\"inputSchema\":{\"type\":\"object\","
			"\"properties\":{\"text\":{\"type\":\"string\"}}},\"annotations\":{\"destructiveHint\":false}}"),
		STR_INIT("{\"name\":\"fail\",\"annotations\":{\"destructiveHint\":true}}"),
		STR_INIT("{\"name\":\"wait\"}"),
		STR_INIT("{\"name\":\"gone\"}"),
		STR_INIT("{\"name\":\"image\"}"),
		STR_INIT("{\"name\":\"object\"}"),
		STR_INIT("{\"name\":\"list\"}"),
		STR_INIT("{\"name\":\"odd-name\"}"),
		STR_INIT("{\"name\":\"constructor\"}"),
		STR_INIT("{\"name\":\"__proto__\"}"),
	};
	struct catalogue_snapshot *snapshot =
		catalogue_build(STR("test"), tools, ARRAY_LEN(tools), str_make(NULL, 0), 0, 1);
	const struct catalogue_snapshot *snapshots[] = { snapshot };
	const struct str servers[] = { STR_INIT("test-server") };
	const struct exec_catalogue catalogue = { .snapshots = snapshots, .count = 1, .servers = servers };

	buf_init(&scene->client, MEBIBYTE);
	exec_client_write(&scene->client, &catalogue, str_make(NULL, 0), true);
	assert_false(buf_failed(&scene->client));
	catalogue_unref(&snapshot);
}

/* -- the scene ------------------------------------------------------------------------------------------- */

static void scene_frame(struct exec_run *run, const struct exec_frame *frame)
{
	struct scene *scene = run->owner;
	struct json_writer w;

	assert_int_equal(scene->done, 0);
	if (frame->kind == EXEC_FRAME_STDERR) {
		buf_append(&scene->errors, frame->text);
	} else {
		json_writer_init(&w, &scene->frames, false);
		exec_frame_write(&w, frame, frame->value);
		buf_append_char(&scene->frames, '\n');
	}
	if (scene->on_frame)
		scene->on_frame(scene, frame);
}

static void scene_done(struct exec_run *run)
{
	struct scene *scene = run->owner;

	scene->done++;
	loop_stop(scene->loop);
}

static const struct exec_events scene_events = { .frame = scene_frame, .done = scene_done };

static void guard_passed(struct timer *timer)
{
	struct scene *scene = container_of(timer, struct scene, guard);

	fail_msg("the run did not end; so far:\n%.*s%.*s", STR_ARG(buf_str(&scene->frames)),
		 STR_ARG(buf_str(&scene->errors)));
}

/* A runtime that ./run has installed, or the user's. */
static const char *find_runtime(struct scene *scene, const char *name)
{
	struct exec_candidate found[EXEC_CANDIDATES_MAX];
	const char *pinned =
		arena_printf(&scene->arena, "%s/node_modules/.bin/%s", getenv("MESON_SOURCE_ROOT"), name).p;
	size_t count;

	if (access(pinned, X_OK) == 0)
		return pinned;
	return exec_runtime_find(str_of(name), NULL, 0, str_of(getenv("PATH")), STR("/nonexistent"),
				 &scene->arena, found, &count, NULL) == 0
		       ? found[0].path.p
		       : NULL;
}

bool scene_init(struct scene *scene, const char *runtime)
{
	static const struct exec_limits limits = { .timeout_ms = GUARD_MS,
						   .term_ms = GUARD_MS,
						   .kill_ms = GUARD_MS,
						   .probe_ms = GUARD_MS,
						   .keep_ms = 0,
						   .keep_files = 100,
						   .output_max = MEBIBYTE,
						   .frame_max = MEBIBYTE,
						   .stderr_keep = 4096 };
	static const char *env[4];
	static char home[PATH_SIZE + sizeof("HOME=")], path[2 * PATH_SIZE];
	const char *found;
	struct err err;

	*scene = (struct scene){ .done = 0 };
	arena_init(&scene->arena, 0);
	found = find_runtime(scene, runtime);
	if (!found) {
		arena_release(&scene->arena);
		return false;
	}
	scene->deno = found;
	test_directory_make(&scene->directory);
	assert_int_equal(loop_new(&scene->loop, &err), 0);
	snprintf(home, sizeof(home), "HOME=%s", scene->directory.path);
	snprintf(path, sizeof(path), "PATH=%s", getenv("PATH"));
	env[0] = path;
	env[1] = home;
	env[2] = "NO_COLOR=1";
	scene->spec = (struct exec_spec){
		.supervisor = getenv("MCPX_SUPERVISOR"),
		.directory =
			arena_copy(&scene->arena, str_of(test_directory_path(&scene->directory, "exec"))),
		.runtime = str_of(found),
		.stdin_kind = EXEC_STDIN_NONE,
		.cwd = arena_copy(&scene->arena, str_of(scene->directory.path)),
		.env = env,
		.capture_console = true,
		.limits = limits,
	};
	start_daemon(scene);
	write_client(scene);
	scene->spec.client = buf_str(&scene->client);
	buf_init(&scene->frames, 16 * MEBIBYTE);
	buf_init(&scene->errors, MEBIBYTE);
	return true;
}

void scene_release(struct scene *scene)
{
	http_server_free(&scene->server);
	loop_free(&scene->loop);
	buf_release(&scene->client);
	buf_release(&scene->frames);
	buf_release(&scene->errors);
	arena_release(&scene->arena);
	test_directory_remove(&scene->directory);
}

void scene_run_spec(struct scene *scene)
{
	buf_clear(&scene->frames, 0);
	buf_clear(&scene->errors, 0);
	scene->done = 0;
	timer_start(&scene->guard, scene->loop, GUARD_MS, guard_passed);
	exec_run_start(&scene->run, scene->loop, &scene->spec, &scene_events, scene);
	assert_int_equal(scene->done, 0);
	loop_run(scene->loop);
	timer_stop(&scene->guard);
	assert_int_equal(scene->done, 1);
}

void scene_run(struct scene *scene, const char *source)
{
	scene->spec.source = str_of(source);
	scene_run_spec(scene);
}

/* -- looking at it --------------------------------------------------------------------------------------- */

static bool find_frame(const struct scene *scene, const char *type, unsigned n, struct json_doc *ret_doc)
{
	struct str rest = buf_str(&scene->frames), line;

	while (str_split(&rest, '\n', &line)) {
		if (!line.n)
			continue;
		assert_int_equal(json_parse(ret_doc, line, NULL, NULL), 0);
		if (str_eq(json_str(json_get(json_root(ret_doc), STR("type"))), str_of(type)) && n-- == 0)
			return true;
		json_release(ret_doc);
	}
	return false;
}

const char *scene_member(struct scene *scene, const char *type, unsigned n, const char *pointer)
{
	_cleanup_buf_ struct buf text = { .max = MEBIBYTE };
	struct json_doc doc = { 0 };
	const struct json *value;
	struct json_writer w;
	const char *result = NULL;

	if (!find_frame(scene, type, n, &doc))
		return NULL;
	value = json_pointer(json_root(&doc), str_of(pointer));
	if (value) {
		json_writer_init(&w, &text, false);
		json_write_value(&w, value);
		result = arena_cstr(&scene->arena, buf_str(&text));
	}
	json_release(&doc);
	return result;
}

unsigned scene_count(struct scene *scene, const char *type)
{
	unsigned count = 0;

	while (scene_member(scene, type, count, ""))
		count++;
	return count;
}

void assert_text(const char *text, const char *expected, const struct scene *scene, const char *file,
		 int line)
{
	if (!text ? expected != NULL : !expected || strcmp(text, expected) != 0) {
		print_error("%s:%d: %s\nshould be %s\nThe run: %s\n%.*s%.*s\n", file, line,
			    text ? text : "nothing", expected ? expected : "nothing", scene->run.err.message,
			    STR_ARG(buf_str(&scene->frames)), STR_ARG(buf_str(&scene->errors)));
		fail();
	}
}

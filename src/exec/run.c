/*
 * The sequence of a run: prepare on the worker pool, ask node for its version where that is not known, run
 * the script, end. The child's callbacks are the steps.
 */
#include "base/base.h"
#include "exec/run_private.h"
#include "io/random.h"
#include "settings/environment.h"

enum {
	PROBE_LINE_MAX = 256, /* bytes of what `node --version` prints */
};

static void exec_launch(struct exec_process *process);

/* -- life ------------------------------------------------------------------------------------------------ */

static void process_release(struct exec_process *process)
{
	timer_stop(&process->timer);
	exec_prepare_cancel(process);
	child_release(&process->child);
	exec_calls_release(process);
	exec_story_release(process);
	buf_release(&process->version);
	arena_release(&process->arena);
	loop_free_later(process->loop, process);
}

/* The last callback; the process's own memory outlives it, since one of its child's callbacks may be on the
 * stack. */
static void exec_finish(struct exec_process *process)
{
	struct exec_run *run = process->run;

	run->process = NULL;
	process_release(process);
	run->events->done(run);
}

/* The script did nothing. */
static void exec_refuse(struct exec_process *process, const struct err *err)
{
	process->run->err = *err;
	exec_finish(process);
}

/* -- node's version -------------------------------------------------------------------------------------- */

static void probe_output(struct child *child, struct str bytes, bool too_long)
{
	struct exec_process *process = container_of(child, struct exec_process, child);

	(void)too_long;
	(void)buf_append(&process->version, str_slice(bytes, 0, process->version.max - process->version.n));
}

static void probe_exited(struct child *child, const struct child_status *status)
{
	struct exec_process *process = container_of(child, struct exec_process, child);
	struct exec_candidate *candidate = &process->prepared.candidates[process->candidate];

	(void)status;
	timer_stop(&process->timer);
	candidate->version = exec_runtime_parse_version(buf_str(&process->version));
	/* A small file, once for each new version of node. */
	if (candidate->version)
		exec_runtime_remember(process->spec.directory, candidate, &process->arena);
	if (!exec_runtime_will_do(candidate))
		process->candidate++;
	exec_launch(process);
}

static void probe_timed_out(struct timer *timer)
{
	child_kill(&container_of(timer, struct exec_process, timer)->child);
}

static void exec_probe(struct exec_process *process)
{
	static const struct child_events events = { .output = probe_output, .exited = probe_exited };
	const struct exec_limits *limits = &process->spec.limits;
	const char *const argv[] = { process->prepared.candidates[process->candidate].path.p, "--version",
				     NULL };
	const struct child_spec spec = {
		.supervisor = process->spec.supervisor,
		.argv = argv,
		.env = process->spec.env,
		.stdin_fd = CHILD_STDIN_NULL,
		.raw_stdout = true,
		.term_ms = limits->term_ms,
		.kill_ms = limits->kill_ms,
	};
	struct err err;

	process->state = EXEC_PROBING;
	buf_clear(&process->version, 0);
	if (child_start(&process->child, process->loop, &spec, &events, &err) < 0)
		exec_refuse(process, &err);
	else
		timer_start(&process->timer, process->loop, limits->probe_ms, probe_timed_out);
}

/* -- the script ------------------------------------------------------------------------------------------ */

static void script_output(struct child *child, struct str bytes, bool too_long)
{
	(void)too_long;
	exec_story_stdout(container_of(child, struct exec_process, child), bytes);
}

static void script_error_output(struct child *child, struct str bytes)
{
	exec_story_stderr(container_of(child, struct exec_process, child), bytes);
}

static void script_exited(struct child *child, const struct child_status *status)
{
	struct exec_process *process = container_of(child, struct exec_process, child);
	struct exec_outcome *outcome = &process->run->outcome;

	outcome->duration_ms = loop_now(process->loop) - process->started;
	timer_stop(&process->timer);
	exec_story_end(process, status);
	exec_finish(process);
}

static void script_timed_out(struct timer *timer)
{
	struct exec_process *process = container_of(timer, struct exec_process, timer);

	process->run->outcome.timed_out = true;
	child_stop(&process->child);
}

static const struct child_events script_events = {
	.output = script_output,
	.error_output = script_error_output,
	.exited = script_exited,
};

/* What the script sees of its run. The client reads these, so both sides of each name are in this tree. */
static const char *const *script_environment(struct exec_process *process)
{
	const struct exec_prepared *prepared = &process->prepared;
	const struct exec_spec *spec = &process->spec;
	struct arena *arena = &process->arena;
	const struct variable ours[] = {
		{ STR("MCPX_CHANNEL"), STR("1") },
		{ STR("MCPX_SOCKET"), spec->socket },
		{ STR("MCPX_RUN"), str_of(process->run->id) },
		{ STR("MCPX_SESSION"), process->run->session },
		{ STR("MCPX_SESSION_ID"), process->run->session },
		/* Ours is none of the caller's. */
		{ STR("MCPX_PARENT_SESSION_ID"), spec->parent_session },
		{ STR("MCPX_CWD"), spec->cwd },
		{ STR("MCPX_PID"), spec->pid },
		{ STR("MCPX_RUNTIME"), exec_runtime_name(process->run->runtime) },
		{ STR("MCPX_CLIENT"), prepared->client },
		{ STR("MCPX_CONFIG_PATH"), spec->config_path },
		{ STR("MCPX_SCRIPT_DIRS"), spec->script_directories },
		{ STR("MCPX_ENTRY"), prepared->names.path },
		{ STR("MCPX_ENTRY_NAME"), prepared->names.shown },
		{ STR("MCPX_ENTRY_OFFSET"), arena_printf(arena, "%zu", prepared->offset) },
		{ STR("MCPX_EXPORT"), spec->export_name },
		{ STR("MCPX_CAPTURE_CONSOLE"), spec->capture_console ? STR("1") : STR("0") },
		/* A unix socket that is no copy of another machine's: we are on the daemon's. */
		{ STR("MCPX_ARTIFACTS_LOCAL"), STR("1") },
		{ STR("MCPX_ARTIFACTS_DIR"), spec->artifacts },
		{ STR("DENO_NO_UPDATE_CHECK"), STR("1") },
	};
	const struct environment inherited = { spec->env };
	struct variable *all =
		arena_array(arena, struct variable, spec->variable_count + ARRAY_LEN(ours) + 1);
	size_t n = 0;

	/* The script writes to us and never to a terminal. First, so that who sets it differently is
	 * heard. */
	if (!environment_get(&inherited, STR("NO_COLOR")).p &&
	    !environment_get(&inherited, STR("FORCE_COLOR")).p)
		all[n++] = (struct variable){ STR("NO_COLOR"), STR("1") };
	for (size_t i = 0; i < spec->variable_count; i++) {
		size_t equals = str_find_char(spec->variables[i], '=');

		all[n++] = (struct variable){ str_slice(spec->variables[i], 0, equals),
					      equals == STR_NONE ? STR("")
								 : str_from(spec->variables[i], equals + 1) };
	}
	memcpy(all + n, ours, sizeof(ours));
	return environment_with(&inherited, all, n + ARRAY_LEN(ours), arena);
}

/* deno takes the launcher before the module that it is to run, so that the project around that module counts;
 * node is given the launcher to run. */
static const char *const *script_command(struct exec_process *process)
{
	static const char *const deno_snippet[] = { "run",	 "--quiet",	"--no-check", "--no-config",
						    "--no-lock", "--no-prompt", "--allow-all" };
	static const char *const deno_module[] = { "run",	  "--quiet",	 "--no-check",
						   "--no-prompt", "--allow-all", "--preload" };
	static const char *const node[] = { "--no-warnings", "--experimental-strip-types" };
	const struct exec_prepared *prepared = &process->prepared;
	const struct exec_spec *spec = &process->spec;
	bool module = prepared->launcher.n > 0, deno = process->run->runtime == EXEC_DENO;
	const char *const *flags = !deno ? node : module ? deno_module : deno_snippet;
	size_t flag_count = !deno    ? ARRAY_LEN(node)
			    : module ? ARRAY_LEN(deno_module)
				     : ARRAY_LEN(deno_snippet);
	const char **argv = arena_array(&process->arena, const char *, flag_count + spec->argument_count + 4);
	size_t n = 0;

	argv[n++] = prepared->candidates[process->candidate].path.p;
	for (size_t i = 0; i < flag_count; i++)
		argv[n++] = flags[i];
	if (module)
		argv[n++] = prepared->launcher.p;
	if (deno || !module)
		argv[n++] = prepared->names.path.p;
	for (size_t i = 0; i < spec->argument_count; i++)
		argv[n++] = spec->arguments[i].p;
	return argv;
}

static void exec_feed_stdin(struct exec_process *process)
{
	if (process->spec.stdin_kind != EXEC_STDIN_BYTES)
		return;
	/* Room for all of it was asked for; a script that has ended already reads nothing. */
	if (process->spec.stdin_bytes.n)
		(void)child_write(&process->child, process->spec.stdin_bytes);
	child_close_stdin(&process->child);
}

static void exec_start_script(struct exec_process *process)
{
	const struct exec_spec *spec = &process->spec;
	const struct exec_limits *limits = &spec->limits;
	struct child_spec child = {
		.supervisor = spec->supervisor,
		.cwd = spec->cwd.p,
		.stdin_fd = spec->stdin_kind == EXEC_STDIN_FD	   ? spec->stdin_fd
			    : spec->stdin_kind == EXEC_STDIN_BYTES ? CHILD_STDIN_PIPE
								   : CHILD_STDIN_NULL,
		.raw_stdout = true,
		.input_max = spec->stdin_bytes.n + 1,
		.term_ms = limits->term_ms,
		.kill_ms = limits->kill_ms,
	};
	struct err err;

	process->state = EXEC_RUNNING;
	process->run->runtime = process->prepared.candidates[process->candidate].kind;
	child.env = script_environment(process);
	child.argv = script_command(process);
	process->started = loop_now(process->loop);
	if (child_start(&process->child, process->loop, &child, &script_events, &err) < 0) {
		exec_refuse(process, &err);
		return;
	}
	process->run->outcome.started = true;
	if (limits->timeout_ms)
		timer_start(&process->timer, process->loop, limits->timeout_ms, script_timed_out);
	exec_feed_stdin(process);
	exec_story_begin(process);
}

/* -- the steps ------------------------------------------------------------------------------------------- */

static void exec_launch(struct exec_process *process)
{
	const struct exec_prepared *prepared = &process->prepared;
	const struct exec_candidate *candidate = &prepared->candidates[process->candidate];
	struct err err;

	/* What is known to be too old is passed over. */
	while (process->candidate < prepared->candidate_count && candidate->version &&
	       !exec_runtime_will_do(candidate))
		candidate = &prepared->candidates[++process->candidate];
	if (process->run->outcome.stopped) {
		err_set(&err, ERR_CANCELLED, "the run was stopped before it began");
		exec_refuse(process, &err);
	} else if (process->candidate == prepared->candidate_count) {
		candidate = &prepared->candidates[prepared->candidate_count - 1];
		err_set(&err, ERR_UNSUPPORTED,
			"%s cannot run TypeScript: that takes node 22.6 or newer, or deno",
			candidate->path.p);
		exec_refuse(process, &err);
	} else if (candidate->kind == EXEC_NODE && !candidate->version) {
		exec_probe(process);
	} else {
		exec_start_script(process);
	}
}

static void exec_prepared(struct exec_process *process, struct exec_preparation *preparation)
{
	/* What was found out is in the preparation's arena; it lives on in ours. */
	struct exec_prepared *to = &process->prepared;
	const struct exec_prepared *from = &preparation->prepared;
	struct arena *arena = &process->arena;

	*to = *from;
	to->names.path = arena_copy(arena, from->names.path);
	to->names.shown = arena_copy(arena, from->names.shown);
	to->names.prefix = arena_copy(arena, from->names.prefix);
	to->launcher = arena_copy(arena, from->launcher);
	to->client = arena_copy(arena, from->client);
	for (size_t i = 0; i < from->candidate_count; i++) {
		to->candidates[i].path = arena_copy(arena, from->candidates[i].path);
		to->candidates[i].identity = arena_copy(arena, from->candidates[i].identity);
	}
	if (to->err.code)
		exec_refuse(process, &to->err);
	else
		exec_launch(process);
}

/* -- the door -------------------------------------------------------------------------------------------- */

static const struct str *copy_strings(struct arena *arena, const struct str *strings, size_t count)
{
	struct str *copy = arena_array(arena, struct str, count + 1);

	for (size_t i = 0; i < count; i++)
		copy[i] = arena_copy(arena, strings[i]);
	return copy;
}

static const char *const *copy_environment(struct arena *arena, const char *const *env)
{
	size_t count = 0;
	const char **copy;

	while (env && env[count])
		count++;
	copy = arena_array(arena, const char *, count + 1);
	for (size_t i = 0; i < count; i++)
		copy[i] = arena_cstr(arena, str_of(env[i]));
	return copy;
}

static void copy_spec(struct exec_process *process, const struct exec_spec *spec)
{
	struct arena *arena = &process->arena;
	struct exec_spec *copy = &process->spec;

	*copy = *spec;
	copy->supervisor = arena_cstr(arena, str_of(spec->supervisor));
	copy->directory = arena_copy(arena, spec->directory);
	copy->client = arena_copy(arena, spec->client);
	copy->source = arena_copy(arena, spec->source);
	copy->file = arena_copy(arena, spec->file);
	copy->export_name = arena_copy(arena, spec->export_name);
	copy->arguments = copy_strings(arena, spec->arguments, spec->argument_count);
	copy->runtime = arena_copy(arena, spec->runtime);
	copy->order = copy_strings(arena, spec->order, spec->order_count);
	copy->stdin_bytes = spec->stdin_kind == EXEC_STDIN_BYTES ? arena_copy(arena, spec->stdin_bytes)
								 : str_make(NULL, 0);
	copy->cwd = arena_copy(arena, spec->cwd);
	copy->env = copy_environment(arena, spec->env);
	copy->variables = copy_strings(arena, spec->variables, spec->variable_count);
	copy->socket = arena_copy(arena, spec->socket);
	copy->parent_session = arena_copy(arena, spec->parent_session);
	copy->config_path = arena_copy(arena, spec->config_path);
	copy->script_directories = arena_copy(arena, spec->script_directories);
	copy->pid = arena_copy(arena, spec->pid);
	copy->artifacts = arena_copy(arena, spec->artifacts);
}

void exec_run_start(struct exec_run *run, struct loop *loop, const struct exec_spec *spec,
		    const struct exec_events *events, void *owner)
{
	static const struct id_kind run_id = { STR_INIT(""), 8 };
	struct exec_process *process = xnew(struct exec_process);

	*run = (struct exec_run){ .events = events, .owner = owner, .process = process };
	process->run = run;
	process->loop = loop;
	arena_init(&process->arena, 0);
	copy_spec(process, spec);
	buf_init(&process->version, PROBE_LINE_MAX);
	exec_story_init(process);
	exec_calls_init(process);
	if (spec->run_id.n && spec->run_id.n < sizeof(run->id))
		memcpy(run->id, spec->run_id.p, spec->run_id.n);
	else
		random_id(run->id, &run_id);
	run->session = spec->session.n ? arena_copy(&process->arena, spec->session)
				       : arena_printf(&process->arena, "exec-%s", run->id);
	exec_prepare_start(process, exec_prepared);
}

void exec_run_stop(struct exec_run *run, const char *why)
{
	if (!run->process || run->outcome.stopped)
		return;
	run->outcome.stopped = true;
	run->outcome.stopped_why = why;
	if (run->process->state != EXEC_PREPARING)
		child_stop(&run->process->child);
}

void exec_run_cancel(struct exec_run *run)
{
	struct exec_process *process = run->process;

	run->process = NULL;
	if (process)
		process_release(process);
}

void exec_run_pause(struct exec_run *run)
{
	if (run->process && run->process->state == EXEC_RUNNING)
		child_pause_output(&run->process->child);
}

void exec_run_resume(struct exec_run *run)
{
	if (run->process && run->process->state == EXEC_RUNNING)
		child_resume_output(&run->process->child);
}

#include "base/base.h"
#include "exec/run_private.h"
#include "exec/source.h"
#include "exec/work_files.h"
#include "io/files.h"
#include "settings/environment.h"

#include <sys/stat.h>

/* Imports the client and lets it run the module that MCPX_ENTRY names. */
static struct str launcher_text(struct arena *arena, struct str client_name)
{
	return arena_printf(arena, "import{$mcpx}from\"./%.*s\";await $mcpx.launch();\n",
			    STR_ARG(client_name));
}

static struct str path_in(const struct exec_spec *spec, struct arena *arena, struct str name)
{
	return arena_concat(arena, spec->directory, STR("/"), name);
}

struct preparing {
	const struct exec_spec *spec;
	struct arena *arena;
	struct exec_prepared *prepared;
	struct str client_name;
	bool written; /* some file is new */
};

static int keep_file(struct preparing *p, const char *kind, const char *extension, struct str content,
		     struct str *ret_name)
{
	bool written;
	int r = work_file_keep(p->spec->directory, kind, extension, content, p->arena, ret_name, &written,
			       &p->prepared->err);

	p->written |= r == 0 && written;
	return r;
}

static int keep_launcher(struct preparing *p)
{
	struct str name;
	int r = keep_file(p, "launch", "mjs", launcher_text(p->arena, p->client_name), &name);

	if (r == 0)
		p->prepared->launcher = path_in(p->spec, p->arena, name);
	return r;
}

/* The file stays where it is, so that what it imports is found beside it. */
static int prepare_file(struct preparing *p)
{
	struct str path = p->spec->file;
	struct stat st;

	if (!str_starts_with(path, STR("/")))
		path = arena_concat(p->arena, p->spec->cwd, STR("/"), path);
	else
		path = arena_copy(p->arena, path);
	if (stat(path.p, &st) < 0)
		return err_errno(&p->prepared->err, "%s: the script cannot be read", path.p);
	if (!S_ISREG(st.st_mode))
		return err_set(&p->prepared->err, ERR_INVALID, "%s: a script is a file, and this is none",
			       path.p);
	p->prepared->names.path = path;
	p->prepared->names.shown = path;
	return keep_launcher(p);
}

static int prepare_module(struct preparing *p)
{
	struct str name;
	int r = keep_file(p, "module", "mts", p->spec->source, &name);

	if (r < 0)
		return r;
	p->prepared->names.path = path_in(p->spec, p->arena, name);
	p->prepared->names.shown = STR("script");
	return keep_launcher(p);
}

static int prepare_snippet(struct preparing *p)
{
	_cleanup_buf_ struct buf text = { .max = ARENA_MAX_DEFAULT };
	struct str name;
	size_t prefix;
	int r;

	if (p->spec->export_name.n)
		return err_set(&p->prepared->err, ERR_INVALID,
			       "export is \"%.*s\", and the source exports nothing: it is a snippet",
			       STR_ARG(p->spec->export_name));
	prefix = exec_snippet_write(&text, p->spec->source,
				    arena_concat(p->arena, STR("./"), p->client_name, STR("")),
				    &p->prepared->offset);
	if (buf_failed(&text))
		return err_set(&p->prepared->err, ERR_TOO_LARGE, "the source is too long");
	p->prepared->names.prefix = arena_copy(p->arena, str_slice(buf_str(&text), 0, prefix));
	r = keep_file(p, "snippet", "mts", buf_str(&text), &name);
	p->prepared->names.path = path_in(p->spec, p->arena, name);
	p->prepared->names.shown = STR("snippet");
	return r;
}

static int check_cwd(struct preparing *p)
{
	struct stat st;

	if (!p->spec->cwd.n)
		return 0;
	if (stat(p->spec->cwd.p, &st) < 0)
		return err_errno(&p->prepared->err, "%s: the script cannot run there", p->spec->cwd.p);
	return S_ISDIR(st.st_mode)
		       ? 0
		       : err_set(&p->prepared->err, ERR_INVALID,
				 "%s: the script cannot run there: it is no directory", p->spec->cwd.p);
}

static int prepare(struct preparing *p, struct str search_path)
{
	const struct exec_spec *spec = p->spec;
	struct exec_prepared *prepared = p->prepared;
	int r;

	if ((r = check_cwd(p)) < 0 ||
	    (r = directory_make_private(arena_cstr(p->arena, spec->directory), &prepared->err)) < 0 ||
	    (r = exec_runtime_find(spec->runtime, spec->order, spec->order_count, search_path,
				   spec->directory, p->arena, prepared->candidates,
				   &prepared->candidate_count, &prepared->err)) < 0 ||
	    (r = keep_file(p, "client", "mjs", spec->client, &p->client_name)) < 0)
		return r;
	prepared->client = path_in(spec, p->arena, p->client_name);
	if (spec->file.n)
		return prepare_file(p);
	return exec_source_is_module(spec->source) ? prepare_module(p) : prepare_snippet(p);
}

/* -- on the pool ----------------------------------------------------------------------------------------- */

static void prepare_work(struct job *job)
{
	struct exec_preparation *preparation = container_of(job, struct exec_preparation, job);
	struct preparing p = { &preparation->spec, &preparation->arena, &preparation->prepared,
			       str_make(NULL, 0), false };
	const struct exec_limits *limits = &preparation->spec.limits;

	if (prepare(&p, preparation->path) == 0)
		preparation->prepared.err.code = 0;
	/* What is new may push out what is old; most runs write nothing new and look at nothing. */
	if (p.written)
		work_files_prune(preparation->spec.directory, limits->keep_ms, limits->keep_files,
				 loop_wall_ms());
}

static void prepare_done(struct job *job, bool cancelled)
{
	struct exec_preparation *preparation = container_of(job, struct exec_preparation, job);

	if (!cancelled) {
		preparation->process->preparation = NULL;
		preparation->done(preparation->process, preparation);
	}
	arena_release(&preparation->arena);
	free(preparation);
}

/* The job owns its inputs: the run may be cancelled and gone while it works. */
static void copy_inputs(struct exec_preparation *preparation, const struct exec_spec *spec)
{
	struct arena *arena = &preparation->arena;
	struct exec_spec *copy = &preparation->spec;
	struct str *order = arena_array(arena, struct str, spec->order_count + 1);

	copy->directory = arena_copy(arena, spec->directory);
	copy->client = arena_copy(arena, spec->client);
	copy->source = arena_copy(arena, spec->source);
	copy->file = arena_copy(arena, spec->file);
	copy->cwd = arena_copy(arena, spec->cwd);
	copy->export_name = arena_copy(arena, spec->export_name);
	copy->runtime = arena_copy(arena, spec->runtime);
	for (size_t i = 0; i < spec->order_count; i++)
		order[i] = arena_copy(arena, spec->order[i]);
	copy->order = order;
	copy->order_count = spec->order_count;
	copy->limits = spec->limits;
	preparation->path =
		arena_copy(arena, environment_get(&(struct environment){ spec->env }, STR("PATH")));
}

void exec_prepare_start(struct exec_process *process,
			void (*done)(struct exec_process *process, struct exec_preparation *preparation))
{
	struct exec_preparation *preparation = xnew(struct exec_preparation);

	preparation->process = process;
	preparation->done = done;
	arena_init(&preparation->arena, 0);
	copy_inputs(preparation, &process->spec);
	process->preparation = preparation;
	loop_work(process->loop, &preparation->job, prepare_work, prepare_done);
}

void exec_prepare_cancel(struct exec_process *process)
{
	if (process->preparation)
		job_cancel(&process->preparation->job);
	process->preparation = NULL;
}

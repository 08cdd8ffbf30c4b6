/*
 * run_fixture.h - what the tests of runs share: a work directory, a catalogue, a small daemon on the same
 * loop that answers the script's calls, and one run with all that was told of it.
 */
#ifndef EXEC_RUN_FIXTURE_H
#define EXEC_RUN_FIXTURE_H

#include "base/base.h"
#include "base/buf.h"
#include "db/directory_fixture.h"
#include "exec/run.h"
#include "hub/catalogue.h"
#include "io/http_server.h"
#include "io/loop.h"
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

struct scene {
	struct loop *loop;
	struct http_server *server;
	struct test_directory directory;
	struct arena arena;
	struct buf client;
	struct exec_spec spec;
	struct exec_run run;
	const char *deno;  /* its path */
	struct buf frames; /* JSON, one a line; stderr is not among them */
	struct buf errors; /* stderr */
	unsigned done;
	/* Tool "wait" is answered never; these are called when it is. */
	void (*waits)(struct scene *scene);
	unsigned waiting, calls;
	struct timer guard;
	void (*on_frame)(struct scene *scene, const struct exec_frame *frame);
};

static const char *const scene_runtimes[] = { "deno", "node" };

/* The body once for each runtime that is there. */
#define ON_EACH_RUNTIME(scene)                                                                               \
	for (size_t runtime_at = 0; runtime_at < ARRAY_LEN(scene_runtimes); runtime_at++)                    \
		for (bool once = scene_init(&(scene), scene_runtimes[runtime_at]); once;                     \
		     scene_release(&(scene)), once = false)

/* False, and nothing to release, when the runtime that is named is not there. */
bool scene_init(struct scene *scene, const char *runtime);
void scene_release(struct scene *scene);

/* Runs `source` to its end. */
void scene_run(struct scene *scene, const char *source);
/* Runs what the specification says. */
void scene_run_spec(struct scene *scene);

/* The member `pointer` of the n-th frame of a type (0: first) as JSON text; NULL when there is no such frame
 * or member. From the arena. */
const char *scene_member(struct scene *scene, const char *type, unsigned n, const char *pointer);
unsigned scene_count(struct scene *scene, const char *type);
#define assert_member(scene, type, n, pointer, expected)                                                     \
	assert_text(scene_member(scene, type, n, pointer), expected, (scene), __FILE__, __LINE__)
void assert_text(const char *text, const char *expected, const struct scene *scene, const char *file,
		 int line);

#endif

/*
 * child_fixture.h - what the tests of children share: one child on a loop, what it said and how it ended, and
 * the proof that nothing of it is left.
 *
 * Every process that comes from a test has a word of its own in its environment, so that it is found wherever
 * it has gone.
 */
#ifndef IO_CHILD_FIXTURE_H
#define IO_CHILD_FIXTURE_H

#include "base/base.h"
#include "io/child.h"
#include "io/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum {
	LONG_MS = 600000, /* a wait that does not end by itself: the test would run into its time-out */
	STORY_MAX = 8192,
};

/* New for each test. */
extern struct loop *stage_loop;
/* What children get; a test may change all but the first, which is the mark, and the second, PATH, is set
 * again for each. */
extern const char *stage_environment[8];

/* One child and what it did. */
struct scene {
	struct child child;
	struct child_spec spec;
	struct child_events events;
	/* lines of stdout in brackets, "!" behind those that were too long and "." at their end; raw output
	 * as it is */
	char story[STORY_MAX];
	char last_words[STORY_MAX]; /* child_stderr() in `exited` */
	size_t bytes, lines;
	struct child_status status;
	unsigned exits, writable;
	/* called at each line, as soon as the child's process id is known too */
	void (*on_line)(struct scene *scene);
	struct timer line_timer;
};

/* Patience without end on every rung, everything else generous. */
void scene_init(struct scene *scene);
void scene_start(struct scene *scene, const char *const *argv);
#define START(scene, ...) scene_start(scene, (const char *const[]){ __VA_ARGS__, NULL })

/* Runs the loop until nothing is left to happen, which must be after `exited` came, once. */
void scene_run(struct scene *scene);

/* The callbacks that scene_init() sets, for tests that put their own in front. */
void scene_exited(struct child *child, const struct child_status *status);
void scene_writable(struct child *child);

/* How many processes that came from this test run, supervisors among them. */
unsigned count_marked(void);
/* Polls until there is none. */
bool wait_until_unmarked(unsigned most_ms);
/* Whether this process has no children, not even dead ones. */
bool no_zombies(void);
unsigned count_descriptors(void);
pid_t parent_of(pid_t pid);

/* Before and after every test; afterwards no process, no zombie and no new descriptor may be there. */
int stage_set_up(void **state);
int stage_tear_down(void **state);
#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, stage_set_up, stage_tear_down)

#define run_on_stage(name, tests)                                                                            \
	(stage_prepare() < 0 ? 1 : cmocka_run_group_tests_name(name, tests, NULL, NULL))
int stage_prepare(void);

#endif

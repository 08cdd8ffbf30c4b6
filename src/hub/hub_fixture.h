/*
 * hub_fixture.h - what the tests of instances, pools, calls and hubs share: a loop, a directory, the server
 * of server_fixture.c, and a way to wait for what comes of events.
 *
 * It stands on io/child_fixture.h: after each test no process, zombie or descriptor of it may be left.
 */
#ifndef HUB_HUB_FIXTURE_H
#define HUB_HUB_FIXTURE_H

#include "base/base.h"
#include "hub/hub.h"
#include "io/child_fixture.h"
#include "settings/scratch.h"

#include <stdint.h>

enum {
	PLENTY_MS = 60000, /* a patience that no test runs out of */
	SHORT_MS = 30,	   /* one that is meant to run out */
};

/* Of each test, and gone after it. */
extern struct scratch hub_scratch;

int hub_set_up(void **state);
int hub_tear_down(void **state);
#define IN_HUB(test) cmocka_unit_test_setup_teardown(test, hub_set_up, hub_tear_down)
#define RUN_IN_HUB(tests) (stage_prepare() < 0 ? 1 : cmocka_run_group_tests_name(__FILE__, tests, NULL, NULL))

/* Runs the loop until the condition holds. Fails, with its text, when nothing brings that about. */
#define AWAIT(condition)                                                                                     \
	do {                                                                                                 \
		unsigned _turn = 0;                                                                          \
                                                                                                             \
		while (!(condition))                                                                         \
			await_turn(_turn++, #condition);                                                     \
	} while (0)
void await_turn(unsigned turn, const char *condition);

/* Runs the loop for so many turns of its clock: for what must not happen. */
void let_pass(unsigned ms);

const char *server_program(void);
/* A path below the scratch directory. */
const char *in_scratch(const char *name);
/* The lines of a file there; 0 when it is not there. */
unsigned count_lines(const char *name);
bool in_scratch_is(const char *name);
void remove_in_scratch(const char *name);

/* A FIFO there at which servers wait, each for one byte (--gate). To be closed. */
int gate_make(const char *name);
void gate_pass(int gate);

/* Generous limits, on which a test changes what it is about. */
void test_pool_limits(struct pool_limits *limits);

#define assert_has(text, part) assert_has_(str_of(text), str_of(part), __LINE__)
#define assert_lacks(text, part) assert_lacks_(str_of(text), str_of(part), __LINE__)
void assert_has_(struct str text, struct str part, int line);
void assert_lacks_(struct str text, struct str part, int line);
#define assert_str(actual, expected) assert_str_((actual), str_of(expected), __LINE__)
void assert_str_(struct str actual, struct str expected, int line);

#endif

/*
 * pool_fixture.h - a pool whose events are counted, and takers that acquire from it.
 */
#ifndef HUB_POOL_FIXTURE_H
#define HUB_POOL_FIXTURE_H

#include "base/base.h"
#include "hub/hub_fixture.h"
#include "hub/pool.h"

struct pool_scene {
	struct pool *pool; /* NULL until it is opened */
	struct pool_limits limits;
	struct pool_definition definition;
	unsigned started, stopped, notified;
	char reason[ERR_MESSAGE_MAX]; /* of the last that stopped */
	uint64_t pause;		      /* pool_group_retry_in() then */
	bool stopping, ended;
};

struct taker {
	struct pool_acquire acquire;
	struct instance *instance;
	unsigned done;
	int code;
	char message[ERR_MESSAGE_MAX];
};

/* Of each test that runs IN_POOL: generous limits and a definition of the test server, of scope cwd, shared,
 * at most four. What a test is about it changes before it uses a group. */
extern struct pool_scene scene;
void pool_scene_init(void);
int pool_set_up(void **state);
#define IN_POOL(test) cmocka_unit_test_setup_teardown(test, pool_set_up, hub_tear_down)

/* Another command for the definition, to be used within the block. */
#define COMMAND(...) (scene.definition.argv = (const char *const[]){ __VA_ARGS__, NULL })

void open_pool(void);
/* The group of the definition as it stands; opens the pool for the first. */
struct pool_group *use_group(void);
void stop_pool(void);
/* Stops the pool, unless that was begun, and frees it. */
void close_pool(void);
/* The same, when the group has been dropped. */
void close_group(struct pool_group **group);

void take(struct taker *taker, struct pool_group *group, const char *key);
void take_within(struct taker *taker, struct pool_group *group, const char *key, uint64_t patience_ms);
/* Takes and waits: the instance is held. */
void take_now(struct taker *taker, struct pool_group *group, const char *key);
/* For a caller of that era. */
void take_now_as(struct taker *taker, struct pool_group *group, const char *key, int era);
void give_back(struct taker *taker);
/* Waits for the error and compares it. */
void expect_failure(struct taker *taker, int code, const char *part);

#endif

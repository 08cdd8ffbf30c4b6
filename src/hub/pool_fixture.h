/*
 * pool_fixture.h - a pool whose events are counted, and takers that acquire from it.
 */
#ifndef HUB_POOL_FIXTURE_H
#define HUB_POOL_FIXTURE_H

#include "base/base.h"
#include "hub/hub_fixture.h"
#include "hub/pool.h"

struct pool_scene {
	struct pool *pool;
	struct pool_limits limits;
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

void pool_scene_init(struct pool_scene *scene);
void pool_scene_open(struct pool_scene *scene);
void pool_scene_stop(struct pool_scene *scene);
/* Stops the pool, unless that was begun, and frees it. */
void pool_scene_close(struct pool_scene *scene);
bool pool_scene_stops(const struct pool_scene *scene, const char *reason);

/* Of scope cwd, shared, at most four. `argv` must last. */
void test_definition(struct pool_definition *definition, const char *const *argv);
#define DEFINITION(definition, ...) test_definition(definition, (const char *const[]){ __VA_ARGS__, NULL })

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

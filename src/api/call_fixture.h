/*
 * call_fixture.h - what the tests of inputs share: a call of any operation, with the settings as they are
 * declared and without a daemon.
 */
#ifndef API_CALL_FIXTURE_H
#define API_CALL_FIXTURE_H

#include "base/base.h"
#include "api/api.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

struct fixture {
	struct arena arena;
	struct settings *settings;
	struct api api;
	struct api_call call;
};

static inline int set_up(void **state)
{
	struct fixture *f = xnew(struct fixture);

	arena_init(&f->arena, 0);
	f->settings = settings_new();
	f->call.settings = f->api.settings = f->settings;
	f->call.api = &f->api;
	f->call.arena = &f->arena;
	*state = f;
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *f = *state;

	arena_release(&f->arena);
	settings_free(&f->settings);
	free(f);
	return 0;
}

/* A call of that operation without any input yet. */
static inline struct api_call *begin(void **state, enum operation_id id)
{
	struct api_call *call = &((struct fixture *)*state)->call;

	call->operation = &operations[id];
	call->values = arena_array(call->arena, struct api_value, call->operation->input_count + 1);
	return call;
}

#endif

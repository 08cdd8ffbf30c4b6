/*
 * store_fixture.h - what the tests of this room share: limits, and the comparison of strings.
 */
#ifndef ARTIFACTS_STORE_FIXTURE_H
#define ARTIFACTS_STORE_FIXTURE_H

#include "artifacts/disk_fixture.h"
#include "artifacts/ledger.h"
#include "base/base.h"
#include "db/directory_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct artifact_limits TEST_LIMITS = {
	.max_bytes = 1 << 20,
	.quota = 4 << 20,
	.count_max = 10000,
	.ttl_ms = 60 * 60 * 1000,
	.sweep_ms = 60 * 60 * 1000,
	.name_max = 64,
	.list_limit = 100,
	.collision_limit = 3,
	.buffer_bytes = 64 * 1024,
	.busy_ms = 1000,
	.cache_bytes = 64 * 1024,
};

static inline void assert_str(struct str s, const char *expected)
{
	if (s.n != strlen(expected) || (s.n && memcmp(s.p, expected, s.n) != 0))
		fail_msg("\"%.*s\" should be \"%s\"", STR_ARG(s), expected);
}

static inline void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" should contain \"%s\"", text, part);
}

#endif

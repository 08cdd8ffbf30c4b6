/*
 * environment.h - the environment as a value.
 *
 * environment_current() is the only place in the program that looks at the process's environment; everything
 * else is handed one, so that tests and children have their own. Pure otherwise; any thread.
 */
#ifndef SETTINGS_ENVIRONMENT_H
#define SETTINGS_ENVIRONMENT_H

#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"

struct environment {
	const char *const *entries; /* NAME=VALUE, NULL-terminated; not owned */
};

/* A name and its value: one variable, one header. */
struct variable {
	struct str name, value;
};

/* The process's own; valid as long as nobody calls setenv(3), which nobody does. */
struct environment environment_current(void);

/* The value, or an empty string with .p NULL when the variable is not set. */
struct str environment_get(const struct environment *environment, struct str name);

/* `environment` with `variables` laid over it, later ones over earlier ones: NULL-terminated, for a child.
 * From the arena. */
const char *const *environment_with(const struct environment *environment, const struct variable *variables,
				    size_t count, struct arena *arena);

#endif

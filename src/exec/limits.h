/*
 * limits.h - the bounds of runs, from settings: the same for every program that runs scripts.
 */
#ifndef EXEC_LIMITS_H
#define EXEC_LIMITS_H

#include "base/base.h"
#include "exec/run.h"
#include "settings/settings.h"

void exec_limits_from_settings(const struct settings *set, struct exec_limits *ret_limits);

#endif

/*
 * limits.h - the rooms' limits, filled from the settings. Every number the daemon works with passes through
 * here.
 */
#ifndef DAEMON_LIMITS_H
#define DAEMON_LIMITS_H

#include "artifacts/store.h"
#include "base/base.h"
#include "hub/hub.h"
#include "io/http_server.h"
#include "settings/places.h"
#include "settings/settings.h"

void limits_of_http(const struct settings *set, struct http_limits *ret_limits);
void limits_of_artifacts(const struct settings *set, struct artifact_limits *ret_limits);
/* Texts point into `places` and to `supervisor` and `client_info`. */
void limits_of_hub(const struct settings *set, const struct places *places, const char *supervisor,
		   struct str client_info, struct hub_limits *ret_limits);

#endif

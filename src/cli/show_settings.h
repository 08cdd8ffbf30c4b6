/* show_settings.h - settings for people, from the records of settings/record.h: our own, or what the daemon
 * says of its own. */
#ifndef CLI_SHOW_SETTINGS_H
#define CLI_SHOW_SETTINGS_H

#include "base/base.h"
#include "base/buf.h"
#include "json/json.h"

/* A record: the value in force, where it came from, what that displaced, and under `here` what this command's
 * own layers say where the daemon's value is another. */
void show_setting(const struct json *record, struct buf *out);

/* The answer to a change, or to taking one back. */
void show_setting_change(const struct json *answer, struct buf *out);

#endif

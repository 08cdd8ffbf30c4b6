/*
 * record.h - settings as they are told to others: JSON records, for /v1 and the command line.
 *
 * A record says the value in force, which layer it came from, and the layers that it displaced, nearest
 * first. Pure.
 */
#ifndef SETTINGS_RECORD_H
#define SETTINGS_RECORD_H

#include "base/base.h"
#include "json/writer.h"
#include "settings/registry.h"
#include "settings/settings.h"

/* Which settings a list holds. */
struct setting_filter {
	bool plumbing; /* also those that ordinary listings leave out */
	bool changed;  /* only those that are not at their default */
	bool scoped;   /* only those of `scope` */
	enum setting_scope scope;
	struct str prefix; /* only paths that begin with this; empty for all */
};

/* Reads a scope's word ("daemon"); false when it is none. */
bool setting_scope_parse(struct str word, enum setting_scope *ret_scope);

/* One record: path, kind, value, default, source, shadowed[], env, flag, scope, hot and the rest of the
 * declaration. */
void setting_write_record(const struct settings *set, enum setting setting, struct json_writer *w);
/* An array of records. */
void settings_write_records(const struct settings *set, const struct setting_filter *filter,
			    struct json_writer *w);

/* The answer to a change (PUT /v1/settings/{path}): {path, value, applied, restartRequired, note}. */
void setting_write_change(const struct settings *set, enum setting setting,
			  const struct setting_change *change, struct json_writer *w);
/* The answer to taking a change back (DELETE): {path, removed, value, source}. */
void setting_write_unset(const struct settings *set, enum setting setting, bool removed,
			 struct json_writer *w);

#endif

/*
 * value.h - the value of one setting: its typed form and its text.
 *
 * Values are made from text (environment, flags, runtime changes, headers) or from JSON (configuration files)
 * by the rules of the setting's declaration, and are always valid. Pure.
 */
#ifndef SETTINGS_VALUE_H
#define SETTINGS_VALUE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"
#include "settings/registry.h"
#include "settings/settings.h"

struct setting_value {
	struct str text; /* as one would write it: "1m30s", "64KiB", "a,b"; followed by a NUL */
	union {
		bool truth;
		int64_t number;
		uint64_t size; /* bytes, or milliseconds */
		unsigned choice;
		struct setting_items items;
	} u;
};

/* Reads text. The message of an error says what was expected and what came, and leaves it to the caller to
 * say where. */
int setting_value_parse(struct setting_value *value, const struct setting_declaration *declaration,
			struct str text, struct arena *arena, struct err *err);

/* Whether what is text has the form that the setting asks for; setting_value_parse() has looked already. */
int setting_value_check(const struct setting_value *value, const struct setting_declaration *declaration,
			struct err *err);

/* Reads a value of a configuration file as it stands there. Its form is for setting_value_check() to judge,
 * when ${NAME} in it has been replaced. */
int setting_value_from_json(struct setting_value *value, const struct setting_declaration *declaration,
			    const struct json *json, struct arena *arena, struct err *err);

/* A list, or paths, of these items (.p NULL for null), which must outlive the value. */
void setting_value_of_items(struct setting_value *value, struct setting_items items, struct arena *arena);

/* The elements of both. */
struct setting_items setting_items_join(struct setting_items a, struct setting_items b, struct arena *arena);

/* A copy that lives in `arena`. */
struct setting_value setting_value_copy(const struct setting_value *value,
					const struct setting_declaration *declaration, struct arena *arena);

#endif

/*
 * settings_private.h - how a set keeps its layers. For settings.c and its neighbours in this room only.
 */
#ifndef SETTINGS_SETTINGS_PRIVATE_H
#define SETTINGS_SETTINGS_PRIVATE_H

#include "base/arena.h"
#include "base/base.h"
#include "settings/registry.h"
#include "settings/settings.h"
#include "settings/value.h"

enum { SETTING_SOURCE_COUNT = SETTING_FROM_CALL + 1 };

/* What one source says about one setting. */
struct setting_layer {
	enum setting setting;
	enum setting_source source;
	struct str origin; /* the variable, the flag with its dashes, file:line:column; or empty */
	struct setting_value value;
	struct setting_layer *farther; /* the next file; in the set of a call, the next setting */
};

/* A change at run time is freed alone, so it has memory of its own. */
struct setting_override {
	struct arena arena;
	struct setting_layer layer;
};

struct setting_slot {
	struct setting_layer *layers[SETTING_SOURCE_COUNT]; /* the nearest file in front */
	struct setting_override *override;
	/* not hot, and a reloaded file says this from the next start on; .p NULL otherwise */
	struct str pending;
};

struct settings {
	const struct settings *base; /* in the set of a call: what lies below it, and no slots of its own */
	struct setting_layer *call;
	struct setting_slot *slots;
	/* defaults, environment, flags, and what files say of settings that are not hot */
	struct arena arena;
	struct arena hot_arena; /* what files say of hot settings, and pending texts: replaced by a reload */
	bool has_config;
};

/* The layer in force. */
const struct setting_layer *settings_top(const struct settings *set, enum setting setting);

static inline const struct setting_slot *settings_slot(const struct settings *set, enum setting setting)
{
	while (set->base)
		set = set->base;
	return &set->slots[setting];
}

/* Whether this process re-reads the setting at each use, so that a change takes effect at once. */
static inline bool setting_changes_at_once(const struct setting_declaration *declaration)
{
	return declaration->hot || declaration->scope == SETTING_SCOPE_CALL;
}

/* What the files of a configuration say about settings, the nearest first (config_settings.c). */
struct config_setting {
	enum setting setting;
	struct str origin; /* file:line:column */
	struct setting_value value;
	struct config_setting *next;
};
const struct config_setting *config_settings(const struct config *config);

#endif

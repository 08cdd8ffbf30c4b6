/*
 * config_scratch.h - a directory with configuration files of a test's own, and what they are read as: for the
 * tests of configurations, which include cmocka.h before it.
 */
#ifndef SETTINGS_CONFIG_SCRATCH_H
#define SETTINGS_CONFIG_SCRATCH_H

#include "base/base.h"
#include "settings/config.h"
#include "settings/scratch.h"

/* A test's own world: a directory in which HOME is a folder, so that nothing of the machine's is found (but
 * /etc). */
struct world {
	struct scratch scratch;
	struct settings *set;
	struct config *config;
	struct environment environment;
	struct err err;
};

static inline int set_up(void **state)
{
	struct world *w = xnew(struct world);

	scratch_init(&w->scratch);
	w->set = settings_new();
	w->environment.entries = (const char *const *)arena_array(&w->scratch.arena, const char *, 16);
	*state = w;
	return 0;
}

static inline int tear_down(void **state)
{
	struct world *w = *state;

	config_free(&w->config);
	settings_free(&w->set);
	scratch_release(&w->scratch);
	free(w);
	return 0;
}

static inline void set_variable(struct world *w, const char *name, struct str value)
{
	const char **entries = (const char **)(uintptr_t)w->environment.entries;

	while (*entries)
		entries++;
	*entries = arena_printf(&w->scratch.arena, "%s=%s", name, value.p).p;
}

/* Searches from `cwd` below the root, with HOME at home/. */
static inline int search_from(struct world *w, const char *cwd)
{
	if (!environment_get(&w->environment, STR("HOME")).p)
		set_variable(w, "HOME", scratch_path(&w->scratch, "home"));
	config_free(&w->config);
	return settings_load(w->set, &w->config, &w->environment, scratch_path(&w->scratch, cwd), &w->err);
}

/* One file, named as --config would. */
static inline int load_text(struct world *w, const char *text)
{
	struct str path = scratch_write(&w->scratch, "one/mcpx.json", text);

	if (!environment_get(&w->environment, STR("MCPX_CONFIG")).p)
		set_variable(w, "MCPX_CONFIG", path);
	return search_from(w, "one");
}

static inline void must_load(struct world *w, const char *text)
{
	if (load_text(w, text) < 0)
		fail_msg("%s", w->err.message);
}

/* The text with "@" for the scratch directory. */
static inline const char *at_root(struct world *w, const char *text)
{
	struct str rest = str_of(text), all = STR(""), part;
	bool first = true;

	while (str_split(&rest, '@', &part)) {
		all = arena_concat(&w->scratch.arena, all, first ? STR("") : w->scratch.root, part);
		first = false;
	}
	return all.p;
}

static inline void must_fail(struct world *w, const char *text, int code, const char *message)
{
	assert_int_equal(load_text(w, text), code);
	assert_string_equal(w->err.message, at_root(w, message));
}

static inline const struct config_server *server(struct world *w, const char *name)
{
	const struct config_server *found = config_find(w->config, str_of(name));

	assert_non_null(found);
	return found;
}

static inline void server_fails(struct world *w, const char *text, int code, const char *message)
{
	must_load(w, text);
	assert_non_null(server(w, "s")->error);
	assert_string_equal(server(w, "s")->error->message, at_root(w, message));
	assert_int_equal(server(w, "s")->error->code, code);
}

static inline void is_list(struct setting_items items, const char *joined)
{
	char text[256] = "";

	for (size_t i = 0; i < items.count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? "|" : "",
			 items.items[i].p);
	assert_string_equal(text, joined);
}

/* The files that were read, nearest first, without the scratch directory; what the machine has outside is
 * left out. */
static inline void are_loaded(struct world *w, const char *joined)
{
	char text[512] = "";

	for (size_t i = 0; i < w->config->source_count; i++) {
		const struct config_source *source = &w->config->sources[i];

		if (source->loaded && str_starts_with(source->path, w->scratch.root))
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", *text ? "|" : "",
				 source->path.p + w->scratch.root.n + 1);
	}
	assert_string_equal(text, joined);
}

static inline const struct config_source *source(struct world *w, const char *name)
{
	struct str path = scratch_path(&w->scratch, name);

	for (size_t i = 0; i < w->config->source_count; i++)
		if (str_eq(w->config->sources[i].path, path))
			return &w->config->sources[i];
	fail_msg("no source %s", name);
	return NULL;
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif

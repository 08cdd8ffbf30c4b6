#include "base/base.h"
#include "daemon/config_watch.h"

#include "io/file_watch.h"

enum {
	/* A search looks into each directory up to the root and a few of the user's; whoever lists more in
	 * paths.config has the periodic look. */
	DIRECTORIES_MAX = 64,
};

struct watched_directory {
	struct file_watch watch;
	struct config_watch *owner;
	char *path;
};

/* -- which directories ----------------------------------------------------------------------------------- */

static char *copy_text(struct str text)
{
	char *copy = xmalloc(text.n + 1);

	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	return copy;
}

static struct str parent_of(struct str path)
{
	size_t slash = str_find_last_char(path, '/');

	return slash == 0 || slash == STR_NONE ? STR("/") : str_slice(path, 0, slash);
}

static bool is_watched(const struct config_watch *watch, struct str path)
{
	for (size_t i = 0; i < watch->count; i++)
		if (str_eq(str_of(watch->directories[i].path), path))
			return true;
	return false;
}

/* `name` in `directory` is one of the paths or lies on the way to one. */
static bool leads_to(struct str directory, struct str name, struct str path)
{
	if (directory.n > 1 && !str_starts_with(path, directory))
		return false;
	path = str_from(path, directory.n > 1 ? directory.n : 0);
	if (!str_starts_with(path, STR("/")) || !str_starts_with(str_from(path, 1), name))
		return false;
	path = str_from(path, 1 + name.n);
	return path.n == 0 || path.p[0] == '/';
}

static bool matters(const struct config_watch *watch, struct str directory, struct str name)
{
	for (size_t i = 0; i < watch->config->source_count; i++)
		if (leads_to(directory, name, watch->config->sources[i].path) ||
		    leads_to(directory, name, watch->config->sources[i].real))
			return true;
	return false;
}

static void directory_changed(struct file_watch *file_watch, const char *name);
static void settled(struct timer *timer);

/* The time is not begun anew by what happens further, so that files beside a busy one are not waited for
 * without end. */
static void look_soon(struct config_watch *watch)
{
	watch->dirty = true;
	if (!timer_running(&watch->settle))
		timer_start(&watch->settle, watch->loop,
			    settings_duration(watch->settings, SETTING_DAEMON_WATCH_DELAY), settled);
}

/* The directory that holds `path`, or the nearest above it that is there: what comes to be in it is noticed
 * so. */
static void watch_for(struct config_watch *watch, struct str path)
{
	while (path.n > 1 && watch->count < DIRECTORIES_MAX) {
		struct watched_directory *directory = &watch->directories[watch->count];

		path = parent_of(path);
		if (is_watched(watch, path))
			return;
		directory->owner = watch;
		directory->path = copy_text(path);
		if (file_watch_start(&directory->watch, watch->loop, directory->path, directory_changed,
				     NULL) == 0) {
			watch->count++;
			return;
		}
		free_ptr(&directory->path);
	}
}

static void unwatch(struct config_watch *watch)
{
	for (size_t i = 0; i < watch->count; i++) {
		file_watch_stop(&watch->directories[i].watch);
		free(watch->directories[i].path);
	}
	watch->count = 0;
	free_ptr(&watch->directories);
}

void config_watch_follow(struct config_watch *watch, const struct config *config)
{
	if (!watch->loop)
		return;
	watch->config = config;
	watch->err.code = 0;
	unwatch(watch);
	watch->directories = xcalloc(DIRECTORIES_MAX, sizeof(*watch->directories));
	for (size_t i = 0; i < config->source_count; i++) {
		watch_for(watch, config->sources[i].path);
		if (config->sources[i].real.n)
			watch_for(watch, config->sources[i].real);
	}
	/* For what happened between reading the files and now. */
	look_soon(watch);
}

/* -- looking --------------------------------------------------------------------------------------------- */

static void tell_refused(struct config_watch *watch, const struct err *err)
{
	bool known = watch->err.code && strcmp(watch->err.message, err->message) == 0;

	watch->err = *err;
	if (!known)
		watch->events->refused(watch->context, err);
}

static void look_for_others(struct config_watch *watch)
{
	const struct config_source *source = config_appeared(watch->config);

	if (!source || (watch->appeared && str_eq(str_of(watch->appeared), source->path)))
		return;
	free(watch->appeared);
	watch->appeared = copy_text(source->path);
	watch->events->appeared(watch->context, source->path);
}

void config_watch_look(struct config_watch *watch)
{
	struct err err;

	watch->dirty = false;
	timer_stop(&watch->settle);
	if (!settings_bool(watch->settings, SETTING_DAEMON_WATCH_CONFIG))
		return;
	if (!config_changed(watch->config, watch->settings))
		watch->err.code = 0; /* what was refused was taken back */
	else if (watch->events->reload(watch->context, &err) < 0)
		tell_refused(watch, &err);
	look_for_others(watch);
}

/* What is wrong now may be half an edit: it is left for the look that follows. */
void config_watch_before_request(struct config_watch *watch)
{
	struct err err;

	if (!watch->dirty || !settings_bool(watch->settings, SETTING_DAEMON_WATCH_CONFIG) ||
	    config_lacks_file(watch->config))
		return;
	watch->dirty = false;
	if (config_changed(watch->config, watch->settings))
		(void)watch->events->reload(watch->context, &err);
}

static void settled(struct timer *timer)
{
	config_watch_look(container_of(timer, struct config_watch, settle));
}

static void directory_changed(struct file_watch *file_watch, const char *name)
{
	struct watched_directory *directory = container_of(file_watch, struct watched_directory, watch);
	struct config_watch *watch = directory->owner;

	if (!name || matters(watch, str_of(directory->path), str_of(name)))
		look_soon(watch);
}

/* -- the watch ------------------------------------------------------------------------------------------- */

void config_watch_start(struct config_watch *watch, struct loop *loop, const struct settings *settings,
			const struct config *config, const struct config_watch_events *events, void *context)
{
	watch->loop = loop;
	watch->settings = settings;
	watch->events = events;
	watch->context = context;
	config_watch_follow(watch, config);
}

void config_watch_stop(struct config_watch *watch)
{
	timer_stop(&watch->settle);
	unwatch(watch);
	free_ptr(&watch->appeared);
	watch->dirty = false;
	watch->loop = NULL;
}

#include "base/base.h"
#include "daemon/places_watch.h"

#include <sys/stat.h>

bool places_watch_socket_is_ours(const struct places_watch *watch)
{
	struct stat status;

	return watch->places && lstat(watch->places->socket.p, &status) == 0 &&
	       status.st_dev == watch->socket_device && status.st_ino == watch->socket_inode;
}

void places_watch_look(struct places_watch *watch)
{
	if (!watch->loop)
		return;
	if (!lock_file_is_ours(watch->lock))
		watch->events->lock_lost(watch->context);
	else if (!places_watch_socket_is_ours(watch) || access(watch->places->info.p, F_OK) < 0)
		watch->events->files_lost(watch->context);
}

static void settled(struct timer *timer)
{
	places_watch_look(container_of(timer, struct places_watch, settle));
}

static void look_soon(struct places_watch *watch)
{
	if (!timer_running(&watch->settle))
		timer_start(&watch->settle, watch->loop,
			    settings_duration(watch->settings, SETTING_DAEMON_WATCH_DELAY), settled);
}

/* Whether something of that name in the directory matters: the state directory holds busy files, too. */
static bool is_named(struct str path, const char *name)
{
	return str_eq(str_from(path, str_find_last_char(path, '/') + 1), str_of(name));
}

static void directory_changed(struct places_watch *watch, const char *name)
{
	const struct places *places = watch->places;

	if (!name || is_named(places->lock, name) || is_named(places->socket, name) ||
	    is_named(places->info, name))
		look_soon(watch);
}

static void state_changed(struct file_watch *file_watch, const char *name)
{
	directory_changed(container_of(file_watch, struct places_watch, state), name);
}

static void sockets_changed(struct file_watch *file_watch, const char *name)
{
	directory_changed(container_of(file_watch, struct places_watch, sockets), name);
}

static void unwatch(struct places_watch *watch)
{
	file_watch_stop(&watch->state);
	file_watch_stop(&watch->sockets);
}

/* What cannot be watched is looked at now and then all the same. */
void places_watch_follow(struct places_watch *watch)
{
	const struct places *places = watch->places;
	struct stat status = { 0 };

	unwatch(watch);
	(void)file_watch_start(&watch->state, watch->loop, places->state.p, state_changed, NULL);
	if (!str_eq(places->socket_dir, places->state))
		(void)file_watch_start(&watch->sockets, watch->loop, places->socket_dir.p, sockets_changed,
				       NULL);
	(void)lstat(places->socket.p, &status);
	watch->socket_device = status.st_dev;
	watch->socket_inode = status.st_ino;
}

void places_watch_start(struct places_watch *watch, struct loop *loop, const struct settings *settings,
			const struct places *places, const struct lock_file *lock,
			const struct places_watch_events *events, void *context)
{
	*watch = (struct places_watch){
		.loop = loop,
		.settings = settings,
		.places = places,
		.lock = lock,
		.events = events,
		.context = context,
	};
	places_watch_follow(watch);
}

void places_watch_stop(struct places_watch *watch)
{
	timer_stop(&watch->settle);
	unwatch(watch);
	watch->loop = NULL;
}

#include "base/base.h"
#include "hub/save.h"
#include "hub/refresh.h"
#include "io/files.h"

enum { CACHE_FILE_MODE = 0600 };

struct hub_save {
	struct job job;
	struct hub *hub;
	struct list_node node; /* in hub->saves */
	char *path;
	struct str text;
	struct str next; /* to be written when this one is done; .p NULL: nothing */
	struct err err;
};

static void save_work(struct job *job)
{
	struct hub_save *save = container_of(job, struct hub_save, job);

	save->err.code = 0;
	(void)file_write(save->path, save->text, &(struct file_write_options){ .mode = CACHE_FILE_MODE },
			 &save->err);
}

static void save_done(struct job *job, bool cancelled)
{
	struct hub_save *save = container_of(job, struct hub_save, job);
	struct hub *hub = save->hub;

	(void)cancelled;
	if (save->err.code)
		hub_tell_event(hub, LOG_LEVEL_WARN, STR("cache.write"), STR(""), str_of(save->err.message));
	free((char *)save->text.p);
	if (save->next.p) {
		save->text = save->next;
		save->next = str_make(NULL, 0);
		loop_work(hub->loop, &save->job, save_work, save_done);
		return;
	}
	list_remove(&save->node);
	free(save->path);
	free(save);
	hub_check_stopped(hub);
}

char *save_path(const struct hub *hub, struct str name)
{
	size_t size = strlen(hub->limits.cache_dir) + name.n + sizeof("/");
	char *path = xmalloc(size);

	snprintf(path, size, "%s/%.*s", hub->limits.cache_dir, STR_ARG(name));
	return path;
}

void save_file(struct hub *hub, struct str name, struct str text)
{
	_cleanup_free_ char *path = save_path(hub, name);
	struct hub_save *save;

	list_for_each(save, &hub->saves, node)
		if (strcmp(save->path, path) == 0) {
			free((char *)save->next.p);
			save->next = text;
			return;
		}
	save = xnew(struct hub_save);
	save->hub = hub;
	save->path = take_ptr(path);
	save->text = text;
	list_append(&hub->saves, &save->node);
	loop_work(hub->loop, &save->job, save_work, save_done);
}

#include "base/base.h"
#include "settings/config_private.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/quote.h"
#include "io/files.h"

enum {
	STEPS_MAX = 40, /* from a path to what is there of it: as many as Linux follows links */
};

bool config_stamp_of(struct str path, struct config_stamp *ret_stamp)
{
	struct stat st;

	if (stat(path.p, &st) < 0)
		return false;
	*ret_stamp = (struct config_stamp){ .device = (uint64_t)st.st_dev,
					    .inode = (uint64_t)st.st_ino,
					    .size = (uint64_t)st.st_size,
					    .modified = st.st_mtim };
	return true;
}

bool config_stamp_same(const struct config_stamp *a, const struct config_stamp *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->modified.tv_sec == b->modified.tv_sec && a->modified.tv_nsec == b->modified.tv_nsec;
}

static struct str directory_of(struct str path)
{
	size_t slash = str_find_last_char(path, '/');

	return slash == 0 || slash == STR_NONE ? STR("/") : str_slice(path, 0, slash);
}

/* The directory a file speaks for: in a project that is not the folder .mcpx but the one around it. */
static struct str base_of(struct str path)
{
	static const struct str inner[] = { STR_INIT("/.config/mcpx/config.json"),
					    STR_INIT("/.mcpx/config.json") };

	for (size_t i = 0; i < ARRAY_LEN(inner); i++)
		if (str_ends_with(path, inner[i]) && path.n > inner[i].n)
			return str_slice(path, 0, path.n - inner[i].n);
	return directory_of(path);
}

struct str config_resolve(const struct config_loader *l, struct str base, struct str path)
{
	struct str home = environment_get(l->environment, STR("HOME"));

	if (str_starts_with(path, STR("/")))
		return arena_copy(l->arena, path);
	if (str_starts_with(home, STR("/")) && (str_eq(path, STR("~")) || str_starts_with(path, STR("~/"))))
		return arena_concat(l->arena, home, str_from(path, 1), STR(""));
	if (str_eq(path, STR(".")))
		return arena_copy(l->arena, base);
	while (str_starts_with(path, STR("./")))
		path = str_from(path, 2);
	return arena_concat(l->arena, base, str_ends_with(base, STR("/")) ? STR("") : STR("/"), path);
}

struct str config_where(const struct config_file *file, const struct spot *spot, struct arena *arena)
{
	struct spot_position at = spot_find(file->spots, spot);

	return arena_printf(arena, "%s:%u:%u", file->path.p, at.line, at.column);
}

int config_blame(const struct config_file *file, const struct spot *spot, int code, struct err *err)
{
	struct spot_position at;

	if (!err)
		return code;
	at = spot_find(file->spots, spot);
	code = err_prefix(err, code, "%s:%u:%u", file->path.p, at.line, at.column);
	err->line = at.line;
	err->column = at.column;
	return code;
}

/* A text that is too long has no place. */
static int blame_syntax(const struct config_file *file, int code, struct err *err)
{
	if (!err || err->line == 0)
		return err_prefix(err, code, "%s", file->path.p);
	return err_prefix(err, code, "%s:%u:%u", file->path.p, err->line, err->column);
}

int config_check_duplicates(const struct config_file *file, const struct spot *spot,
			    const struct json *object, struct err *err)
{
	struct map seen;
	struct spot at = { spot, 0 };
	const struct json *key, *value;
	int r = 0;

	if (!json_has_duplicates(object))
		return 0;
	map_init(&seen, 0);
	json_for_each_member(key, value, object) {
		if (map_set(&seen, json_str(key), &seen)) {
			r = err_set(err, ERR_INVALID, "%s is given twice here", QUOTE(json_str(key)));
			r = config_blame(file, &at, r, err);
			break;
		}
		at.index++;
	}
	map_release(&seen);
	return r;
}

void config_note_ignored(struct config_loader *l, const struct config_file *file, const struct spot *spot,
			 struct str key, bool unclaimed)
{
	struct config_ignored_node *node = arena_new(l->arena, struct config_ignored_node);
	struct spot_position at = spot_find(file->spots, spot);

	node->key = (struct config_ignored_key){ .file = file->path,
						 .key = arena_copy(l->arena, key),
						 .line = at.line,
						 .column = at.column,
						 .unclaimed = unclaimed };
	*l->ignored_tail = node;
	l->ignored_tail = &node->next;
}

static int parse_file(struct config_file *file, struct err *err)
{
	int r = json_parse_jsonc(&file->doc, file->text, NULL, err);

	if (r < 0)
		return blame_syntax(file, r, err);
	spot_finder_init(file->spots, file->text);
	if (!json_is(json_root(&file->doc), JSON_OBJECT)) {
		r = err_set(err, ERR_INVALID, "a configuration file holds an object: { ... }");
		return config_blame(file, NULL, r, err);
	}
	return 0;
}

/* Where the link at `path` leads to; empty when it is none. */
static struct str link_target(struct str path, struct arena *arena)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path.p, target, sizeof(target));

	if (n <= 0 || (size_t)n == sizeof(target))
		return STR("");
	if (target[0] == '/')
		return arena_copy(arena, str_make(target, (size_t)n));
	return arena_concat(arena, directory_of(path), STR("/"), str_make(target, (size_t)n));
}

/* With symbolic links resolved. Of what is gone, as it would be if it was there: a daemon that has it is
 * known by that. `steps` up or along a link are taken at the most; the path itself when it takes more. */
static struct str real_path(struct str path, unsigned steps, struct arena *arena)
{
	_cleanup_free_ char *real = realpath(path.p, NULL);
	struct str target, directory;

	if (real)
		return arena_copy(arena, str_of(real));
	directory = arena_copy(arena, directory_of(path));
	if (steps == 0 || directory.n <= 1)
		return path;
	target = link_target(path, arena);
	if (target.n > 0)
		return real_path(target, steps - 1, arena);
	directory = real_path(directory, steps - 1, arena);
	return arena_concat(arena, directory, STR("/"), str_from(path, str_find_last_char(path, '/') + 1));
}

static int read_contents(const struct config_loader *l, struct config_file *file, struct err *err)
{
	int r;

	/* The stamp first: a change between the two is noticed as a change later, and not missed. */
	if (!config_stamp_of(file->path, &file->stamp))
		return err_errno(err, "cannot read the configuration file %s", file->path.p);
	r = file_read(file->path.p, settings_bytes(l->set, SETTING_PLUMBING_CONFIG_LIMIT), &file->text, err);
	if (r < 0)
		return err_prefix(err, r, "configuration");
	file->hash = hash_str(file->text, 0);
	r = parse_file(file, err);
	if (r < 0)
		config_file_release(file);
	return r;
}

int config_file_failed(const struct config_loader *l, struct config_file *file, int code)
{
	if (!l->lenient)
		return code;
	file->absent = true;
	return 0;
}

int config_file_read(struct config_loader *l, struct str path, struct config_file **ret_file, struct err *err)
{
	struct config_file *file = arena_new(l->arena, struct config_file);
	int r;

	file->spots = arena_new(l->arena, struct spot_finder);
	file->path = arena_copy(l->arena, path);
	file->real = real_path(file->path, STEPS_MAX, l->arena);
	file->base = arena_copy(l->arena, base_of(file->path));
	r = read_contents(l, file, err);
	if (r < 0)
		r = config_file_failed(l, file, r);
	if (r == 0)
		*ret_file = file;
	return r;
}

void config_file_release(struct config_file *file)
{
	json_release(&file->doc);
	free((char *)file->text.p);
	file->text = (struct str){ NULL, 0 };
}

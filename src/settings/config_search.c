/*
 * The search is a list of candidates, nearest first, that is walked once. A file in one of the default places
 * may decide with paths.config what comes after it: its list replaces the rest of the walk, and a null in it
 * stands for that rest. The list of a file that only another list brought in has no effect, so the walk ends.
 */
#include "base/base.h"
#include "settings/config_private.h"

#include <sys/stat.h>

struct candidate {
	struct str path;
	struct str named_by; /* empty: a default place */
	struct candidate *next;
};

struct search {
	struct config_loader *l;
	struct candidate *first;
	struct str *governors; /* files whose paths.config was followed: naming one again would never end */
	size_t governor_count, governor_room;
};

static const struct str file_names[] = { STR_INIT(".config/mcpx/config.json"), STR_INIT(".mcpx.json"),
					 STR_INIT(".mcpx/config.json"), STR_INIT(".mcp.json") };

static struct candidate **append(struct config_loader *l, struct candidate **tail, struct str path,
				 struct str named_by)
{
	struct candidate *candidate = arena_new(l->arena, struct candidate);

	candidate->path = path;
	candidate->named_by = named_by;
	*tail = candidate;
	return &candidate->next;
}

static struct candidate **append_directory(struct config_loader *l, struct candidate **tail,
					   struct str directory, struct str named_by)
{
	for (size_t i = 0; i < ARRAY_LEN(file_names); i++)
		tail = append(l, tail, config_resolve(l, directory, file_names[i]), named_by);
	return tail;
}

static struct candidate *default_places(struct config_loader *l)
{
	struct str xdg = environment_get(l->environment, STR("XDG_CONFIG_HOME"));
	struct str home = environment_get(l->environment, STR("HOME"));
	struct str nobody = STR(""), directory = l->cwd;
	struct candidate *first = NULL, **tail = &first;

	for (;;) {
		tail = append_directory(l, tail, directory.n > 0 ? directory : STR("/"), nobody);
		if (directory.n <= 1)
			break;
		directory = str_slice(directory, 0, str_find_last_char(directory, '/'));
	}
	/* The XDG specification has a relative one ignored, and so is a relative home: each would be another
	 * place in each working directory. */
	if (str_starts_with(xdg, STR("/")))
		tail = append(l, tail, config_resolve(l, xdg, STR("mcpx/config.json")), nobody);
	if (str_starts_with(home, STR("/"))) {
		tail = append(l, tail, config_resolve(l, home, STR(".config/mcpx/config.json")), nobody);
		tail = append(l, tail, config_resolve(l, home, STR(".mcpx.json")), nobody);
	}
	append(l, tail, STR("/etc/mcpx/config.json"), nobody);
	return first;
}

static bool is_directory(struct str path)
{
	struct stat st;

	return stat(path.p, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The candidates that a paths.config list stands for, with `rest` in the place of its first null. */
static struct candidate *follow_list(struct config_loader *l, struct setting_items list, struct str base,
				     struct str named_by, struct candidate *rest)
{
	struct candidate *first = NULL, **tail = &first;

	for (size_t i = 0; i < list.count; i++) {
		struct str path;

		if (!list.items[i].p) {
			*tail = rest;
			rest = NULL;
			while (*tail)
				tail = &(*tail)->next;
			continue;
		}
		path = config_resolve(l, base, list.items[i]);
		tail = is_directory(path) ? append_directory(l, tail, path, named_by)
					  : append(l, tail, path, named_by);
	}
	return first;
}

static void note_source(struct config_loader *l, const struct candidate *candidate,
			const struct config_file *file, bool seen, struct str note)
{
	struct config_source_node *node = arena_new(l->arena, struct config_source_node);

	node->source = (struct config_source){ .path = candidate->path,
					       .real = file ? file->real : STR(""),
					       .named_by = candidate->named_by,
					       .note = note,
					       .loaded = file != NULL,
					       .seen = seen };
	*l->source_tail = node;
	l->source_tail = &node->next;
}

static const struct config_file *loaded_already(const struct config_loader *l, const struct stat *st)
{
	for (const struct config_file *file = l->contents->files; file; file = file->next)
		if (file->stamp.device == (uint64_t)st->st_dev && file->stamp.inode == (uint64_t)st->st_ino)
			return file;
	return NULL;
}

/*
 * Whether the file is to be read. One that was come upon by walking up must be ours or root's: a file that
 * somebody else can put into a directory above us, such as /tmp, names programs that we would run.
 */
static bool worth_reading(struct config_loader *l, const struct candidate *candidate)
{
	const struct config_file *again;
	struct stat st;

	if (stat(candidate->path.p, &st) < 0) {
		note_source(l, candidate, NULL, false,
			    candidate->named_by.n > 0 ? STR("does not exist") : STR(""));
		return false;
	}
	again = loaded_already(l, &st);
	if (again) {
		if (!str_eq(again->path, candidate->path))
			note_source(l, candidate, NULL, true,
				    arena_printf(l->arena, "is %s, which was read already", again->path.p));
		return false;
	}
	if (candidate->named_by.n == 0 && st.st_uid != geteuid() && st.st_uid != 0) {
		note_source(l, candidate, NULL, true,
			    STR("not read: it belongs to another user; name it with --config to read it"));
		return false;
	}
	return true;
}

/* Which member of `object` is named `key`; its value in *ret_value. STR_NONE when there is none. */
static size_t member_index(const struct json *object, struct str key, const struct json **ret_value)
{
	const struct json *name, *value;
	size_t index = 0;

	json_for_each_member(name, value, object) {
		if (str_eq(json_str(name), key)) {
			*ret_value = value;
			return index;
		}
		index++;
	}
	return STR_NONE;
}

/* ERR_INVALID when the list of `file` names itself or a file whose list led to it. */
static int check_cycle(struct search *s, const struct config_file *file, struct setting_items list,
		       struct err *err)
{
	for (size_t i = 0; i < list.count; i++) {
		struct config_stamp named, governor;

		if (!list.items[i].p ||
		    !config_stamp_of(config_resolve(s->l, file->base, list.items[i]), &named))
			continue;
		for (size_t g = 0; g < s->governor_count; g++)
			if (config_stamp_of(s->governors[g], &governor) &&
			    config_stamp_same(&named, &governor))
				return err_set(
					err, ERR_INVALID,
					"paths.config leads in a circle: it names %.*s, which led here",
					STR_ARG(list.items[i]));
	}
	return 0;
}

static void add_governor(struct search *s, struct str path)
{
	if (s->governor_count == s->governor_room) {
		size_t room = s->governor_room * 2 + 8;
		struct str *governors = arena_array(s->l->arena, struct str, room);

		if (s->governor_count > 0)
			memcpy(governors, s->governors, s->governor_count * sizeof(*governors));
		s->governors = governors;
		s->governor_room = room;
	}
	s->governors[s->governor_count++] = path;
}

/* Lets the paths.config at `spot` of a file that was just read decide what comes after it. */
static int apply_list(struct search *s, struct candidate *candidate, const struct config_file *file,
		      const struct spot *spot, const struct json *value, struct err *err)
{
	struct setting_value list;
	int r = config_setting_value(s->l, file, spot, SETTING_PATHS_CONFIG, value, &list, err);

	if (r < 0)
		return r;
	add_governor(s, file->path);
	r = check_cycle(s, file, list.u.items, err);
	if (r < 0)
		return config_blame(file, spot, r, err);
	candidate->next = follow_list(s->l, list.u.items, file->base, file->path, candidate->next);
	return 0;
}

/* Looks for a paths.config; *ret_note says when it has no effect. */
static int consider_list(struct search *s, struct candidate *candidate, const struct config_file *file,
			 struct str *ret_note, struct err *err)
{
	const struct json *paths, *value;
	struct spot outer = { NULL, member_index(json_root(&file->doc), STR("paths"), &paths) };
	struct spot inner = { &outer, STR_NONE };

	*ret_note = STR("");
	if (outer.index != STR_NONE)
		inner.index = member_index(paths, STR("config"), &value);
	if (inner.index == STR_NONE)
		return 0;
	if (candidate->named_by.n == 0)
		return apply_list(s, candidate, file, &inner, value, err);
	*ret_note =
		arena_printf(s->l->arena, "its paths.config has no effect, because %s brought the file in",
			     candidate->named_by.p);
	return 0;
}

static int visit(struct search *s, struct candidate *candidate, struct err *err)
{
	struct config_loader *l = s->l;
	struct config_file *file;
	struct str note;
	int r;

	if (!worth_reading(l, candidate))
		return 0;
	r = config_file_read(l, candidate->path, &file, err);
	if (r < 0)
		return r;
	*l->file_tail = file;
	l->file_tail = &file->next;
	r = consider_list(s, candidate, file, &note, err);
	if (r < 0)
		r = config_file_failed(l, file, r);
	if (r < 0)
		return r;
	note_source(l, candidate, file, true, note);
	return 0;
}

/* Exactly the file that --config or MCPX_CONFIG names. */
static int search_one(struct config_loader *l, const struct setting_layer *named, struct err *err)
{
	struct candidate candidate = { .path = config_resolve(l, l->cwd, named->value.text),
				       .named_by = arena_copy(l->arena, named->origin) };
	struct config_file *file;
	int r = config_file_read(l, candidate.path, &file, err);

	if (r < 0)
		return r;
	*l->file_tail = file;
	l->file_tail = &file->next;
	note_source(l, &candidate, file, true, STR(""));
	return 0;
}

int config_search(struct config_loader *l, struct err *err)
{
	const struct setting_layer *one = settings_top(l->set, SETTING_PATHS_CONFIG_FILE);
	const struct setting_layer *list = settings_top(l->set, SETTING_PATHS_CONFIG);
	struct search s = { .l = l };

	if (one->value.text.n > 0)
		return search_one(l, one, err);
	s.first = default_places(l);
	if (list->source > SETTING_FROM_FILE)
		s.first = follow_list(l, list->value.u.items, l->cwd, arena_copy(l->arena, list->origin),
				      s.first);
	for (struct candidate *candidate = s.first; candidate; candidate = candidate->next) {
		int r = visit(&s, candidate, err);

		if (r < 0)
			return r;
	}
	return 0;
}

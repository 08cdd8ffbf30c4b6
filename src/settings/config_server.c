/* One entry of mcpServers. Its first mistake ends the reading of the entry, and of nothing else. */
#include "base/base.h"
#include "settings/config_private.h"

#include "base/quote.h"

/* An entry while it is read. */
struct entry {
	struct config_loader *l;
	const struct config_file *file;
	struct config_server *server;
	struct config_block *block;
	struct spot field, part; /* where we are: a field of the entry; an element or member of that field */
	struct str member;	 /* the name of that member */
	const struct spot *blamed; /* the place of an error; NULL when the message says it already */
	bool has_command, has_url, has_cwd, has_transport, has_others;
	bool off; /* the entry says so in the words of other programs */
};

static int read_string(struct entry *e, const struct json *value, struct str *ret_text, struct err *err)
{
	if (!json_is(value, JSON_STRING))
		return err_set(err, ERR_INVALID, "expected a string");
	return expand(&e->l->expander, json_str(value), ret_text, err);
}

static int read_command(struct entry *e, const struct json *value, struct err *err)
{
	struct str *command = &e->server->process.command;
	int r = read_string(e, value, command, err);

	if (r < 0)
		return r;
	if (command->n == 0)
		return err_set(err, ERR_INVALID, "must not be empty");
	if (str_find_char(*command, '/') != STR_NONE)
		*command = config_resolve(e->l, e->file->base, *command);
	e->has_command = true;
	return 0;
}

static int read_args(struct entry *e, const struct json *value, struct err *err)
{
	struct str *items = arena_array(e->l->arena, struct str, json_count(value) + 1);
	const struct json *item;

	if (!json_is(value, JSON_ARRAY))
		return err_set(err, ERR_INVALID, "expected an array of strings");
	e->part.index = 0;
	json_for_each(item, value) {
		int r;

		e->blamed = &e->part;
		r = read_string(e, item, &items[e->part.index], err);
		if (r < 0)
			return r;
		e->part.index++;
	}
	e->server->process.args = (struct setting_items){ items, e->part.index };
	e->has_others = true;
	return 0;
}

/* An object of strings. With `pass`, a member whose value is empty is left out: what we have passes through
 * to the child anyway. */
static int read_variables(struct entry *e, const struct json *value, bool pass,
			  const struct variable **ret_variables, size_t *ret_count, struct err *err)
{
	struct variable *variables = arena_array(e->l->arena, struct variable, json_count(value) + 1);
	const struct json *name, *text;
	size_t count = 0;

	if (!json_is(value, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "expected an object of strings");
	e->part.index = 0;
	json_for_each_member(name, text, value) {
		struct str key = json_str(name);
		int r;

		e->blamed = &e->part;
		e->member = key;
		if (key.n == 0 || str_find_char(key, '=') != STR_NONE || memchr(key.p, '\0', key.n))
			return err_set(err, ERR_INVALID, "this cannot be a name");
		r = read_string(e, text, &variables[count].value, err);
		if (r < 0)
			return r;
		variables[count].name = arena_copy(e->l->arena, key);
		count += !(pass && json_str(text).n == 0);
		e->part.index++;
	}
	*ret_variables = variables;
	*ret_count = count;
	e->has_others = true;
	return 0;
}

static int read_env(struct entry *e, const struct json *value, struct err *err)
{
	return read_variables(e, value, true, &e->server->process.env, &e->server->process.env_count, err);
}

static int read_headers(struct entry *e, const struct json *value, struct err *err)
{
	return read_variables(e, value, false, &e->server->process.headers, &e->server->process.header_count,
			      err);
}

static int read_cwd(struct entry *e, const struct json *value, struct err *err)
{
	struct str cwd;
	int r = read_string(e, value, &cwd, err);

	if (r < 0)
		return r;
	e->server->process.cwd = config_resolve(e->l, e->file->base, cwd.n > 0 ? cwd : STR("."));
	e->has_cwd = true;
	return 0;
}

static int read_url(struct entry *e, const struct json *value, struct err *err)
{
	e->has_url = true;
	return read_string(e, value, &e->server->process.url, err);
}

static int read_transport(struct entry *e, const struct json *value, struct err *err)
{
	static const struct str words[] = { [CONFIG_STDIO] = STR_INIT("stdio"),
					    [CONFIG_HTTP] = STR_INIT("http"),
					    [CONFIG_SSE] = STR_INIT("sse") };

	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (json_is(value, JSON_STRING) && str_eq(json_str(value), words[i])) {
			e->server->process.transport = (enum config_transport)i;
			e->has_transport = true;
			return 0;
		}
	return err_set(err, ERR_INVALID, "expected stdio, http or sse");
}

/* How a remote server is authenticated to: read with remote servers, which this version refuses as such. */
static int read_auth(struct entry *e, const struct json *value, struct err *err)
{
	e->has_others = true;
	return json_is(value, JSON_OBJECT) ? 0 : err_set(err, ERR_INVALID, "expected an object");
}

static int read_protocol(struct entry *e, const struct json *value, struct err *err)
{
	struct setting_value protocol;
	int r = setting_value_from_json(&protocol, &setting_declarations[SETTING_UPSTREAM_PROTOCOL], value,
					e->l->arena, err);

	if (r == 0)
		e->server->protocol = (int)protocol.u.choice;
	return r;
}

static int read_alias(struct entry *e, const struct json *value, struct err *err)
{
	int r = read_string(e, value, &e->server->alias_of, err);

	if (r == 0 && e->server->alias_of.n == 0)
		return err_set(err, ERR_INVALID, "must not be empty");
	return r;
}

static struct str path_of(const struct entry *e, struct str key)
{
	struct str path = arena_concat(e->l->arena, STR("mcpServers."), e->server->name, STR("."));

	return arena_concat(e->l->arena, path, key, STR(""));
}

static int read_block(struct entry *e, const struct json *value, struct err *err)
{
	int r;

	if (!json_is(value, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "expected an object");
	e->blamed = NULL;
	r = config_check_duplicates(e->file, &e->field, value, err);
	if (r < 0)
		return r;
	e->part.index = 0;
	e->blamed = &e->part;
	return config_block_read(e->l, e->block, e->file, path_of(e, STR("mcpx")), &e->part, value, err);
}

static int read_truth(const struct json *value, bool *ret_truth, struct err *err)
{
	if (!json_is(value, JSON_TRUE) && !json_is(value, JSON_FALSE))
		return err_set(err, ERR_INVALID, "expected true or false");
	*ret_truth = json_is(value, JSON_TRUE);
	return 0;
}

/* Other programs that read the same file switch a server off by one of these. */
static int read_disabled(struct entry *e, const struct json *value, struct err *err)
{
	return read_truth(value, &e->off, err);
}

static int read_enabled(struct entry *e, const struct json *value, struct err *err)
{
	bool on = true;
	int r = read_truth(value, &on, err);

	if (r == 0)
		e->off = !on;
	return r;
}

static const struct entry_field {
	struct str name;
	int (*read)(struct entry *e, const struct json *value, struct err *err);
} fields[] = {
	{ STR_INIT("command"), read_command },
	{ STR_INIT("args"), read_args },
	{ STR_INIT("env"), read_env },
	{ STR_INIT("cwd"), read_cwd },
	{ STR_INIT("url"), read_url },
	{ STR_INIT("headers"), read_headers },
	{ STR_INIT("transport"), read_transport },
	{ STR_INIT("auth"), read_auth },
	{ STR_INIT("protocol"), read_protocol },
	{ STR_INIT("aliasOf"), read_alias },
	{ STR_INIT("disabled"), read_disabled },
	{ STR_INIT("enabled"), read_enabled },
	{ STR_INIT("mcpx"), read_block },
};

/* A key of the entry that is not ours, such as type or alwaysAllow, belongs to another program that reads the
 * same file. */
static void note_foreign(struct entry *e, struct str key)
{
	config_note_ignored(e->l, e->file, &e->field, path_of(e, key), true);
}

static int read_field(struct entry *e, struct str key, const struct json *value, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		int r;

		if (!str_eq(fields[i].name, key))
			continue;
		e->blamed = &e->field;
		e->member = STR("");
		r = fields[i].read(e, value, err);
		/* A block says itself which of its fields is wrong. */
		if (r < 0 && e->blamed != NULL && !(fields[i].read == read_block && e->blamed == &e->part))
			return err_prefix(err, r, "%.*s%s%.*s", STR_ARG(key), e->member.n > 0 ? "." : "",
					  STR_ARG(e->member));
		return r;
	}
	note_foreign(e, key);
	return 0;
}

/* What the fields must be together. */
static int check_together(struct entry *e, struct err *err)
{
	struct config_process *process = &e->server->process;
	bool own = e->has_command || e->has_url || e->has_cwd || e->has_transport || e->has_others;

	if (e->server->alias_of.n > 0)
		return own ? err_set(err, ERR_INVALID,
				     "aliasOf takes the process of another server: leave out what describes one")
			   : 0;
	if (!e->has_command && !e->has_url)
		return err_set(err, ERR_INVALID, "needs command, url or aliasOf");
	if (e->has_command && e->has_url)
		return err_set(err, ERR_INVALID, "has both command and url: leave out one");
	if (e->has_transport && e->has_command != (process->transport == CONFIG_STDIO))
		return err_set(err, ERR_INVALID,
			       "its transport does not fit: stdio needs command, http and sse need url");
	if (e->has_url && !e->has_transport)
		process->transport = CONFIG_HTTP;
	if (!e->has_cwd)
		process->cwd = e->file->base;
	if (e->has_url)
		return err_set(
			err, ERR_UNSUPPORTED,
			"remote servers (url) are not part of this version yet: start it with command");
	return 0;
}

/* `off` is what the entry says outside of its block, which knows better. */
static void take_block(struct config_server *server, const struct config_block *block, bool off)
{
	server->block = block;
	server->disabled = block->given[FIELD_DISABLED] ? block->values[FIELD_DISABLED].u.truth : off;
	server->description = block->values[FIELD_DESCRIPTION].text;
	server->prelude = block->values[FIELD_PRELUDE].text;
	if (block->given[FIELD_REQUIRES_SECRETS])
		server->secrets = block->values[FIELD_REQUIRES_SECRETS].u.items;
}

static int read_entry(struct entry *e, const struct spot *spot, const struct json *entry, struct err *err)
{
	const struct json *key, *value;
	int r;

	e->blamed = spot;
	if (e->server->name.n == 0)
		return err_set(err, ERR_INVALID, "a server needs a name");
	if (!json_is(entry, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "expected an object");
	e->blamed = NULL;
	r = config_check_duplicates(e->file, spot, entry, err);
	if (r < 0)
		return r;
	json_for_each_member(key, value, entry) {
		r = read_field(e, json_str(key), value, err);
		if (r < 0)
			return r;
		e->field.index++;
	}
	e->blamed = spot;
	take_block(e->server, e->block, e->off);
	/* One that is off may be nothing but that: it takes away what a farther file defines. */
	if (e->server->disabled)
		return 0;
	return check_together(e, err);
}

static struct config_server_node *add_server(struct config_loader *l, const struct config_file *file,
					     const struct spot *spot, struct str name)
{
	struct config_server_node *node = arena_new(l->arena, struct config_server_node);
	struct spot_position at = spot_find(file->spots, spot);

	node->server = (struct config_server){ .name = arena_copy(l->arena, name),
					       .file = file->path,
					       .line = at.line,
					       .column = at.column,
					       .protocol = -1,
					       .block = &node->block };
	*l->server_tail = node;
	l->server_tail = &node->next;
	map_set(&l->names, name, node);
	return node;
}

void config_server_read(struct config_loader *l, const struct config_file *file, const struct spot *spot,
			const struct json *name, const struct json *entry)
{
	struct config_server_node *node;
	struct entry e;
	struct err *err;
	int r;

	if (map_get(&l->names, json_str(name)))
		return; /* a nearer file has it */
	node = add_server(l, file, spot, json_str(name));
	e = (struct entry){ .l = l, .file = file, .server = &node->server, .block = &node->block };
	e.field.within = spot;
	e.part.within = &e.field;
	err = arena_new(l->arena, struct err);
	r = read_entry(&e, spot, entry, err);
	if (r == 0)
		return;
	take_block(e.server, e.block, e.off);
	if (e.blamed) {
		r = err_prefix(err, r, "server %s", QUOTE(json_str(name)));
		config_blame(file, e.blamed, r, err);
	}
	e.server->error = err;
}

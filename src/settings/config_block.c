#include "base/base.h"
#include "settings/config_private.h"

#include "base/quote.h"
#include "text/identifier.h"
#include "text/nearest.h"
#include "text/pattern.h"

/* How the fields that are no settings are read. */
static const struct setting_declaration text_field = { .kind = SETTING_KIND_STRING };
static const struct setting_declaration list_field = { .kind = SETTING_KIND_LIST };
static const struct setting_declaration truth_field = { .kind = SETTING_KIND_BOOL };

enum field_form {
	FORM_PLAIN,
	FORM_NAMESPACE,
	FORM_PATTERNS,
	FORM_PRECONDITIONS,
	FORM_IDLE, /* this version does not act on it, and nothing depends on that */
	FORM_RULES /* what the user must not believe to be in force: refused until it is */
};

static const struct field_rule {
	struct str name;
	const struct setting_declaration *declaration;
	enum field_form form;
	bool in_pool; /* may stand in the pool block too, beside the settings, which may anyway */
} rules[FIELD_COUNT] = {
	[FIELD_SHARING] = { STR_INIT("sharing"), &setting_declarations[SETTING_POOL_SHARING], FORM_PLAIN,
			    false },
	[FIELD_SCOPE] = { STR_INIT("scope"), &setting_declarations[SETTING_POOL_SCOPE], FORM_PLAIN, false },
	[FIELD_MAX] = { STR_INIT("max"), &setting_declarations[SETTING_POOL_MAX], FORM_PLAIN, false },
	[FIELD_MIN] = { STR_INIT("min"), &setting_declarations[SETTING_POOL_MIN], FORM_PLAIN, false },
	[FIELD_IDLE_TIMEOUT] = { STR_INIT("idleTimeout"), &setting_declarations[SETTING_POOL_IDLE_TIMEOUT],
				 FORM_PLAIN, false },
	[FIELD_CALL_TIMEOUT] = { STR_INIT("callTimeout"), &setting_declarations[SETTING_POOL_CALL_TIMEOUT],
				 FORM_PLAIN, false },
	[FIELD_START_TIMEOUT] = { STR_INIT("startTimeout"), &setting_declarations[SETTING_POOL_START_TIMEOUT],
				  FORM_PLAIN, false },
	[FIELD_NAMESPACE] = { STR_INIT("namespace"), &text_field, FORM_NAMESPACE, false },
	[FIELD_DISABLED] = { STR_INIT("disabled"), &truth_field, FORM_PLAIN, false },
	[FIELD_DESCRIPTION] = { STR_INIT("description"), &text_field, FORM_PLAIN, false },
	[FIELD_PRELUDE] = { STR_INIT("prelude"), &text_field, FORM_PLAIN, false },
	[FIELD_TOOLS] = { STR_INIT("tools"), &list_field, FORM_PATTERNS, true },
	[FIELD_EXTRA_INCLUDE_TOOLS] = { STR_INIT("extraIncludeTools"), &list_field, FORM_PATTERNS, true },
	[FIELD_EXCLUDE_TOOLS] = { STR_INIT("excludeTools"), &list_field, FORM_PATTERNS, true },
	[FIELD_WRITE_POLICY] = { STR_INIT("writePolicy"), &text_field, FORM_RULES, true },
	[FIELD_ARGUMENT_RULES] = { STR_INIT("argumentRules"), &text_field, FORM_RULES, true },
	[FIELD_REQUIRES_SECRETS] = { STR_INIT("requiresSecrets"), &list_field, FORM_PLAIN, false },
	[FIELD_REQUIRES_SERVERS] = { STR_INIT("requiresServers"), &list_field, FORM_PLAIN, false },
	[FIELD_PRECONDITIONS] = { STR_INIT("preconditions"), &text_field, FORM_PRECONDITIONS, false },
	[FIELD_PROFILES] = { STR_INIT("profiles"), &list_field, FORM_IDLE, false },
	[FIELD_DEFAULT] = { STR_INIT("default"), &truth_field, FORM_PLAIN, true },
	[FIELD_LOGGING] = { STR_INIT("logging"), &text_field, FORM_IDLE, false },
};

static bool find_field(struct str name, enum config_field *ret_field)
{
	for (unsigned i = 0; i < FIELD_COUNT; i++)
		if (str_eq(rules[i].name, name)) {
			*ret_field = (enum config_field)i;
			return true;
		}
	return false;
}

static int check_namespace(struct str text, struct err *err)
{
	if (!identifier_well_formed(text))
		return err_set(err, ERR_INVALID,
			       "%s is no identifier: use letters, digits and _, with no digit in front",
			       QUOTE(text));
	if (identifier_reserved(text, IDENTIFIER_NAMESPACE))
		return err_set(err, ERR_INVALID, "%s is reserved in scripts: choose another name",
			       QUOTE(text));
	return 0;
}

static int check_patterns(struct setting_items patterns, struct err *err)
{
	struct pattern pattern;

	for (size_t i = 0; i < patterns.count; i++) {
		int r = pattern_parse(patterns.items[i], &pattern, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int read_precondition(struct config_loader *l, struct config_precondition *precondition,
			     struct str tools, struct str key, const struct json *needed, struct err *err)
{
	struct setting_value name;
	int r;

	precondition->tools = arena_copy(l->arena, tools);
	precondition->server = str_eq(key, STR("requiresServer"));
	if (!precondition->server && !str_eq(key, STR("requiresSecret")))
		return err_set(err, ERR_INVALID,
			       "%s: unknown key %s; it may hold requiresSecret and requiresServer",
			       QUOTE(tools), QUOTE(key));
	r = config_value(l, &text_field, needed, &name, err);
	if (r == 0 && name.text.n == 0)
		r = err_set(err, ERR_INVALID, "it names nothing");
	if (r < 0)
		return err_prefix(err, r, "%s: %.*s", QUOTE(tools), STR_ARG(key));
	precondition->needed = name.text;
	return 0;
}

/* {"delete_*": {"requiresSecret": "ADMIN_TOKEN", "requiresServer": "audit"}} */
static int read_preconditions(struct config_loader *l, struct config_block *block, const struct json *object,
			      struct err *err)
{
	struct config_precondition *list;
	const struct json *tools, *needs, *key, *needed;
	struct pattern pattern;
	size_t count = 0;
	int r;

	if (!json_is(object, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "expected an object of tools and what each of them needs");
	json_for_each_member(tools, needs, object)
		count += json_count(needs);
	list = arena_array(l->arena, struct config_precondition, count + 1);
	count = 0;
	json_for_each_member(tools, needs, object) {
		r = pattern_parse(json_str(tools), &pattern, err);
		if (r < 0)
			return r;
		if (!json_is(needs, JSON_OBJECT))
			return err_set(err, ERR_INVALID,
				       "%s: expected an object with requiresSecret or requiresServer",
				       QUOTE(json_str(tools)));
		json_for_each_member(key, needed, needs) {
			r = read_precondition(l, &list[count++], json_str(tools), json_str(key), needed, err);
			if (r < 0)
				return r;
		}
	}
	block->preconditions = list;
	block->precondition_count = count;
	return 0;
}

static int read_field(struct config_loader *l, enum config_field field, struct setting_value *value,
		      const struct json *json, struct err *err)
{
	const struct field_rule *rule = &rules[field];
	int r;

	if (rule->form == FORM_RULES)
		return err_set(
			err, ERR_UNSUPPORTED,
			"this version does not enforce it, and will not run what it should guard: remove it, "
			"and hide tools with excludeTools where that is enough");
	if (rule->form == FORM_IDLE)
		return 0;
	r = config_value(l, rule->declaration, json, value, err);
	if (r == 0 && rule->form == FORM_NAMESPACE)
		r = check_namespace(value->text, err);
	if (r == 0 && rule->form == FORM_PATTERNS)
		r = check_patterns(value->u.items, err);
	return r;
}

/* Whether this version does what the key asks for. */
static bool field_works(unsigned field)
{
	return rules[field].form != FORM_RULES && rules[field].form != FORM_IDLE;
}

static int unknown_field(struct config_loader *l, struct str name, struct err *err)
{
	struct str all = STR("");
	struct nearest nearest;

	nearest_init(&nearest, name);
	for (unsigned i = 0; i < FIELD_COUNT; i++)
		if (field_works(i)) {
			nearest_consider(&nearest, rules[i].name);
			all = arena_concat(l->arena, all, all.n ? STR(", ") : STR(""), rules[i].name);
		}
	if (nearest.best.n)
		return err_set(err, ERR_INVALID, "mcpx: unknown key %s; did you mean %.*s?", QUOTE(name),
			       STR_ARG(nearest.best));
	return err_set(err, ERR_INVALID, "mcpx: unknown key %s; it may hold %.*s", QUOTE(name), STR_ARG(all));
}

int config_block_read(struct config_loader *l, struct config_block *block, const struct config_file *file,
		      struct str path, struct spot *at, const struct json *object, struct err *err)
{
	const struct json *key, *value;
	enum config_field field;
	int r;

	json_for_each_member(key, value, object) {
		if (!find_field(json_str(key), &field))
			return unknown_field(l, json_str(key), err);
		r = rules[field].form == FORM_PRECONDITIONS
			    ? read_preconditions(l, block, value, err)
			    : read_field(l, field, &block->values[field], value, err);
		if (r < 0)
			return err_prefix(err, r, "mcpx.%s", rules[field].name.p);
		if (rules[field].form == FORM_IDLE)
			config_note_ignored(l, file, at,
					    arena_concat(l->arena, path, STR("."), json_str(key)), false);
		block->given[field] = true;
		at->index++;
	}
	return 0;
}

/* Files come nearest first: the first value stays. extraIncludeTools add up, and an empty list of tools is
 * none. */
static void pool_merge(struct config_loader *l, enum config_field field, const struct setting_value *value)
{
	struct config_block *pool = &l->contents->pool;

	if (field == FIELD_EXTRA_INCLUDE_TOOLS && pool->given[field])
		pool->values[field].u.items =
			setting_items_join(pool->values[field].u.items, value->u.items, l->arena);
	if (pool->given[field] || (rules[field].form == FORM_PATTERNS && value->u.items.count == 0))
		return;
	pool->values[field] = *value;
	pool->given[field] = true;
}

int config_pool_field(struct config_loader *l, struct str key, const struct json *value, bool *ret_known,
		      struct err *err)
{
	struct setting_value read;
	enum config_field field;
	int r;

	*ret_known = find_field(key, &field) && rules[field].in_pool;
	if (!*ret_known)
		return 0;
	r = read_field(l, field, &read, value, err);
	if (r < 0)
		return r;
	pool_merge(l, field, &read);
	return 0;
}

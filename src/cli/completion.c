/*
 * The words before the cursor are read as arguments.c reads them, but nothing is wrong with them: what cannot
 * be understood is passed over. What is left is the place of the cursor, and a place has one kind of
 * candidates.
 */
#include "base/base.h"
#include "cli/completion.h"

#include "cli/completion_private.h"
#include "cli/display.h"
#include "cli/script.h"

enum {
	ROOM_FIRST = 64,	 /* candidates that the list has room for at first */
	NOTE_COLUMNS = 100,	 /* of a description: shells show one line */
	DISPLAYED_MAX = 64 << 10 /* bytes of a text from outside that are made fit to be shown */
};

/* -- candidates ------------------------------------------------------------------------------------------ */

/* Whether `text` can be shown, and typed, as it is. */
static bool is_plain(struct str text)
{
	_cleanup_buf_ struct buf shown = { 0 };

	buf_init(&shown, DISPLAYED_MAX);
	display_line(&shown, text);
	return text.n > 0 && !buf_failed(&shown) && str_eq(buf_str(&shown), text);
}

static struct str note_line(struct arena *arena, struct str note)
{
	_cleanup_buf_ struct buf shown = { 0 };

	buf_init(&shown, DISPLAYED_MAX);
	display_line(&shown, display_first_sentence(note));
	if (buf_failed(&shown))
		return str_make(NULL, 0);
	return arena_copy(arena, display_cut(buf_str(&shown), NOTE_COLUMNS));
}

static struct candidate *candidates_push(struct candidates *candidates, struct arena *arena)
{
	if (candidates->count == candidates->room) {
		size_t room = candidates->room ? 2 * candidates->room : ROOM_FIRST;
		struct candidate *items = arena_array(arena, struct candidate, room);

		if (candidates->count)
			memcpy(items, candidates->items, candidates->count * sizeof(*items));
		candidates->items = items;
		candidates->room = room;
	}
	return &candidates->items[candidates->count++];
}

static void add(struct completion *completion, struct str text, struct str note, bool open)
{
	struct arena *arena = completion->context->arena;

	if (completion->to->count == CANDIDATES_MAX || !is_plain(text))
		return;
	*candidates_push(completion->to, arena) = (struct candidate){
		.text = arena_concat(arena, completion->head, text, STR("")),
		.note = note_line(arena, note),
		.open = open,
	};
}

void completion_add(struct completion *completion, struct str text, struct str note)
{
	add(completion, text, note, false);
}

void completion_add_open(struct completion *completion, struct str text, struct str note)
{
	add(completion, text, note, true);
}

void completion_expect_file(struct completion *completion)
{
	completion->to->files = true;
	completion->to->files_at = completion->head.n;
}

void completion_advance(struct completion *completion, size_t n)
{
	completion->head = str_slice(completion->line->current, 0, completion->head.n + n);
	completion->text = str_from(completion->text, n);
}

void candidates_narrow(struct candidates *candidates, struct str current)
{
	size_t kept = 0;

	for (size_t i = 0; i < candidates->count; i++)
		if (str_starts_with(candidates->items[i].text, current))
			candidates->items[kept++] = candidates->items[i];
	candidates->count = kept;
}

/* -- the place of the cursor ----------------------------------------------------------------------------- */

static struct str command_words(const struct completion_place *place)
{
	return place->command ? place->command->words : STR("");
}

/* What the flag called `name` is for: an input of the command, else a setting; neither when it is unknown. */
static void find_flag(const struct completion_place *place, struct str name,
		      const struct operation_input **ret_input,
		      const struct setting_declaration **ret_setting)
{
	enum setting setting;

	*ret_input = place->command ? command_find_flag(place->command, name) : NULL;
	*ret_setting = !*ret_input && setting_find_flag(name, command_words(place), &setting)
			       ? setting_declaration(setting)
			       : NULL;
}

static struct str flag_name(struct str word)
{
	return str_from(word, str_starts_with(word, STR("--")) ? 2 : 1);
}

/* A flag that waits for its value, which is the next word, stays in the place. */
static void take_flag(struct completion_place *place, struct str word)
{
	if (str_find_char(word, '=') != STR_NONE)
		return;
	find_flag(place, flag_name(word), &place->input, &place->setting);
	if (place->input && place->input->kind == INPUT_BOOLEAN)
		place->input = NULL;
	if (place->setting && place->setting->kind == SETTING_KIND_BOOL)
		place->setting = NULL;
}

static void take_positional(struct completion_place *place, struct str word, size_t at)
{
	if (place->positionals++ == 0) {
		place->first = word;
		place->after_first = at + 1;
	}
}

/* A word that is neither a command nor a script is taken for a family that has no commands. */
static void take_command_word(struct completion *completion, struct str word, size_t at)
{
	const struct completion_context *context = completion->context;
	struct completion_place *place = &completion->place;
	struct str words =
		place->family.n ? arena_concat(context->arena, place->family, STR(" "), word) : word;
	struct script script;

	place->command = command_find(words);
	if (place->command)
		return;
	if (!place->family.n && !command_is_family(word) &&
	    script_find(&script, word, context->environment, context->cwd, context->arena, NULL) > 0) {
		place->command = command_find(STR("run"));
		take_positional(place, word, at);
		return;
	}
	place->family = words;
}

static bool rest_is_passed(const struct completion_place *place)
{
	return place->command && place->command->passes_rest && place->positionals > 0;
}

static void take_word(struct completion *completion, size_t at)
{
	struct completion_place *place = &completion->place;
	struct str word = completion->line->words[at];

	if (place->input || place->setting) { /* its value */
		place->input = NULL;
		place->setting = NULL;
	} else if (rest_is_passed(place)) {
		place->positionals++;
	} else if (!place->flags_ended && str_eq(word, STR("--"))) {
		place->flags_ended = true;
	} else if (!place->flags_ended && word.n > 1 && word.p[0] == '-') {
		take_flag(place, word);
	} else if (!place->command) {
		take_command_word(completion, word, at);
	} else {
		take_positional(place, word, at);
	}
}

static void find_place(struct completion *completion, struct candidates *candidates,
		       const struct completion_line *line, const struct completion_context *context)
{
	*completion = (struct completion){
		.to = candidates, .line = line, .context = context, .text = line->current
	};
	for (size_t i = 0; i < line->count; i++)
		take_word(completion, i);
}

/* -- flags ----------------------------------------------------------------------------------------------- */

/* Flags that are rarely meant are offered only to who typed the beginning of one and of no other. */
enum tier { TIER_USUAL, TIER_RARE };

static bool has_text(const struct candidates *candidates, struct str text)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (str_eq(candidates->items[i].text, text))
			return true;
	return false;
}

static void add_flag(struct completion *completion, struct str name, struct str note)
{
	struct str dashes = name.n == 1 ? STR("-") : STR("--");
	struct str text = arena_concat(completion->context->arena, dashes, name, STR(""));

	/* One letter is quicker typed than chosen. */
	if (name.n == 1 && !str_eq(completion->text, STR("-")))
		return;
	if (!has_text(completion->to, text))
		completion_add(completion, text, note);
}

static void add_flag_and_negation(struct completion *completion, struct str name, bool is_boolean,
				  struct str note)
{
	add_flag(completion, name, note);
	if (is_boolean && str_starts_with(completion->text, STR("--no")))
		add_flag(completion, arena_concat(completion->context->arena, STR("no-"), name, STR("")),
			 note);
}

static void add_own_flags(struct completion *completion, const struct command *command)
{
	char storage[COMMAND_FLAG_MAX];

	for (size_t i = 0; i < command->input_count; i++) {
		const struct operation_input *input = &command->inputs[i];

		if (input->command != INPUT_FLAG)
			continue;
		add_flag_and_negation(completion, command_flag_text(storage, input->name),
				      input->kind == INPUT_BOOLEAN, input->description);
		for (size_t k = 0; k < ARRAY_LEN(input->aliases); k++)
			if (input->aliases[k].n == 1)
				add_flag(completion, input->aliases[k], input->description);
	}
}

/* Whether this spelling, on this command, means this setting and not something else. */
static bool means(const struct completion_place *place, struct str flag,
		  const struct setting_declaration *setting)
{
	const struct operation_input *input;
	const struct setting_declaration *found;

	find_flag(place, flag, &input, &found);
	return found == setting;
}

/* Of a setting that has a shorter flag here, the long one is rare. */
static void add_setting_flags(struct completion *completion, const struct setting_declaration *setting,
			      enum tier tier)
{
	bool is_boolean = setting->kind == SETTING_KIND_BOOL;
	bool rare = setting->plumbing;

	for (size_t i = 0; i < setting->flag_aliases.count; i++) {
		struct str alias = setting->flag_aliases.words[i];

		if (!means(&completion->place, alias, setting))
			continue;
		rare = true;
		if (tier == TIER_USUAL)
			add_flag_and_negation(completion, alias, is_boolean, setting->text);
	}
	if (rare == (tier == TIER_RARE) && means(&completion->place, setting->flag, setting))
		add_flag_and_negation(completion, setting->flag, is_boolean, setting->text);
}

static bool any_begins_like(const struct candidates *candidates, struct str current)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (str_starts_with(candidates->items[i].text, current))
			return true;
	return false;
}

static void add_flags(struct completion *completion)
{
	const struct command *command = completion->place.command;

	if (command)
		add_own_flags(completion, command);
	for (enum tier tier = TIER_USUAL; tier <= TIER_RARE; tier++) {
		for (unsigned i = 0; i < SETTING_COUNT; i++)
			add_setting_flags(completion, &setting_declarations[i], tier);
		if (tier == TIER_USUAL) {
			add_flag(completion, STR("help"), STR("explain the command"));
			if (!command && !completion->place.family.n)
				add_flag(completion, STR("version"), STR("say which version this is"));
		}
		if (any_begins_like(completion->to, completion->text))
			return;
	}
}

/* -- which kind ------------------------------------------------------------------------------------------ */

static void add_flag_value(struct completion *completion, const struct operation_input *input,
			   const struct setting_declaration *setting)
{
	if (input)
		completion_add_input(completion, input);
	else if (setting)
		completion_add_setting(completion, setting);
}

/* "--flag=value" */
static void add_joined_value(struct completion *completion, size_t equals)
{
	struct str name = flag_name(str_slice(completion->text, 0, equals));
	const struct operation_input *input;
	const struct setting_declaration *setting;

	find_flag(&completion->place, name, &input, &setting);
	completion_advance(completion, equals + 1);
	add_flag_value(completion, input, setting);
}

static bool looks_like_path(struct str text)
{
	return str_find_char(text, '/') != STR_NONE || str_starts_with(text, STR(".")) ||
	       str_starts_with(text, STR("~"));
}

static void add_command_words(struct completion *completion)
{
	if (!completion->place.family.n && looks_like_path(completion->text)) {
		completion_expect_file(completion);
		return;
	}
	completion_add_commands(completion, completion->place.family);
	if (!completion->place.family.n)
		completion_add_scripts(completion);
}

static void add_positional(struct completion *completion)
{
	const struct completion_place *place = &completion->place;
	const struct operation_input *input = command_positional(place->command, place->positionals);

	if (!input)
		input = command_rest(place->command);
	if (input)
		completion_add_input(completion, input);
}

void completion_find(struct candidates *candidates, const struct completion_line *line,
		     const struct completion_context *context)
{
	struct completion completion;
	const struct completion_place *place = &completion.place;
	size_t equals = str_find_char(line->current, '=');

	*candidates = (struct candidates){ 0 };
	find_place(&completion, candidates, line, context);
	if (line->redirects)
		completion_expect_file(&completion);
	else if (place->input || place->setting)
		add_flag_value(&completion, place->input, place->setting);
	else if (rest_is_passed(place) || place->flags_ended || !str_starts_with(line->current, STR("-")))
		place->command ? add_positional(&completion) : add_command_words(&completion);
	else if (equals != STR_NONE)
		add_joined_value(&completion, equals);
	else
		add_flags(&completion);
}

/* -- the flags that were typed --------------------------------------------------------------------------- */

void completion_add_flags(struct settings *set, const struct completion_line *line,
			  const struct completion_context *context)
{
	struct completion completion;
	struct candidates none;
	size_t end = line->count;

	find_place(&completion, &none, line, context);
	if (rest_is_passed(&completion.place))
		end = completion.place.after_first;
	for (size_t i = 0; i < end; i++) {
		const char *word = arena_cstr(context->arena, line->words[i]);
		const char *next = i + 1 < end ? arena_cstr(context->arena, line->words[i + 1]) : NULL;
		unsigned used;

		if (str_eq(line->words[i], STR("--")))
			return;
		if (settings_add_flag(set, command_words(&completion.place), word, next, &used, NULL) > 0)
			i += used - 1;
	}
}

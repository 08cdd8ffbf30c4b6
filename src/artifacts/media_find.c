#include "base/base.h"
#include "artifacts/media.h"
#include "json/json.h"

/*
 * One pass over the text, with a frame for each open object or array that notes where the members lie which
 * make a block. Nothing is built, so a value of many megabytes costs little more than reading it, and what is
 * found are places in the text itself. On text that is no JSON the pass finds nothing sensible, but stays
 * within it.
 */

enum field {
	FIELD_TYPE,
	FIELD_DATA,
	FIELD_MIME,
	FIELD_ANNOTATIONS,
	FIELD_META,
	FIELD_RESOURCE,
	FIELD_URI,
	FIELD_BLOB,
	FIELD_COUNT,
	FIELD_OTHER = FIELD_COUNT
};

static const struct str FIELD_KEYS[FIELD_COUNT] = {
	[FIELD_TYPE] = STR_INIT("type"),     [FIELD_DATA] = STR_INIT("data"),
	[FIELD_MIME] = STR_INIT("mimeType"), [FIELD_ANNOTATIONS] = STR_INIT("annotations"),
	[FIELD_META] = STR_INIT("_meta"),    [FIELD_RESOURCE] = STR_INIT("resource"),
	[FIELD_URI] = STR_INIT("uri"),	     [FIELD_BLOB] = STR_INIT("blob"),
};

/* The raw JSON of an object's own members; the last of several of one name, empty for none. */
struct members {
	struct str raw[FIELD_COUNT];
};

struct frame {
	const char *start;
	bool object;
	bool key_next;
	enum field field; /* of the member whose value comes */
	struct members members;
	struct members resource; /* those of the member "resource" */
};

struct finder {
	const char *at, *end;
	struct arena *arena;
	struct frame *frames;
	size_t depth;
	struct media_block *blocks;
	size_t count, max;
};

/* -- strings --------------------------------------------------------------------------------------------- */

/* The end of the string that begins with the quote at `at`, behind its closing quote; NULL when there is
 * none. */
static const char *string_end(const char *at, const char *end)
{
	const char *from = at + 1;

	for (;;) {
		const char *quote = from < end ? memchr(from, '"', (size_t)(end - from)) : NULL;
		const char *back = quote;

		if (!quote)
			return NULL;
		while (back > at + 1 && back[-1] == '\\')
			back--;
		if ((quote - back) % 2 == 0)
			return quote + 1;
		from = quote + 1;
	}
}

static bool is_string(struct str raw)
{
	return raw.n >= 2 && raw.p[0] == '"';
}

/* The text of a string; of one with escapes, and few have any, a copy. */
static struct str decode(struct str raw, struct arena *arena)
{
	struct str inside = str_slice(raw, 1, raw.n - 2);
	_cleanup_json_ struct json_doc doc = { 0 };

	if (str_find_char(inside, '\\') == STR_NONE)
		return inside;
	if (json_parse(&doc, raw, NULL, NULL) < 0)
		return str_make(NULL, 0);
	return arena_copy(arena, json_str(json_root(&doc)));
}

static enum field field_of_key(struct str raw, struct arena *arena)
{
	struct str key = decode(raw, arena);

	for (unsigned field = 0; field < FIELD_COUNT; field++)
		if (str_eq(key, FIELD_KEYS[field]))
			return (enum field)field;
	return FIELD_OTHER;
}

/* -- blocks ---------------------------------------------------------------------------------------------- */

static struct str member_text(const struct members *members, enum field field, struct arena *arena)
{
	return is_string(members->raw[field]) ? decode(members->raw[field], arena) : str_make(NULL, 0);
}

/* The last component of a URI's path. */
static struct str name_of_uri(struct str uri)
{
	size_t slash;

	uri = str_slice(uri, 0, size_min(str_find_char(uri, '?'), str_find_char(uri, '#')));
	slash = str_find_last_char(uri, '/');
	return slash == STR_NONE ? uri : str_from(uri, slash + 1);
}

static bool read_resource(const struct frame *frame, struct arena *arena, struct media_block *block)
{
	const struct members *resource = &frame->resource;

	if (!str_starts_with(frame->members.raw[FIELD_RESOURCE], STR("{")) ||
	    !is_string(resource->raw[FIELD_URI]))
		return false;
	block->data = member_text(resource, FIELD_BLOB, arena);
	block->mime = member_text(resource, FIELD_MIME, arena);
	block->name = name_of_uri(member_text(resource, FIELD_URI, arena));
	return block->data.n > 0;
}

static bool read_media(const struct frame *frame, struct str type, struct arena *arena,
		       struct media_block *block)
{
	if (!is_string(frame->members.raw[FIELD_MIME]))
		return false;
	block->data = member_text(&frame->members, FIELD_DATA, arena);
	block->mime = member_text(&frame->members, FIELD_MIME, arena);
	block->name = type;
	return block->data.n > 0;
}

static bool read_block(const struct frame *frame, struct arena *arena, struct media_block *block)
{
	struct str type = member_text(&frame->members, FIELD_TYPE, arena);

	block->annotations = frame->members.raw[FIELD_ANNOTATIONS];
	block->meta = frame->members.raw[FIELD_META];
	if (str_eq(type, STR("image")) || str_eq(type, STR("audio")))
		return read_media(frame, type, arena, block);
	return str_eq(type, STR("resource")) && read_resource(frame, arena, block);
}

/* A block that lies inside this one goes with it. */
static void note_block(struct finder *f, const struct frame *frame, const char *end)
{
	struct media_block block = { .raw = str_make(frame->start, (size_t)(end - frame->start)) };

	if (!read_block(frame, f->arena, &block))
		return;
	while (f->count > 0 && f->blocks[f->count - 1].raw.p > frame->start)
		f->count--;
	if (f->count < f->max)
		f->blocks[f->count++] = block;
}

/* -- the pass -------------------------------------------------------------------------------------------- */

static struct frame *top(struct finder *f)
{
	return f->depth ? &f->frames[f->depth - 1] : NULL;
}

/* A value lies between `start` and f->at. */
static void value_ended(struct finder *f, const char *start)
{
	struct frame *frame = top(f);

	if (frame && frame->object && frame->field < FIELD_COUNT)
		frame->members.raw[frame->field] = str_make(start, (size_t)(f->at - start));
	if (frame)
		frame->field = FIELD_OTHER;
}

static bool open_frame(struct finder *f, bool object)
{
	if (f->depth == JSON_DEPTH_MAX)
		return false;
	f->frames[f->depth++] = (struct frame){ .start = f->at++, .object = object, .key_next = object };
	top(f)->field = FIELD_OTHER;
	return true;
}

static bool close_frame(struct finder *f)
{
	struct frame *closed = top(f), *around;

	if (!closed)
		return false;
	f->at++;
	f->depth--;
	if (closed->object)
		note_block(f, closed, f->at);
	around = top(f);
	if (around && around->field == FIELD_RESOURCE)
		around->resource = closed->members;
	value_ended(f, closed->start);
	return true;
}

static bool pass_string(struct finder *f)
{
	const char *start = f->at, *end = string_end(start, f->end);
	struct frame *frame = top(f);

	if (!end)
		return false;
	f->at = end;
	if (frame && frame->key_next) {
		frame->key_next = false;
		frame->field = field_of_key(str_make(start, (size_t)(end - start)), f->arena);
	} else {
		value_ended(f, start);
	}
	return true;
}

static bool pass_scalar(struct finder *f)
{
	const char *start = f->at;

	while (f->at < f->end && !memchr(",:]}[{\" \t\r\n", *f->at, 11))
		f->at++;
	value_ended(f, start);
	return true;
}

static bool pass_one(struct finder *f)
{
	switch (*f->at) {
	case '{':
		return open_frame(f, true);
	case '[':
		return open_frame(f, false);
	case '}':
	case ']':
		return close_frame(f);
	case '"':
		return pass_string(f);
	case ',':
		if (top(f))
			top(f)->key_next = top(f)->object;
		_fallthrough_;
	case ':':
	case ' ':
	case '\t':
	case '\r':
	case '\n':
		f->at++;
		return true;
	default:
		return pass_scalar(f);
	}
}

bool media_possible(struct str value)
{
	/* An escape might spell one of them. */
	static const struct str signs[] = { STR_INIT("\"image\""), STR_INIT("\"audio\""),
					    STR_INIT("\"blob\""), STR_INIT("\\u") };

	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (str_find(value, signs[i]) != STR_NONE)
			return true;
	return false;
}

size_t media_find(struct str value, struct arena *arena, struct media_block *ret_blocks, size_t max)
{
	_cleanup_free_ struct frame *frames = NULL;
	struct finder f = {
		.at = value.p, .end = value.p + value.n, .arena = arena, .blocks = ret_blocks, .max = max
	};

	if (!media_possible(value))
		return 0;
	frames = xcalloc(JSON_DEPTH_MAX, sizeof(*frames));
	f.frames = frames;
	while (f.at < f.end && pass_one(&f))
		;
	return f.count;
}

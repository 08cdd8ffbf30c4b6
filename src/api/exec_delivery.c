#include "base/base.h"
#include "api/exec_delivery.h"
#include "api/api.h"
#include "json/json.h"

enum {
	MEDIA_BLOCKS_MAX = 64, /* of one value that become links; a value with more keeps the rest as it is */
};

/* A frame that waits, with copies of what it points to behind it. A script can make very many wait, by way of
 * a slow reader, so each is no larger than it needs to be. */
struct exec_parcel {
	struct list_node node;
	struct exec_frame frame;
	struct arena arena; /* of what the value becomes */
	struct str value;   /* as it is shown: of the frame, or with links, a path and bytes */
	enum {
		PARCEL_STORE, /* media in it become artifacts */
		/* an artifact that was made of media gets its copy; the script's own have theirs */
		PARCEL_PLACE,
		PARCEL_READ, /* the bytes of an artifact are put in */
		PARCEL_READY
	} next; /* what is to be done to the value */
	bool of_media;
	char copied[];
};

static void free_parcel(struct exec_parcel *parcel)
{
	list_remove(&parcel->node);
	arena_release(&parcel->arena);
	free(parcel);
}

static struct str copy_to(char **at, struct str text)
{
	struct str copy = { *at, text.n };

	if (text.n)
		memcpy(*at, text.p, text.n);
	*at += text.n;
	return copy;
}

static struct exec_parcel *add_parcel(struct exec_delivery *delivery, struct list_node *behind,
				      const struct exec_frame *frame)
{
	struct exec_parcel *parcel =
		xcalloc(1, sizeof(*parcel) + frame->value.n + frame->text.n + frame->calls.n);
	char *at = parcel->copied;

	arena_init(&parcel->arena, 0);
	parcel->frame = *frame;
	parcel->frame.value = copy_to(&at, frame->value);
	parcel->frame.text = copy_to(&at, frame->text);
	parcel->frame.calls = copy_to(&at, frame->calls);
	parcel->frame.untold = (struct str){ 0 }; /* for who shows STDERR frames, which are not taken */
	parcel->value = parcel->frame.value;
	list_append(behind ? behind : &delivery->frames, &parcel->node);
	return parcel;
}

static struct exec_parcel *first_parcel(struct exec_delivery *delivery)
{
	return list_first(&delivery->frames, struct exec_parcel, node);
}

/* -- links ----------------------------------------------------------------------------------------------- */

static void add_link(struct exec_delivery *delivery, struct str block)
{
	if (delivery->links.n)
		buf_append_char(&delivery->links, ',');
	buf_append(&delivery->links, block);
}

/* A link to an artifact that the script made itself, from what the frame says of it. */
static void add_link_of_frame(struct exec_delivery *delivery, struct str value)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf block = { .max = ARENA_MAX_DEFAULT };
	struct artifact artifact = { .size = 0 };
	const struct json *root;
	struct json_writer w;

	if (json_parse(&doc, value, NULL, NULL) < 0)
		return;
	root = json_root(&doc);
	artifact.uri = json_str(json_get(root, STR("uri")));
	artifact.name = json_str(json_get(root, STR("name")));
	artifact.mime = json_str(json_get(root, STR("mime")));
	(void)json_u64(json_get(root, STR("size")), &artifact.size);
	if (!artifact.uri.n)
		return;
	json_writer_init(&w, &block, false);
	artifact_write_link(&w, &artifact);
	add_link(delivery, buf_str(&block));
}

/* An artifact that was made from media in a value: a frame for it, in front of the one with the value. */
static void add_artifact_parcel(struct exec_delivery *delivery, struct exec_parcel *before,
				const struct artifact *artifact)
{
	_cleanup_buf_ struct buf value = { .max = ARENA_MAX_DEFAULT };
	struct exec_frame frame = { .kind = EXEC_FRAME_ARTIFACT, .run = delivery->run };
	struct json_writer w;

	json_writer_init(&w, &value, false);
	artifact_write(&w, artifact);
	frame.value = buf_str(&value);
	/* In a circular list, behind the last of what is in front of a node is right in front of it. */
	add_parcel(delivery, &before->node, &frame)->of_media = true;
}

static void media_stored(struct media_intercept *media, struct str value, const struct artifact *artifacts,
			 size_t count, const struct err *err)
{
	struct exec_delivery *delivery = container_of(media, struct exec_delivery, media);
	struct exec_parcel *parcel = first_parcel(delivery);

	(void)err; /* what could not be stored is still in the value */
	parcel->value = arena_copy(&parcel->arena, value);
	for (size_t i = 0; i < count; i++)
		add_artifact_parcel(delivery, parcel, &artifacts[i]);
	delivery->busy = false;
	exec_delivery_go_on(delivery);
}

static bool has_media(const struct exec_delivery *delivery, const struct exec_parcel *parcel)
{
	return delivery->intercepting &&
	       (parcel->frame.kind == EXEC_FRAME_EMIT || parcel->frame.kind == EXEC_FRAME_RESULT) &&
	       media_possible(parcel->value);
}

/* -- copies and bytes ------------------------------------------------------------------------------------ */

/* An object that we wrote, with one more member behind those it has. */
static void add_member(struct exec_parcel *parcel, const char *name, struct str text)
{
	_cleanup_buf_ struct buf quoted = { .max = ARENA_MAX_DEFAULT };
	struct json_writer w;

	json_writer_init(&w, &quoted, false);
	json_write_str(&w, text);
	if (!buf_failed(&quoted))
		parcel->value = arena_printf(&parcel->arena, "%.*s,\"%s\":%.*s}",
					     STR_ARG(str_slice(parcel->value, 0, parcel->value.n - 1)), name,
					     STR_ARG(buf_str(&quoted)));
}

/* The artifact stays where it is stored; its frame says why there is no copy. */
static void artifact_was_placed(struct artifact_place *place, struct str path, const struct err *err)
{
	struct exec_delivery *delivery = container_of(place, struct exec_delivery, place);

	delivery->busy = false;
	if (err)
		add_member(first_parcel(delivery), "pathError", str_of(err->message));
	else
		add_member(first_parcel(delivery), "path", path);
	exec_delivery_go_on(delivery);
}

/* One that is gone already is told without bytes. */
static void artifact_was_read(struct artifact_read *read, const struct artifact *artifact, struct str bytes,
			      const struct err *err)
{
	struct exec_delivery *delivery = container_of(read, struct exec_delivery, read);

	(void)artifact;
	delivery->busy = false;
	if (!err)
		add_member(first_parcel(delivery), "data", bytes);
	exec_delivery_go_on(delivery);
}

/* Which artifact a frame tells of, and its size. */
static bool artifact_of(struct exec_parcel *parcel, struct str *ret_id, uint64_t *ret_size)
{
	_cleanup_json_ struct json_doc doc = { 0 };

	if (json_parse(&doc, parcel->value, NULL, NULL) < 0 ||
	    json_u64(json_get(json_root(&doc), STR("size")), ret_size) < 0)
		return false;
	*ret_id = arena_copy(&parcel->arena, json_str(json_get(json_root(&doc), STR("id"))));
	return ret_id->n > 0;
}

static bool begin_place(struct exec_delivery *delivery, struct exec_parcel *parcel)
{
	uint64_t size;
	struct str id;

	if (!delivery->options->directory.n || !artifact_of(parcel, &id, &size))
		return false;
	artifact_place_start(&delivery->place, delivery->api->artifacts, id, delivery->options->directory,
			     artifact_was_placed);
	return true;
}

static bool begin_read(struct exec_delivery *delivery, struct exec_parcel *parcel)
{
	uint64_t size;
	struct str id;

	if (parcel->frame.kind != EXEC_FRAME_ARTIFACT || !delivery->options->inline_artifacts ||
	    !delivery->api->artifacts || !artifact_of(parcel, &id, &size) ||
	    size > delivery->options->inline_max)
		return false;
	artifact_read_start(&delivery->read, delivery->api->artifacts, id, 0, (size_t)size, true,
			    artifact_was_read);
	return true;
}

/* -- the queue ------------------------------------------------------------------------------------------- */

static bool begin_store(struct exec_delivery *delivery, struct exec_parcel *parcel)
{
	if (parcel->frame.kind == EXEC_FRAME_ARTIFACT)
		add_link_of_frame(delivery, parcel->value);
	if (!has_media(delivery, parcel))
		return false;
	media_intercept_start(&delivery->media, delivery->api->artifacts, delivery->api->loop, parcel->value,
			      str_of(delivery->run->id), delivery->session, MEDIA_BLOCKS_MAX, media_stored);
	return true;
}

/* Begins the next that has to be done to a frame before it can be shown; true when that takes time. */
static bool begin_work(struct exec_delivery *delivery, struct exec_parcel *parcel)
{
	switch (parcel->next++) {
	case PARCEL_STORE:
		return begin_store(delivery, parcel);
	case PARCEL_PLACE:
		return parcel->of_media && begin_place(delivery, parcel);
	case PARCEL_READ:
		return begin_read(delivery, parcel);
	default:
		return false;
	}
}

static void deliver(struct deferred *later)
{
	struct exec_delivery *delivery = container_of(later, struct exec_delivery, later);

	while (!delivery->busy && !list_empty(&delivery->frames)) {
		struct exec_parcel *parcel = first_parcel(delivery);
		bool last = parcel->frame.kind == EXEC_FRAME_END;

		while (!delivery->busy && parcel->next != PARCEL_READY)
			delivery->busy = begin_work(delivery, parcel);
		if (delivery->busy || !delivery->events->deliver(delivery, &parcel->frame, parcel->value))
			return;
		free_parcel(parcel);
		if (last) {
			delivery->events->ended(delivery);
			return;
		}
	}
}

void exec_delivery_go_on(struct exec_delivery *delivery)
{
	loop_defer(delivery->api->loop, &delivery->later, deliver);
}

void exec_delivery_take(struct exec_delivery *delivery, const struct exec_frame *frame)
{
	if (frame->kind == EXEC_FRAME_STDERR)
		return;
	add_parcel(delivery, NULL, frame);
	exec_delivery_go_on(delivery);
}

/* -- life ------------------------------------------------------------------------------------------------ */

void exec_delivery_init(struct exec_delivery *delivery, struct api *api, const struct exec_options *options,
			bool intercepting, const struct exec_run *run,
			const struct exec_delivery_events *events)
{
	*delivery = (struct exec_delivery){
		.events = events, .api = api, .options = options, .run = run, .intercepting = intercepting
	};
	list_init(&delivery->frames);
	buf_init(&delivery->links, ARENA_MAX_DEFAULT);
}

void exec_delivery_release(struct exec_delivery *delivery)
{
	deferred_cancel(&delivery->later);
	media_intercept_cancel(&delivery->media);
	artifact_read_cancel(&delivery->read);
	artifact_place_cancel(&delivery->place);
	while (!list_empty(&delivery->frames))
		free_parcel(first_parcel(delivery));
	buf_release(&delivery->links);
}

/*
 * Resources at the MCP door. A URI belongs to the source whose prefix it begins with; so far that is the
 * store of artifacts, and what upstream servers offer (mcpx://<namespace>/...) is to be a row more.
 */
#include "base/base.h"
#include "api/door_private.h"
#include "base/units.h"
#include "text/base64.h"
#include "text/mime.h"
#include "text/utf8.h"

#define OFFSET_PREFIX "?offset="

/* -- artifacts ------------------------------------------------------------------------------------------- */

struct artifact_reading {
	struct door_work work;
	struct artifact_read read;
	struct mcp_server_call *call;
	uint64_t offset;
	bool in_parts; /* the client asked for a part */
};

static struct api *api_of(const struct mcp_server_call *call)
{
	struct api_door *door = call->session->server->owner;

	return door->api;
}

static void write_content_begin(struct json_writer *w, struct str uri, struct str mime)
{
	json_write_object_begin(w);
	json_member_str(w, STR("uri"), uri);
	json_member_str(w, STR("mimeType"), mime);
}

static void write_blob(struct json_writer *w, struct str bytes)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, base64_encoded_size(bytes.n));
	(void)base64_encode(&text, bytes);
	json_member_str(w, STR("blob"), buf_str(&text));
}

/* What is not in the answer, and how to come by it. */
static void write_rest(struct json_writer *w, const struct artifact_reading *reading,
		       const struct artifact *artifact, size_t shown)
{
	unsigned long long from = reading->offset, end = from + shown;
	struct str next =
		arena_printf(reading->call->arena, "%.*s" OFFSET_PREFIX "%llu", STR_ARG(artifact->uri), end);

	if (end >= artifact->size)
		return;
	write_content_begin(w, next, STR("text/plain"));
	json_write_key(w, STR("text"));
	json_write_strf(
		w,
		"[mcpx: above are the bytes from %llu to %llu of %llu (mcp.resourceMax). Read %.*s for those that follow; `mcpx artifact get "
		"%.*s` and GET /v1/artifacts/%.*s give all of them.]",
		from, end - 1, (unsigned long long)artifact->size, STR_ARG(next), STR_ARG(artifact->id),
		STR_ARG(artifact->id));
	json_write_object_end(w);
}

/* The bytes up to the last whole character when they are text, as far as one can tell from a part; else .p
 * NULL. */
static struct str text_in(const struct artifact *artifact, struct str bytes, bool whole)
{
	size_t n = whole ? bytes.n : bytes.n - utf8_incomplete(bytes);

	return mime_is_text(artifact->mime) && utf8_valid(str_slice(bytes, 0, n))
		       ? str_make(bytes.p ? bytes.p : "", n)
		       : str_make(NULL, 0);
}

/* A part of an image is no image: who did not ask for a part gets none. */
static void refuse_large(struct mcp_server_call *call, const struct artifact *artifact, size_t max)
{
	char size[BYTE_SIZE_TEXT_MAX], most[BYTE_SIZE_TEXT_MAX];
	struct mcp_error error = { .code = MCP_INVALID_PARAMS };

	byte_size_text(size, artifact->size);
	byte_size_text(most, max);
	error.message = arena_printf(
		call->arena,
		"this artifact has %s, and one answer at most %s (mcp.resourceMax): read %.*s" OFFSET_PREFIX
		"0 and on for parts of it, or fetch it with `mcpx artifact get %.*s` or GET /v1/artifacts/%.*s",
		size, most, STR_ARG(artifact->uri), STR_ARG(artifact->id), STR_ARG(artifact->id));
	mcp_answer_error(call, &error);
}

static void answer_part(const struct artifact_reading *reading, const struct artifact *artifact,
			struct str bytes, struct str text)
{
	struct mcp_server_call *call = reading->call;
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	api_writer_init(&w, &out);
	json_write_array_begin(&w);
	write_content_begin(&w, call->name, artifact->mime);
	if (text.p)
		json_member_str(&w, STR("text"), text);
	else
		write_blob(&w, bytes);
	json_write_object_end(&w);
	write_rest(&w, reading, artifact, text.p ? text.n : bytes.n);
	json_write_array_end(&w);
	mcp_answer_contents(call, buf_str(&out));
}

static void artifact_was_read(struct artifact_read *read, const struct artifact *artifact, struct str bytes,
			      const struct err *err)
{
	struct artifact_reading *reading = container_of(read, struct artifact_reading, read);
	struct mcp_server_call *call = reading->call;
	bool whole = !err && reading->offset + bytes.n == artifact->size;
	struct str text = err ? str_make(NULL, 0) : text_in(artifact, bytes, whole);

	call->owner = NULL;
	if (err && err->code == ERR_NOT_FOUND)
		mcp_answer_unknown_resource(call, str_of(err->message));
	else if (err)
		mcp_answer_error(call, &(struct mcp_error){ .code = MCP_INTERNAL_ERROR,
							    .message = str_of(err->message) });
	else if (reading->offset > 0 && reading->offset >= artifact->size)
		mcp_answer_error(call, &(struct mcp_error){
					       .code = MCP_INVALID_PARAMS,
					       .message = STR("the offset is behind the artifact's end") });
	else if (!whole && !text.p && !reading->in_parts)
		refuse_large(call, artifact, bytes.n);
	else
		answer_part(reading, artifact, bytes, text);
}

static void reading_cancelled(struct mcp_server_call *call, struct str reason)
{
	struct artifact_reading *reading = container_of(call->owner, struct artifact_reading, work);

	(void)reason;
	artifact_read_cancel(&reading->read);
}

/* `rest` is "<id>", or "<id>?offset=<bytes>". */
static void read_artifact(struct mcp_server_call *call, struct str rest)
{
	struct artifact_reading *reading = arena_new(call->arena, struct artifact_reading);
	size_t query = str_find_char(rest, '?');
	struct str asked = query == STR_NONE ? str_make(NULL, 0) : str_from(rest, query);
	struct api *api = api_of(call);

	reading->in_parts = query != STR_NONE;
	if (!api->artifacts) {
		mcp_answer_unknown_resource(
			call,
			STR("artifacts are switched off: set artifacts.enabled to true and restart the daemon"));
		return;
	}
	if (reading->in_parts &&
	    (!str_starts_with(asked, STR(OFFSET_PREFIX)) ||
	     str_to_u64(str_from(asked, sizeof(OFFSET_PREFIX) - 1), &reading->offset) < 0)) {
		mcp_answer_unknown_resource(
			call,
			STR("what follows the id of an artifact can only be \"" OFFSET_PREFIX "<bytes>\""));
		return;
	}
	reading->call = call;
	reading->work.cancelled = reading_cancelled;
	call->owner = &reading->work;
	artifact_read_start(&reading->read, api->artifacts, str_slice(rest, 0, query), reading->offset,
			    settings_bytes(api->settings, SETTING_MCP_RESOURCE_MAX), false,
			    artifact_was_read);
}

struct artifact_listing {
	struct door_work work;
	struct artifact_list list;
	struct mcp_server_call *call;
};

static void artifacts_listed(struct artifact_list *list, const struct artifact *artifacts, size_t count,
			     const struct err *err)
{
	struct mcp_server_call *call = container_of(list, struct artifact_listing, list)->call;
	struct str *resources = arena_array(call->arena, struct str, count + 1);

	call->owner = NULL;
	if (err) {
		mcp_answer_error(call, &(struct mcp_error){ .code = MCP_INTERNAL_ERROR,
							    .message = str_of(err->message) });
		return;
	}
	for (size_t i = 0; i < count; i++) {
		_cleanup_buf_ struct buf out = { 0 };
		struct json_writer w;

		api_writer_init(&w, &out);
		json_write_object_begin(&w);
		json_member_str(&w, STR("uri"), artifacts[i].uri);
		json_member_str(&w, STR("name"), artifacts[i].name);
		json_member_str(&w, STR("mimeType"), artifacts[i].mime);
		json_member_u64(&w, STR("size"), artifacts[i].size);
		json_write_object_end(&w);
		resources[i] = arena_copy(call->arena, buf_str(&out));
	}
	mcp_answer_list(call, resources, count);
}

static void listing_cancelled(struct mcp_server_call *call, struct str reason)
{
	struct artifact_listing *listing = container_of(call->owner, struct artifact_listing, work);

	(void)reason;
	artifact_list_cancel(&listing->list);
}

/* -- the door -------------------------------------------------------------------------------------------- */

static const struct resource_source {
	struct str prefix;    /* of its URIs */
	struct str templates; /* a raw ResourceTemplate */
	void (*read)(struct mcp_server_call *call, struct str rest);
} sources[] = {
	{ STR_INIT(ARTIFACT_URI_PREFIX),
	  STR_INIT(
		  "{\"uriTemplate\":\"" ARTIFACT_URI_PREFIX
		  "{id}{?offset}\",\"name\":\"artifact\",\"title\":\"Artifact\",\"description\":\"Bytes that "
		  "a script or a server made: text as text, anything else as a blob. offset: from that byte on.\"}"),
	  read_artifact },
};

void door_resources_list(struct mcp_server_call *call)
{
	struct api *api = api_of(call);
	struct artifact_listing *listing;

	api->last_use = loop_now(api->loop);
	if (!api->artifacts) {
		mcp_answer_list(call, NULL, 0);
		return;
	}
	listing = arena_new(call->arena, struct artifact_listing);
	listing->call = call;
	listing->work.cancelled = listing_cancelled;
	call->owner = &listing->work;
	artifact_list_start(&listing->list, api->artifacts, str_make(NULL, 0), str_make(NULL, 0), 0,
			    artifacts_listed);
}

void door_resource_templates_list(struct mcp_server_call *call)
{
	struct str templates[ARRAY_LEN(sources)];

	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		templates[i] = sources[i].templates;
	mcp_answer_list(call, templates, ARRAY_LEN(sources));
}

void door_resources_read(struct mcp_server_call *call)
{
	struct api *api = api_of(call);

	api->last_use = loop_now(api->loop);
	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		if (str_starts_with(call->name, sources[i].prefix)) {
			sources[i].read(call, str_from(call->name, sources[i].prefix.n));
			return;
		}
	mcp_answer_unknown_resource(call, str_make(NULL, 0));
}

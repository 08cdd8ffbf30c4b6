/* Operations on artifacts. A body is never held whole: it goes to the store as it comes, and out by
 * sendfile(2). */
#include "base/base.h"
#include "api/api.h"
#include "base/time_text.h"
#include "base/units.h"

/* True when there is a store; else the call was answered. */
static bool have_store(struct api_call *call)
{
	struct err err;

	if (call->api->artifacts)
		return true;
	err_set(&err, ERR_BUSY,
		"artifacts are switched off: set artifacts.enabled to true and restart the daemon");
	api_answer_error(call, &err);
	return false;
}

static void answer_metadata(struct api_call *call, unsigned status, const struct artifact *artifact)
{
	struct json_writer w;
	struct buf out;

	api_writer_init(&w, &out);
	artifact_write(&w, artifact);
	api_answer_json(call, status, &out);
}

/* -- putting --------------------------------------------------------------------------------------------- */

struct put_state {
	struct artifact_upload upload;
	struct artifact_place place;
	struct artifact artifact; /* that was stored, while its copy is made */
	struct str directory;	  /* for a copy; empty: none is wanted */
	struct api_call *call;
};

/* Without its copy, the artifact is kept all the same. */
static void put_placed(struct artifact_place *place, struct str path, const struct err *err)
{
	struct put_state *put = container_of(place, struct put_state, place);

	if (err)
		put->artifact.path_error = str_of(err->message);
	else
		put->artifact.path = path;
	answer_metadata(put->call, 201, &put->artifact);
}

static void put_done(struct artifact_upload *upload, const struct artifact *artifact, const struct err *err)
{
	struct put_state *put = container_of(upload, struct put_state, upload);

	if (err) {
		api_answer_error(put->call, err);
	} else if (put->directory.n) {
		put->artifact = artifact_copy(put->call->arena, artifact);
		artifact_place_start(&put->place, put->call->api->artifacts, artifact->id, put->directory,
				     put_placed);
	} else {
		answer_metadata(put->call, 201, artifact);
	}
}

static void put_room(struct artifact_upload *upload)
{
	http_resume_body(container_of(upload, struct put_state, upload)->call->http);
}

static void put_cancelled(struct api_call *call)
{
	struct put_state *put = call->state;

	artifact_upload_cancel(&put->upload);
	artifact_place_cancel(&put->place);
}

static void put_data(struct http_request *request, struct str bytes, bool last, bool too_large)
{
	struct api_call *call = request->owner;
	struct put_state *put = call->state;
	char size[BYTE_SIZE_TEXT_MAX];
	struct err err;

	if (too_large) {
		artifact_upload_cancel(&put->upload);
		byte_size_text(size, artifact_store_limits(call->api->artifacts)->max_bytes);
		err_set(&err, ERR_TOO_LARGE, "an artifact may have at most %s (artifacts.maxBytes)", size);
		api_answer_error(call, &err);
		return;
	}
	if (bytes.n && !artifact_upload_write(&put->upload, bytes) && !last)
		http_pause_body(request);
	if (last)
		artifact_upload_finish(&put->upload);
}

static int put_spec(struct api_call *call, struct artifact_spec *spec, struct err *err)
{
	struct str ttl = api_input_str(call, STR("ttl"));

	*spec = (struct artifact_spec){
		.name = api_input_str(call, STR("name")),
		.mime = api_input_str(call, STR("mime")),
		.content_type = http_field(call->http, STR("content-type")),
		.run = api_input_str(call, STR("run")),
		.session = api_input_str(call, STR("session")),
	};
	if (!spec->run.n)
		spec->run = call->caller.run;
	if (!spec->session.n)
		spec->session = call->caller.session;
	if (ttl.n && duration_parse(ttl, &spec->ttl_ms, err) < 0)
		return err_prefix(err, ERR_INVALID, "ttl");
	return 0;
}

/* Only who shares this machine's files as this user may name one: the unix socket proves both. */
static int put_paths(const struct api_call *call, struct str *ret_file, struct str *ret_directory,
		     struct err *err)
{
	struct str file = http_field(call->http, STR("x-mcpx-path"));
	struct str directory = api_input_str(call, STR("dir"));

	if (file.n && !call->http->peer->local)
		return err_set(err, ERR_DENIED,
			       "X-Mcpx-Path works over the unix socket only; send the bytes");
	if (directory.n && !call->http->peer->local)
		return err_set(err, ERR_DENIED,
			       "dir works over the unix socket only; fetch the artifact by its id");
	if (directory.n && !str_starts_with(directory, STR("/")))
		return err_set(err, ERR_INVALID, "dir must be an absolute path");
	*ret_file = file;
	*ret_directory = directory;
	return 0;
}

void api_artifact_put(struct api_call *call)
{
	struct put_state *put = arena_new(call->arena, struct put_state);
	struct artifact_spec spec;
	struct str path;
	struct err err;

	if (!have_store(call))
		return;
	if (put_spec(call, &spec, &err) < 0 || put_paths(call, &path, &put->directory, &err) < 0) {
		api_answer_error(call, &err);
		return;
	}
	put->call = call;
	call->state = put;
	call->cancelled = put_cancelled;
	if (path.n) {
		artifact_upload_file(&put->upload, call->api->artifacts, &spec, path, put_done);
	} else {
		artifact_upload_start(&put->upload, call->api->artifacts, &spec, put_done, put_room);
		if (call->http->has_body)
			http_stream_body(call->http, artifact_store_limits(call->api->artifacts)->max_bytes,
					 put_data);
		else
			artifact_upload_finish(&put->upload);
	}
}

/* -- getting --------------------------------------------------------------------------------------------- */

struct get_state {
	struct artifact_get get;
	struct api_call *call;
};

/* attachment, always: a browser that showed somebody else's bytes would run them as ours. Names are plain
 * ASCII (artifacts/name.h). */
static void answer_body(struct api_call *call, const struct artifact *artifact, int fd)
{
	struct arena *arena = call->arena;
	const struct http_field fields[] = {
		{ STR("Content-Disposition"),
		  arena_printf(arena, "attachment; filename=\"%.*s\"", STR_ARG(artifact->name)) },
		{ STR("X-Mcpx-Sha256"), arena_copy(arena, artifact->sha256) },
		{ STR("Cache-Control"), STR("private, no-cache") },
	};
	const struct http_answer answer = { .status = 200,
					    .content_type = arena_copy(arena, artifact->mime),
					    .fields = fields,
					    .field_count = ARRAY_LEN(fields) };
	const struct http_file file = {
		.fd = fd,
		.size = artifact->size,
		.modified_ms = artifact->created_ms,
		.etag = arena_printf(arena, "\"%.*s\"", STR_ARG(artifact->sha256)),
	};

	api_call_over(call);
	http_respond_file(call->http, &answer, &file);
}

static void get_done(struct artifact_get *get, const struct artifact *artifact, int fd, const struct err *err)
{
	struct get_state *state = container_of(get, struct get_state, get);

	if (err)
		api_answer_error(state->call, err);
	else
		answer_body(state->call, artifact, fd);
}

static void get_cancelled(struct api_call *call)
{
	struct get_state *state = call->state;

	artifact_get_cancel(&state->get);
}

void api_artifact_get(struct api_call *call)
{
	struct get_state *state = arena_new(call->arena, struct get_state);

	if (!have_store(call))
		return;
	state->call = call;
	call->state = state;
	call->cancelled = get_cancelled;
	artifact_get_start(&state->get, call->api->artifacts, api_input_str(call, STR("id")), true, get_done);
}

/* -- listing and deleting -------------------------------------------------------------------------------- */

struct list_state {
	struct artifact_list list;
	struct api_call *call;
};

static void list_done(struct artifact_list *list, const struct artifact *artifacts, size_t count,
		      const struct err *err)
{
	struct api_call *call = container_of(list, struct list_state, list)->call;
	struct json_writer w;
	struct buf out;

	if (err) {
		api_answer_error(call, err);
		return;
	}
	api_writer_init(&w, &out);
	json_write_object_begin(&w);
	json_write_key(&w, STR("artifacts"));
	json_write_array_begin(&w);
	for (size_t i = 0; i < count; i++)
		artifact_write(&w, &artifacts[i]);
	json_write_array_end(&w);
	json_write_object_end(&w);
	api_answer_json(call, 200, &out);
}

static void list_cancelled(struct api_call *call)
{
	struct list_state *state = call->state;

	artifact_list_cancel(&state->list);
}

void api_artifacts(struct api_call *call)
{
	struct list_state *state = arena_new(call->arena, struct list_state);
	int64_t limit = api_input_int(call, STR("limit"), 0);

	if (!have_store(call))
		return;
	state->call = call;
	call->state = state;
	call->cancelled = list_cancelled;
	artifact_list_start(&state->list, call->api->artifacts, api_input_str(call, STR("run")),
			    api_input_str(call, STR("session")), limit > INT32_MAX ? 0 : (unsigned)limit,
			    list_done);
}

struct delete_state {
	struct artifact_delete operation;
	struct api_call *call;
	struct str id;
};

static void delete_done(struct artifact_delete *operation, const struct err *err)
{
	struct delete_state *state = container_of(operation, struct delete_state, operation);
	struct json_writer w;
	struct buf out;

	if (err) {
		api_answer_error(state->call, err);
		return;
	}
	api_writer_init(&w, &out);
	json_write_object_begin(&w);
	json_member_str(&w, STR("deleted"), state->id);
	json_write_object_end(&w);
	api_answer_json(state->call, 200, &out);
}

static void delete_cancelled(struct api_call *call)
{
	struct delete_state *state = call->state;

	artifact_delete_cancel(&state->operation);
}

void api_artifact_delete(struct api_call *call)
{
	struct delete_state *state = arena_new(call->arena, struct delete_state);

	if (!have_store(call))
		return;
	state->call = call;
	state->id = api_input_str(call, STR("id"));
	call->state = state;
	call->cancelled = delete_cancelled;
	artifact_delete_start(&state->operation, call->api->artifacts, state->id, delete_done);
}

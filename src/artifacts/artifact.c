#include "base/base.h"
#include "artifacts/artifact.h"
#include "artifacts/id.h"
#include "base/time_text.h"

const struct id_kind ARTIFACT_ID = {
	.prefix = STR_INIT("art-"),
	.byte_count = ARTIFACT_ID_BYTES,
};

bool artifact_id_valid(struct str id)
{
	return id_valid(&ARTIFACT_ID, id);
}

struct str artifact_id_of_uri(struct str uri)
{
	struct str id;

	if (!str_starts_with(uri, STR(ARTIFACT_URI_PREFIX)))
		return str_make(NULL, 0);
	id = str_from(uri, sizeof(ARTIFACT_URI_PREFIX) - 1);
	return artifact_id_valid(id) ? id : str_make(NULL, 0);
}

struct artifact artifact_copy(struct arena *arena, const struct artifact *artifact)
{
	struct artifact copy = *artifact;

	copy.id = arena_copy(arena, artifact->id);
	copy.name = arena_copy(arena, artifact->name);
	copy.mime = arena_copy(arena, artifact->mime);
	copy.sha256 = arena_copy(arena, artifact->sha256);
	copy.uri = arena_copy(arena, artifact->uri);
	copy.run = arena_copy(arena, artifact->run);
	copy.session = arena_copy(arena, artifact->session);
	copy.path = arena_copy(arena, artifact->path);
	copy.path_error = arena_copy(arena, artifact->path_error);
	return copy;
}

static void write_time(struct json_writer *w, struct str key, uint64_t ms)
{
	char text[TIME_TEXT_MAX];

	json_member_str(w, key, time_rfc3339(text, ms));
}

void artifact_write(struct json_writer *w, const struct artifact *artifact)
{
	json_write_object_begin(w);
	json_member_str(w, STR("id"), artifact->id);
	json_member_str(w, STR("name"), artifact->name);
	json_member_str(w, STR("mime"), artifact->mime);
	json_member_u64(w, STR("size"), artifact->size);
	json_member_str(w, STR("sha256"), artifact->sha256);
	json_member_str(w, STR("uri"), artifact->uri);
	if (artifact->run.n)
		json_member_str(w, STR("run"), artifact->run);
	if (artifact->session.n)
		json_member_str(w, STR("session"), artifact->session);
	write_time(w, STR("created"), artifact->created_ms);
	if (artifact->expires_ms)
		write_time(w, STR("expires"), artifact->expires_ms);
	if (artifact->path.n)
		json_member_str(w, STR("path"), artifact->path);
	if (artifact->path_error.n)
		json_member_str(w, STR("pathError"), artifact->path_error);
	json_write_object_end(w);
}

void artifact_write_link_members(struct json_writer *w, const struct artifact *artifact)
{
	json_member_str(w, STR("type"), STR("resource_link"));
	json_member_str(w, STR("uri"), artifact->uri);
	json_member_str(w, STR("name"), artifact->name);
	json_member_str(w, STR("mimeType"), artifact->mime);
	json_member_u64(w, STR("size"), artifact->size);
}

void artifact_write_link(struct json_writer *w, const struct artifact *artifact)
{
	json_write_object_begin(w);
	artifact_write_link_members(w, artifact);
	json_write_object_end(w);
}

/*
 * artifact.h - what is known of one artifact, how that is written as JSON, and how artifacts are named. Pure.
 */
#ifndef ARTIFACTS_ARTIFACT_H
#define ARTIFACTS_ARTIFACT_H

#include "base/base.h"
#include "base/str.h"
#include "json/writer.h"

struct artifact {
	/* "art-" and 32 hexadecimal digits: a secret, since whoever knows it may read the bytes */
	struct str id;
	struct str name;   /* clean (name.h) */
	struct str mime;   /* a valid media type, fit for a header field */
	struct str sha256; /* 64 hexadecimal digits */
	struct str uri;	   /* "mcpx://artifacts/{id}" */
	struct str run, session;
	uint64_t size;	     /* bytes */
	uint64_t created_ms; /* since 1970 */
	uint64_t expires_ms; /* 0: never */
	/* of the copy that was made for whoever asked, or why it could not be made; empty when none was asked
	 * for */
	struct str path, path_error;
};

enum { ARTIFACT_ID_LENGTH = 36 };
#define ARTIFACT_URI_PREFIX "mcpx://artifacts/"

/* A copy whose texts are from `arena`. */
struct artifact artifact_copy(struct arena *arena, const struct artifact *artifact);

/* Whether `id` has the form of a handle. */
bool artifact_id_valid(struct str id);
/* The handle in `uri`, or an empty string with .p NULL when it is no artifact's. Points into `uri`. */
struct str artifact_id_of_uri(struct str uri);

/* The metadata of /v1/artifacts: {id, name, mime, size, sha256, uri, run, session, created, expires, path,
 * pathError}. Times are RFC 3339 in UTC with milliseconds; run, session, expires, path and pathError are left
 * out when there are none. */
void artifact_write(struct json_writer *w, const struct artifact *artifact);
/* An MCP content block: {"type": "resource_link", uri, name, mimeType, size}; or only its members, into an
 * object that the caller has begun and may add to. */
void artifact_write_link(struct json_writer *w, const struct artifact *artifact);
void artifact_write_link_members(struct json_writer *w, const struct artifact *artifact);

#endif

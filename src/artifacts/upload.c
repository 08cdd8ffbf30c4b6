#include "base/base.h"
#include "artifacts/id.h"
#include "artifacts/name.h"
#include "artifacts/store_private.h"
#include "artifacts/type.h"
#include "artifacts/upload_source.h"
#include "base/quote.h"
#include "base/units.h"
#include "text/mime.h"

#include <limits.h>
#include <sys/random.h>

/*
 * An upload alternates between the loop, which gathers bytes, and one job at a time on the worker pool, which
 * hashes and writes them. The last job seals the body; a request to the index then makes it an artifact.
 * Every step is decided by upload_step(), which runs only from the loop, so that no callback comes from
 * within a start, a write or a finish.
 */

enum upload_stage { UPLOAD_WRITING, UPLOAD_SEALED, UPLOAD_KEPT };

struct upload {
	struct job job;
	struct db_request request;
	struct deferred deferred;
	struct artifact_store *store;
	struct artifact_upload *operation; /* NULL once it was cancelled */
	bool running;	     /* the job or the request is under way: what the worker uses is not ours */
	bool finishing;	     /* no more bytes will come */
	bool waits_for_room; /* the writer was told to pause */
	struct buf gathered; /* bytes that no job has yet */
	size_t handed;	     /* bytes that the running job has */
	uint64_t taken;	     /* all bytes so far */
	struct str mime, content_type;
	uint64_t ttl_ms;
	struct err err; /* code 0: fine */
	/* the worker's while it runs */
	enum upload_stage stage;
	struct upload_source source;
	struct arena arena;
	struct artifact artifact;
	struct artifact_usage usage;
	bool counted; /* usage was read */
	struct err worker_err;
};

static void upload_step(struct upload *u);

static void upload_step_later(struct deferred *deferred)
{
	upload_step(container_of(deferred, struct upload, deferred));
}

static void upload_wake(struct upload *u)
{
	loop_defer(u->store->loop, &u->deferred, upload_step_later);
}

/* -- the end --------------------------------------------------------------------------------------------- */

static void upload_end(struct upload *u)
{
	struct artifact_store *store = u->store;
	struct artifact_upload *operation = u->operation;

	deferred_cancel(&u->deferred);
	if (operation) {
		operation->state = NULL;
		operation->done(operation, u->err.code ? NULL : &u->artifact, u->err.code ? &u->err : NULL);
	}
	upload_source_release(&u->source);
	buf_release(&u->gathered);
	arena_release(&u->arena);
	loop_free_later(store->loop, u);
	store_let_go(store);
}

static void discard_work(struct job *job)
{
	upload_source_release(&container_of(job, struct upload, job)->source);
}

/* The worker gives back what it used. */
static void upload_regain(struct upload *u)
{
	u->running = false;
	u->handed = 0;
	if (!u->err.code)
		u->err = u->worker_err;
	upload_step(u);
}

static void job_over(struct job *job, bool cancelled)
{
	(void)cancelled; /* jobs are not cancelled: u->operation tells */
	upload_regain(container_of(job, struct upload, job));
}

/* Removing a large temporary file takes a while. */
static void upload_discard(struct upload *u)
{
	u->running = true;
	loop_work(u->store->loop, &u->job, discard_work, job_over);
}

/* -- the index ------------------------------------------------------------------------------------------- */

/* What was kept or forgotten is so, whether or not it can be counted. */
static void count_usage(struct upload *u, struct db *db)
{
	struct err unimportant;

	u->counted = index_usage(db, &u->usage, &unimportant) == 0;
}

static void keep_work(struct db_request *request, struct db *db)
{
	struct upload *u = container_of(request, struct upload, request);
	struct type_evidence evidence = {
		.mime = u->mime,
		.content_type = u->content_type,
		.name = u->artifact.name,
		.head = blob_writer_head(&u->source.writer),
	};

	u->artifact.mime = artifact_type(&evidence);
	if (ledger_keep(&u->store->ledger, db, &u->source.writer, &u->artifact, &u->arena, &u->worker_err) <
	    0)
		return;
	u->stage = UPLOAD_KEPT;
	/* Bytes that the store had already are still in a temporary file. */
	upload_source_release(&u->source);
	count_usage(u, db);
}

static void forget_work(struct db_request *request, struct db *db)
{
	struct upload *u = container_of(request, struct upload, request);

	u->stage = UPLOAD_SEALED;
	ledger_delete(&u->store->ledger, db, u->artifact.id, u->artifact.created_ms, &u->worker_err);
	count_usage(u, db);
}

static void request_over(struct db_request *request, bool cancelled)
{
	struct upload *u = container_of(request, struct upload, request);

	(void)cancelled; /* u->operation and u->stage tell */
	if (u->counted)
		store_count(u->store, &u->usage);
	upload_regain(u);
}

static void upload_keep(struct upload *u)
{
	uint64_t ttl_ms = u->ttl_ms ? u->ttl_ms : u->store->ledger.limits.ttl_ms;

	u->artifact.created_ms = store_now(u->store);
	if (ttl_ms && ttl_ms != ARTIFACT_TTL_NEVER &&
	    add_overflows(u->artifact.created_ms, ttl_ms, &u->artifact.expires_ms))
		u->artifact.expires_ms = 0;
	u->running = true;
	db_worker_submit(u->store->worker, &u->request, keep_work, request_over);
}

/* The owner changed its mind while the index was being written. */
static void upload_forget(struct upload *u)
{
	u->running = true;
	db_worker_submit(u->store->worker, &u->request, forget_work, request_over);
}

/* -- the bytes ------------------------------------------------------------------------------------------- */

/* Jobs are worth their overhead when there is something to write. */
static bool worth_writing(const struct upload *u)
{
	return u->finishing || u->gathered.n >= u->store->ledger.limits.buffer_bytes / 4;
}

static void source_work(struct job *job)
{
	struct upload *u = container_of(job, struct upload, job);

	upload_source_run(&u->source, &u->worker_err);
	if (u->source.sealed)
		u->stage = UPLOAD_SEALED;
}

static void upload_write_some(struct upload *u)
{
	u->handed = u->gathered.n;
	if (u->source.kind == UPLOAD_PIECES)
		upload_source_give(&u->source, buf_take(&u->gathered), u->finishing);
	u->running = true;
	loop_work(u->store->loop, &u->job, source_work, job_over);
}

static size_t bytes_held(const struct upload *u)
{
	return u->gathered.n + u->handed;
}

static void upload_tell_room(struct upload *u)
{
	if (!u->waits_for_room || bytes_held(u) > u->store->ledger.limits.buffer_bytes / 2)
		return;
	u->waits_for_room = false;
	if (u->operation->on_room)
		u->operation->on_room(u->operation);
}

static void upload_continue(struct upload *u)
{
	if (worth_writing(u))
		upload_write_some(u);
	upload_tell_room(u);
}

static void upload_step(struct upload *u)
{
	bool unwanted = !u->operation || u->err.code;

	if (u->running)
		return;
	if (!u->operation && u->stage == UPLOAD_KEPT)
		upload_forget(u);
	else if (unwanted && upload_source_has_file(&u->source))
		upload_discard(u);
	else if (unwanted || u->stage == UPLOAD_KEPT)
		upload_end(u);
	else if (u->stage == UPLOAD_SEALED)
		upload_keep(u);
	else
		upload_continue(u);
}

/* -- the beginning --------------------------------------------------------------------------------------- */

static int check_spec(const struct artifact_spec *spec, struct err *err)
{
	if (spec->mime.n && !mime_valid(spec->mime))
		return err_set(err, ERR_INVALID, "mime: %s is not a media type such as \"image/png\"",
			       QUOTE(spec->mime));
	if (spec->run.n > ARTIFACT_LABEL_MAX || spec->session.n > ARTIFACT_LABEL_MAX)
		return err_set(err, ERR_INVALID, "%s: longer than %d bytes",
			       spec->run.n > ARTIFACT_LABEL_MAX ? "run" : "session", ARTIFACT_LABEL_MAX);
	return 0;
}

static int make_id(struct upload *u, struct err *err)
{
	uint8_t random[ARTIFACT_ID_BYTES];
	char storage[ID_TEXT_MAX];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return err_errno(err, "getrandom");
	u->artifact.id = arena_copy(&u->arena, id_make(storage, &ARTIFACT_ID, random));
	u->artifact.uri = arena_concat(&u->arena, STR(ARTIFACT_URI_PREFIX), u->artifact.id, STR(""));
	return 0;
}

static void describe(struct upload *u, const struct artifact_spec *spec, struct str name)
{
	u->artifact.name = artifact_name_clean(&u->arena, name, u->store->ledger.limits.name_max);
	u->artifact.run = arena_copy(&u->arena, spec->run);
	u->artifact.session = arena_copy(&u->arena, spec->session);
	u->mime = arena_copy(&u->arena, spec->mime);
	u->content_type = arena_copy(&u->arena, spec->content_type);
	u->ttl_ms = spec->ttl_ms;
}

/* Takes its first step, or ends with what is wrong already, from the loop. */
static struct upload *upload_new(struct artifact_upload *operation, struct artifact_store *store,
				 const struct artifact_spec *spec, enum upload_kind kind, struct str name,
				 artifact_upload_done *done)
{
	const struct artifact_limits *limits = &store->ledger.limits;
	struct upload *u = xnew(struct upload);

	store_hold(store);
	u->store = store;
	u->operation = operation;
	arena_init(&u->arena, 0);
	buf_init(&u->gathered, (size_t)limits->max_bytes);
	upload_source_init(&u->source, kind, &store->ledger.blobs, limits->max_bytes);
	u->finishing = kind != UPLOAD_PIECES;
	if (check_spec(spec, &u->err) == 0 && make_id(u, &u->err) == 0)
		describe(u, spec, name);
	*operation = (struct artifact_upload){ .state = u, .done = done };
	upload_wake(u);
	return u;
}

void artifact_upload_start(struct artifact_upload *upload, struct artifact_store *store,
			   const struct artifact_spec *spec, artifact_upload_done *done,
			   artifact_upload_room *on_room)
{
	upload_new(upload, store, spec, UPLOAD_PIECES, spec->name, done);
	upload->on_room = on_room;
}

void artifact_upload_memory(struct artifact_upload *upload, struct artifact_store *store,
			    const struct artifact_spec *spec, struct str storage, bool base64,
			    artifact_upload_done *done)
{
	struct upload *u = upload_new(upload, store, spec, UPLOAD_WHOLE, spec->name, done);

	upload_source_give(&u->source, storage, true);
	u->source.base64 = base64;
}

static int check_path(struct str path, struct err *err)
{
	if (!str_starts_with(path, STR("/")) || path.n >= PATH_MAX || str_find_char(path, '\0') != STR_NONE)
		return err_set(err, ERR_INVALID, "path: %s is not an absolute path", QUOTE(path));
	return 0;
}

void artifact_upload_file(struct artifact_upload *upload, struct artifact_store *store,
			  const struct artifact_spec *spec, struct str path, artifact_upload_done *done)
{
	struct upload *u =
		upload_new(upload, store, spec, UPLOAD_FILE, spec->name.n ? spec->name : path, done);

	if (u->err.code || check_path(path, &u->err) < 0)
		return;
	u->source.path = strndup(path.p, path.n);
	BUG_ON(!u->source.path);
}

bool artifact_upload_write(struct artifact_upload *upload, struct str bytes)
{
	struct upload *u = upload->state;
	const struct artifact_limits *limits;

	if (!u || u->err.code)
		return true;
	BUG_ON(u->finishing);
	limits = &u->store->ledger.limits;
	if (bytes.n > limits->max_bytes - u->taken) {
		upload_too_large(limits->max_bytes, &u->err);
		upload_wake(u);
		return true;
	}
	u->taken += bytes.n;
	buf_append(&u->gathered, bytes);
	if (!u->running && worth_writing(u))
		upload_wake(u);
	u->waits_for_room = bytes_held(u) >= limits->buffer_bytes;
	return !u->waits_for_room;
}

void artifact_upload_finish(struct artifact_upload *upload)
{
	struct upload *u = upload->state;

	if (!u)
		return;
	u->finishing = true;
	upload_wake(u);
}

void artifact_upload_cancel(struct artifact_upload *upload)
{
	struct upload *u = upload->state;

	if (!u)
		return;
	upload->state = NULL;
	u->operation = NULL;
	db_request_cancel(&u->request);
	upload_wake(u);
}

#include "base/base.h"
#include "artifacts/place.h"
#include "artifacts/store_private.h"
#include "text/base64.h"

#include <errno.h>

/* Reading and placing: the index gives the open body, and a job of its own does the rest, so that the
 * index is free meanwhile. */

/* Waits for the index; then `work_on_body` runs on the pool and `ended` on the loop. */
static void body_start(struct artifact_work *work, db_request_done *found)
{
	work->want_body = true;
	db_worker_submit(work->store->worker, &work->request, work_find, found);
}

static void body_found(struct artifact_work *work, job_work *work_on_body, job_done *ended)
{
	if (!work->operation || work->err.code)
		ended(&work->job, false);
	else
		loop_work(work->store->loop, &work->job, work_on_body, ended);
}

static void body_cancel(struct artifact_work **work)
{
	if (*work)
		db_request_cancel(&(*work)->request);
	work_cancel(work);
}

/* -- read ------------------------------------------------------------------------------------------------ */

/* Reads the whole range; a body is never shorter than the index says, or it is an error. */
static int read_range(int fd, char *out, size_t n, uint64_t offset, struct err *err)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(fd, out + done, n - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, "the artifact's body cannot be read");
		if (got == 0)
			return err_set(err, ERR_IO, "the artifact's body was cut short");
		done += (size_t)got;
	}
	return 0;
}

static void read_work(struct job *job)
{
	struct artifact_work *work = container_of(job, struct artifact_work, job);
	uint64_t size = work->artifact.size;
	size_t n = work->offset < size
			   ? (size_t)(size - work->offset < work->n ? size - work->offset : work->n)
			   : 0;
	_cleanup_free_ char *bytes = xmalloc(n);

	if (read_range(work->fd, bytes, n, work->offset, &work->err) < 0)
		return;
	buf_init(&work->bytes, work->base64 ? base64_encoded_size(n) : n);
	if (work->base64)
		base64_encode(&work->bytes, str_make(bytes, n));
	else
		buf_append(&work->bytes, str_make(bytes, n));
}

static void read_done(struct job *job, bool cancelled)
{
	struct artifact_work *work = container_of(job, struct artifact_work, job);
	struct artifact_read *read = work->operation;

	(void)cancelled; /* work->operation tells */
	if (read) {
		read->work = NULL;
		if (work->err.code)
			read->done(read, NULL, str_make(NULL, 0), &work->err);
		else
			read->done(read, &work->artifact, buf_str(&work->bytes), NULL);
	}
	work_free(work);
}

static void read_found(struct db_request *request, bool cancelled)
{
	(void)cancelled;
	body_found(container_of(request, struct artifact_work, request), read_work, read_done);
}

void artifact_read_start(struct artifact_read *read, struct artifact_store *store, struct str id,
			 uint64_t offset, size_t n, bool base64, artifact_read_done *done)
{
	struct artifact_work *work = work_new(store, read);

	work->id = arena_copy(&work->arena, id);
	work->offset = offset;
	work->n = n;
	work->base64 = base64;
	*read = (struct artifact_read){ .work = work, .done = done };
	body_start(work, read_found);
}

void artifact_read_cancel(struct artifact_read *read)
{
	body_cancel(&read->work);
}

/* -- place ----------------------------------------------------------------------------------------------- */

static void place_work(struct job *job)
{
	struct artifact_work *work = container_of(job, struct artifact_work, job);
	const struct artifact_limits *limits = &work->store->ledger.limits;

	artifact_place(work->fd, work->artifact.size, work->directory.p, work->artifact.name,
		       limits->name_max, limits->collision_limit, &work->arena, &work->path, &work->err);
}

static void place_done(struct job *job, bool cancelled)
{
	struct artifact_work *work = container_of(job, struct artifact_work, job);
	struct artifact_place *place = work->operation;

	(void)cancelled;
	if (place) {
		place->work = NULL;
		place->done(place, work->path, work_err(work));
	}
	work_free(work);
}

static void place_found(struct db_request *request, bool cancelled)
{
	(void)cancelled;
	body_found(container_of(request, struct artifact_work, request), place_work, place_done);
}

void artifact_place_start(struct artifact_place *place, struct artifact_store *store, struct str id,
			  struct str directory, artifact_place_done *done)
{
	struct artifact_work *work = work_new(store, place);

	work->id = arena_copy(&work->arena, id);
	work->directory = arena_copy(&work->arena, directory);
	*place = (struct artifact_place){ .work = work, .done = done };
	body_start(work, place_found);
}

void artifact_place_cancel(struct artifact_place *place)
{
	body_cancel(&place->work);
}

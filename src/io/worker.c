#include "base/base.h"
#include "io/loop_private.h"

struct job_handle {
	uv_work_t request;
	struct job *job;
	struct loop *loop;
};

static void job_run(uv_work_t *request)
{
	struct job *job = container_of(request, struct job_handle, request)->job;

	job->work(job);
}

static void job_after(uv_work_t *request, int status)
{
	struct job_handle *handle = container_of(request, struct job_handle, request);
	struct job *job = handle->job;

	BUG_ON(status < 0 && !job->cancelled);
	loop_let_go(handle->loop);
	free(handle);
	job->handle = NULL;
	job->done(job, job->cancelled);
}

void loop_work(struct loop *loop, struct job *job, job_work *work, job_done *done)
{
	struct job_handle *handle = xnew(struct job_handle);

	handle->job = job;
	handle->loop = loop;
	job->handle = handle;
	job->work = work;
	job->done = done;
	job->cancelled = false;
	loop_hold(loop);
	/* Fails only without a work function. */
	BUG_ON(uv_queue_work(&loop->uv, &handle->request, job_run, job_after) < 0);
}

void job_cancel(struct job *job)
{
	job->cancelled = true;
	if (job->handle)
		uv_cancel((uv_req_t *)&((struct job_handle *)job->handle)->request);
}

#include "base/base.h"
#include "artifacts/store.h"
#include "db/directory_fixture.h"

#include <time.h>

/* What an artifact store costs: memory with the store open, and the time from the start of an upload to
 * its acknowledgement. */

static const struct artifact_limits LIMITS = {
	.max_bytes = 64 << 20,
	.quota = 1 << 30,
	.ttl_ms = 86400000,
	.sweep_ms = 600000,
	.name_max = 128,
	.list_limit = 1000,
	.collision_limit = 1000,
	.buffer_bytes = 256 << 10,
	.busy_ms = 5000,
	.cache_bytes = 256 << 10,
};

struct run {
	struct loop *loop;
	struct artifact_store *store;
	struct artifact_upload upload;
	struct artifact_get get;
	size_t left, size, at;
	double started, *times;
	bool reading;
	char id[64];
};

static double milliseconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void print_memory(const char *when)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[128];

	BUG_ON(!status);
	while (fgets(line, sizeof(line), status))
		if (strncmp(line, "VmRSS:", 6) == 0)
			printf("%-34s %s", when, line + 6);
	fclose(status);
}

static void next(struct run *run);

static void stopped(void *context)
{
	loop_stop(context);
}

static void took(struct run *run)
{
	run->times[run->at++] = milliseconds_now() - run->started;
	if (--run->left == 0)
		loop_stop(run->loop);
	else
		next(run);
}

static void uploaded(struct artifact_upload *upload, const struct artifact *artifact, const struct err *err)
{
	struct run *run = container_of(upload, struct run, upload);

	if (err)
		fprintf(stderr, "%s\n", err->message);
	BUG_ON(!artifact);
	snprintf(run->id, sizeof(run->id), "%.*s", STR_ARG(artifact->id));
	took(run);
}

static void got(struct artifact_get *get, const struct artifact *artifact, int fd, const struct err *err)
{
	BUG_ON(err || artifact->size == 0);
	close_fd(&fd);
	took(container_of(get, struct run, get));
}

static void next(struct run *run)
{
	struct artifact_spec spec = { .name = STR("bench.bin") };
	char *bytes;

	run->started = milliseconds_now();
	if (run->reading) {
		artifact_get_start(&run->get, run->store, str_of(run->id), true, got);
		return;
	}
	bytes = xcalloc(1, run->size);
	snprintf(bytes, run->size, "%zu %zu", run->size, run->left);
	artifact_upload_memory(&run->upload, run->store, &spec, str_make(bytes, run->size), false, uploaded);
}

static int compare_times(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct run *run, const char *what, size_t count, size_t size, bool reading)
{
	run->times = xcalloc(count, sizeof(*run->times));
	run->left = count;
	run->size = size;
	run->at = 0;
	run->reading = reading;
	next(run);
	loop_run(run->loop);
	qsort(run->times, count, sizeof(*run->times), compare_times);
	printf("%-34s %.2f ms at p50, %.2f ms at p95\n", what, run->times[count / 2],
	       run->times[count * 95 / 100]);
	free(run->times);
}

int main(void)
{
	struct test_directory directory;
	struct run run = { 0 };
	struct err err;
	double started;

	test_directory_make(&directory);
	print_memory("memory before");
	BUG_ON(loop_new(&run.loop, &err) < 0);
	started = milliseconds_now();
	BUG_ON(artifact_store_open(&run.store, run.loop, test_directory_path(&directory, "artifacts"),
				   &LIMITS, &err) < 0);
	printf("%-34s %.2f ms\n", "opening a new store", milliseconds_now() - started);
	print_memory("memory with the store open");
	measure(&run, "upload of 10 kB", 1000, 10000, false);
	print_memory("memory after 1,000 uploads");
	measure(&run, "get", 1000, 0, true);
	measure(&run, "upload of 1 MiB", 50, 1 << 20, false);
	print_memory("memory after 50 uploads of 1 MiB");
	artifact_store_close(&run.store, stopped, run.loop);
	loop_run(run.loop);
	started = milliseconds_now();
	BUG_ON(artifact_store_open(&run.store, run.loop, test_directory_path(&directory, "artifacts"),
				   &LIMITS, &err) < 0);
	printf("%-34s %.2f ms\n", "opening it again", milliseconds_now() - started);
	artifact_store_close(&run.store, stopped, run.loop);
	loop_run(run.loop);
	loop_free(&run.loop);
	test_directory_remove(&directory);
	return 0;
}

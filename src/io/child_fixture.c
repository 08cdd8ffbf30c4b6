#include "base/base.h"
#include "io/child_fixture.h"
#include "io/files.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sys/wait.h>

struct loop *stage_loop;
const char *stage_environment[8];
static char mark[64];
static unsigned descriptors_before;

enum { PROC_FILE_MAX = 1 << 20 };

/* -- the scene ------------------------------------------------------------------------------------------- */

static void scene_tell(struct scene *scene, struct str line, bool too_long)
{
	size_t n = strlen(scene->story);

	if (scene->spec.raw_stdout)
		snprintf(scene->story + n, STORY_MAX - n, "%.*s", STR_ARG(line));
	else
		snprintf(scene->story + n, STORY_MAX - n, "[%.*s]%s", STR_ARG(line), too_long ? "!" : "");
}

/* The first line may be here before the supervisor's word that the child runs. */
static void scene_line(struct timer *timer)
{
	struct scene *scene = container_of(timer, struct scene, line_timer);

	if (!scene->on_line || scene->exits)
		return;
	if (scene->child.pid)
		scene->on_line(scene);
	else
		timer_start(timer, stage_loop, 1, scene_line);
}

static void scene_output(struct child *child, struct str line, bool too_long)
{
	struct scene *scene = container_of(child, struct scene, child);

	assert_int_equal(scene->exits, 0);
	scene->bytes += line.n;
	scene->lines++;
	if (line.n < 100)
		scene_tell(scene, line, too_long);
	scene_line(&scene->line_timer);
}

static void scene_long_line_ended(struct child *child)
{
	struct scene *scene = container_of(child, struct scene, child);
	size_t n = strlen(scene->story);

	snprintf(scene->story + n, STORY_MAX - n, ".");
}

void scene_exited(struct child *child, const struct child_status *status)
{
	struct scene *scene = container_of(child, struct scene, child);
	struct str words = child_stderr(child);

	scene->exits++;
	scene->status = *status;
	snprintf(scene->last_words, STORY_MAX, "%.*s", STR_ARG(words));
}

void scene_writable(struct child *child)
{
	container_of(child, struct scene, child)->writable++;
}

void scene_init(struct scene *scene)
{
	*scene = (struct scene){
		.spec = { .supervisor = getenv("MCPX_SUPERVISOR"),
			  .env = stage_environment,
			  .stdin_fd = CHILD_STDIN_PIPE,
			  .line_max = 64 * 1024,
			  .stderr_keep = 1000,
			  .input_max = 1 << 20,
			  .close_ms = LONG_MS,
			  .term_ms = LONG_MS,
			  .kill_ms = LONG_MS },
		.events = { .output = scene_output,
			    .long_line_ended = scene_long_line_ended,
			    .exited = scene_exited,
			    .writable = scene_writable },
	};
	assert_non_null(scene->spec.supervisor);
}

void scene_start(struct scene *scene, const char *const *argv)
{
	struct err err;

	scene->spec.argv = argv;
	if (child_start(&scene->child, stage_loop, &scene->spec, &scene->events, &err) < 0)
		fail_msg("%s", err.message);
}

void scene_run(struct scene *scene)
{
	loop_run(stage_loop);
	assert_int_equal(scene->exits, 1);
	assert_null(scene->child.process);
}

/* -- what is left ---------------------------------------------------------------------------------------- */

static bool is_marked(const char *pid)
{
	char path[300];
	struct str text;
	bool found;

	snprintf(path, sizeof(path), "/proc/%s/environ", pid);
	if (file_read(path, PROC_FILE_MAX, &text, NULL) < 0)
		return false;
	found = str_find(text, str_make(mark, strlen(mark) + 1)) != STR_NONE;
	free((char *)text.p);
	return found;
}

unsigned count_marked(void)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	unsigned count = 0;

	while ((entry = readdir(processes)))
		count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && is_marked(entry->d_name);
	closedir(processes);
	return count;
}

bool wait_until_unmarked(unsigned most_ms)
{
	for (unsigned waited = 0; waited < most_ms; waited++) {
		if (count_marked() == 0)
			return true;
		poll(NULL, 0, 1);
	}
	return false;
}

bool no_zombies(void)
{
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

unsigned count_descriptors(void)
{
	DIR *entries = opendir("/proc/self/fd");
	unsigned count = 0;

	while (readdir(entries))
		count++;
	closedir(entries);
	return count;
}

pid_t parent_of(pid_t pid)
{
	char path[64];
	struct str text, rest;
	uint64_t parent;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	assert_int_equal(file_read(path, PROC_FILE_MAX, &text, NULL), 0);
	rest = str_from(text, str_find_last_char(text, ')') + strlen(") S "));
	assert_int_equal(str_to_u64(str_slice(rest, 0, str_find_char(rest, ' ')), &parent), 0);
	free((char *)text.p);
	return (pid_t)parent;
}

/* -- the stage ------------------------------------------------------------------------------------------- */

int stage_set_up(void **state)
{
	static unsigned number;

	(void)state;
	snprintf(mark, sizeof(mark), "MCPX_TEST_MARK=%ld-%u", (long)getpid(), ++number);
	memset(stage_environment, 0, sizeof(stage_environment));
	stage_environment[0] = mark;
	stage_environment[1] = "PATH=/usr/bin:/bin";
	descriptors_before = count_descriptors();
	return loop_new(&stage_loop, NULL);
}

int stage_tear_down(void **state)
{
	(void)state;
	loop_free(&stage_loop);
	return count_marked() == 0 && no_zombies() && count_descriptors() == descriptors_before ? 0 : -1;
}

/* The first loop opens what libuv keeps for the whole life of the process. */
int stage_prepare(void)
{
	if (chdir("/") < 0 || loop_new(&stage_loop, NULL) < 0)
		return -1;
	loop_free(&stage_loop);
	return 0;
}

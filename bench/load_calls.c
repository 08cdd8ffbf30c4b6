/*
 * Calls one after the other, from several callers at once, and how long they take:
 *
 * load_calls http SOCKET TARGET CALLERS CALLS BODY [FIELD: VALUE]...    the daemon, over its unix socket
 * load_calls pipes COMMAND CALLS LINE                                   a server on pipes, which is what no
 * hub can be faster than
 *
 * Each caller has a connection of its own and sends the next request when it has read the answer whole.
 * Prints p50 and p99 in microseconds, and calls in a second. A call that fails ends everything with 1.
 */
#include "base/base.h"
#include "base/str.h"
#include "io/http_client.h"

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

enum {
	CALLERS_MAX = 256,
	CALLS_MAX = 10000000,
	WARM_UP = 50, /* calls of each caller before the clock counts */
	FIELDS_MAX = 8,
	WAIT_MS = 30000,
	ANSWER_MAX = 32 << 20, /* bytes */
};

struct load {
	const char *socket;
	struct http_client_request request;
	struct http_field fields[FIELDS_MAX];
	size_t callers, calls; /* calls of each caller */
	double *us;	       /* callers * calls */
	pthread_barrier_t begin;
};

struct caller {
	struct load *load;
	double *us;
	double began, ended;
	pthread_t thread;
};

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static _noreturn_ void die(const char *what)
{
	fprintf(stderr, "load_calls: %s\n", what);
	exit(EXIT_FAILURE);
}

/* -- over HTTP ------------------------------------------------------------------------------------------- */

static void call_once(struct http_client *client, const struct load *load, struct buf *body)
{
	struct http_client_answer answer;
	struct err err;

	buf_clear(body, ANSWER_MAX);
	if (http_client_send(client, &load->request, &answer, &err) < 0 ||
	    http_client_read_all(client, body, &err) < 0)
		die(err.message);
	if (answer.status != 200 || str_find(buf_str(body), STR("\"content\"")) == STR_NONE) {
		buf_append_char(body, '\0');
		die(body->p);
	}
}

static void *caller_run(void *context)
{
	const struct http_client_limits limits = {
		.connect_ms = WAIT_MS, .write_ms = WAIT_MS, .answer_ms = WAIT_MS, .quiet_ms = WAIT_MS
	};
	struct caller *caller = context;
	const struct load *load = caller->load;
	struct http_client *client = xnew(struct http_client);
	struct buf body;
	struct err err;

	buf_init(&body, ANSWER_MAX);
	if (http_client_open_unix(client, load->socket, &limits, &err) < 0)
		die(err.message);
	for (size_t i = 0; i < WARM_UP; i++)
		call_once(client, load, &body);
	pthread_barrier_wait(&caller->load->begin);
	caller->began = now_us();
	for (size_t i = 0; i < load->calls; i++) {
		double sent = now_us();

		call_once(client, load, &body);
		caller->us[i] = now_us() - sent;
	}
	caller->ended = now_us();
	http_client_close(client);
	buf_release(&body);
	free(client);
	return NULL;
}

/* Seconds from the first call to the end of the last. */
static double load_run(struct load *load)
{
	struct caller callers[CALLERS_MAX];
	double began = 0, ended = 0;

	pthread_barrier_init(&load->begin, NULL, (unsigned)load->callers);
	for (size_t i = 0; i < load->callers; i++) {
		callers[i] = (struct caller){ .load = load, .us = load->us + i * load->calls };
		if (pthread_create(&callers[i].thread, NULL, caller_run, &callers[i]) != 0)
			die("no thread for a caller");
	}
	for (size_t i = 0; i < load->callers; i++) {
		pthread_join(callers[i].thread, NULL);
		began = i == 0 || callers[i].began < began ? callers[i].began : began;
		ended = callers[i].ended > ended ? callers[i].ended : ended;
	}
	return (ended - began) / 1e6;
}

/* -- on pipes -------------------------------------------------------------------------------------------- */

static pid_t spawn_on_pipes(char *command, FILE **ret_to, FILE **ret_from)
{
	posix_spawn_file_actions_t actions;
	char *words[] = { command, NULL };
	int in[2], out[2];
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		die("no pipes");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	if (posix_spawn(&pid, command, &actions, NULL, words, environ) != 0)
		die("the server does not start");
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	*ret_to = fdopen(in[1], "w");
	*ret_from = fdopen(out[0], "r");
	return pid;
}

static double pipes_run(char *command, const char *request, double *us, size_t calls)
{
	FILE *to, *from;
	pid_t pid = spawn_on_pipes(command, &to, &from);
	char *line = NULL;
	size_t room = 0;
	double began = 0;

	for (size_t i = 0; i < WARM_UP + calls; i++) {
		double sent = now_us();

		began = i == WARM_UP ? sent : began;
		if (fprintf(to, "%s\n", request) < 0 || fflush(to) != 0 || getline(&line, &room, from) < 0)
			die("the server has ended");
		if (i >= WARM_UP)
			us[i - WARM_UP] = now_us() - sent;
	}
	began = now_us() - began;
	free(line);
	fclose(to);
	fclose(from);
	waitpid(pid, NULL, 0);
	return began / 1e6;
}

/* -- the program ----------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(double *us, size_t count, double seconds)
{
	qsort(us, count, sizeof(*us), compare);
	printf("%.1f %.1f %.0f\n", us[count / 2], us[count * 99 / 100], (double)count / seconds);
}

static size_t number(const char *text, size_t most)
{
	uint64_t n;

	if (str_to_u64(str_of(text), &n) < 0 || n == 0 || n > most)
		die("a number is wrong");
	return (size_t)n;
}

static void take_fields(struct load *load, char **words)
{
	for (; *words; words++) {
		struct str word = str_of(*words);
		size_t colon = str_find(word, STR(": "));

		if (colon == STR_NONE || load->request.field_count == FIELDS_MAX)
			die("a field is wrong");
		load->fields[load->request.field_count++] =
			(struct http_field){ str_slice(word, 0, colon), str_from(word, colon + 2) };
	}
}

int main(int argc, char **argv)
{
	struct load load = { 0 };
	double seconds;

	if (argc >= 7 && strcmp(argv[1], "http") == 0) {
		load.socket = argv[2];
		load.callers = number(argv[4], CALLERS_MAX);
		load.calls = number(argv[5], CALLS_MAX) / load.callers;
		load.request = (struct http_client_request){ .method = STR("POST"),
							     .target = str_of(argv[3]),
							     .fields = load.fields,
							     .body = str_of(argv[6]) };
		take_fields(&load, argv + 7);
		load.us = xcalloc(load.callers * load.calls + 1, sizeof(double));
		seconds = load_run(&load);
		print(load.us, load.callers * load.calls, seconds);
	} else if (argc == 5 && strcmp(argv[1], "pipes") == 0) {
		load.calls = number(argv[3], CALLS_MAX);
		load.us = xcalloc(load.calls + 1, sizeof(double));
		seconds = pipes_run(argv[2], argv[4], load.us, load.calls);
		print(load.us, load.calls, seconds);
	} else {
		die("see the head of its source for what it takes");
	}
	free(load.us);
	return 0;
}

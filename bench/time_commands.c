/*
 * How long commands take, from posix_spawn(3) to their end: time_commands ROUNDS COMMAND... [--
 * COMMAND...]...
 *
 * The commands take turns, so that what else the machine does meets them alike. Prints one line per command:
 * p50, p90 and least, in milliseconds. Their output goes nowhere; a command that fails ends everything with
 * 1. Stands for a shell, which costs less than any script that could measure.
 */
#include "base/base.h"
#include "base/str.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

enum { COMMANDS_MAX = 16, ROUNDS_MAX = 10000 };

struct command {
	char **words; /* followed by NULL */
	double *ms;   /* one for each round */
};

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Milliseconds, or a negative number when the command failed. */
static double time_command(const struct command *command, const posix_spawn_file_actions_t *nowhere)
{
	double begin = now_ms();
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, command->words[0], nowhere, NULL, command->words, environ) != 0)
		return -1;
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return -1;
	return now_ms() - begin;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Cuts the words at each "--". */
static size_t split(char **words, struct command *commands, size_t rounds)
{
	size_t count = 0;

	for (; *words && count < COMMANDS_MAX; count++) {
		commands[count].words = words;
		commands[count].ms = xcalloc(rounds, sizeof(double));
		while (*words && strcmp(*words, "--") != 0)
			words++;
		if (*words)
			*words++ = NULL;
	}
	return count;
}

int main(int argc, char **argv)
{
	struct command commands[COMMANDS_MAX];
	posix_spawn_file_actions_t nowhere;
	uint64_t rounds;
	size_t count;

	if (argc < 3 || str_to_u64(str_of(argv[1]), &rounds) < 0 || rounds == 0 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: time_commands ROUNDS COMMAND... [-- COMMAND...]...\n");
		return 2;
	}
	posix_spawn_file_actions_init(&nowhere);
	posix_spawn_file_actions_addopen(&nowhere, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&nowhere, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	count = split(argv + 2, commands, rounds);
	for (size_t round = 0; round < rounds; round++) {
		for (size_t i = 0; i < count; i++) {
			commands[i].ms[round] = time_command(&commands[i], &nowhere);
			if (commands[i].ms[round] < 0) {
				fprintf(stderr, "time_commands: %s failed\n", commands[i].words[0]);
				return 1;
			}
		}
	}
	for (size_t i = 0; i < count; i++) {
		qsort(commands[i].ms, rounds, sizeof(double), compare);
		printf("%.3f %.3f %.3f\n", commands[i].ms[rounds / 2], commands[i].ms[rounds * 9 / 10],
		       commands[i].ms[0]);
		free(commands[i].ms);
	}
	posix_spawn_file_actions_destroy(&nowhere);
	return 0;
}

/*
 * log_file.h - the daemon's durable log: one record a line, rolled by size.
 *
 * When the file would pass its maximum it becomes FILE.1, FILE.1 becomes FILE.2 and so on; the oldest goes.
 * Writing is one write(2) of a whole line to a file opened for appending, so that lines of several processes
 * do not mix. A line that cannot be written is dropped and counted: on a full disk, or when there was no
 * descriptor for the next file, which is tried again at each line. Single-threaded.
 */
#ifndef DAEMON_LOG_FILE_H
#define DAEMON_LOG_FILE_H

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

struct log_file {
	char *path; /* NULL while nothing is open */
	int fd;
	uint64_t size, max_bytes;
	unsigned keep;	  /* rolled files; 0: none, what is full is begun anew */
	uint64_t dropped; /* lines */
	bool cut;	  /* the last line lacks its end */
};

/* Opens or creates it with mode 0600. */
int log_file_open(struct log_file *file, const char *path, uint64_t max_bytes, unsigned keep,
		  struct err *err);
/* Goes on in the file of that name when it is another than before: somebody has removed or renamed it. */
void log_file_follow(struct log_file *file);
void log_file_write(struct log_file *file, struct str line);
/* Accepts a zeroed or closed one. */
void log_file_close(struct log_file *file);

#endif

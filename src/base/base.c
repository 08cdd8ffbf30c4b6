#include "base/base.h"

#include <errno.h>

void bug(const char *file, int line, const char *what)
{
	fprintf(stderr, "BUG: %s:%d: %s\n", file, line, what);
	abort();
}

static _noreturn_ _cold_ void out_of_memory(size_t size)
{
	fprintf(stderr, "out of memory: %zu bytes\n", size);
	abort();
}

void *xmalloc(size_t size)
{
	void *p = malloc(size_max(size, 1));

	if (!p)
		out_of_memory(size);
	return p;
}

void *xcalloc(size_t count, size_t size)
{
	void *p = calloc(size_max(count, 1), size_max(size, 1));

	if (!p)
		out_of_memory(size);
	return p;
}

void *xrealloc(void *old, size_t size)
{
	void *p = realloc(old, size_max(size, 1));

	if (!p)
		out_of_memory(size);
	return p;
}

void close_fd(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

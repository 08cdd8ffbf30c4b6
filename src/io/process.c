#include "base/base.h"
#include "io/process.h"
#include "base/str.h"

#include <fcntl.h>

uint64_t process_memory(void)
{
	_cleanup_close_ int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	struct str rest = str_make(text, n > 0 ? (size_t)n : 0), field;
	uint64_t pages;

	/* The second field is the resident set, in pages. */
	if (n <= 0 || !str_split(&rest, ' ', &field) || !str_split(&rest, ' ', &field) ||
	    str_to_u64(field, &pages) < 0)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

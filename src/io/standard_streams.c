#include "base/base.h"
#include "io/standard_streams.h"

#include <fcntl.h>

/* The lowest free number is the one that is given out, so that in rising order each gets its own. */
int standard_streams_open(struct err *err)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY | O_CLOEXEC) != fd)
			return err_errno(err, "cannot open /dev/null in place of a closed standard stream");
	return 0;
}

#include "base/base.h"
#include "cli/standard_input.h"
#include "base/buf.h"

#include <errno.h>
#include <unistd.h>

enum {
	PIECE = 65536, /* bytes of one read */
};

int standard_input_read(size_t bytes_max, struct arena *arena, struct str *ret_text, struct err *err)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, bytes_max);
	for (;;) {
		char *room = buf_reserve(&text, size_min(PIECE, bytes_max - text.n ? bytes_max - text.n : 1));
		ssize_t n;

		if (!room)
			return err_set(err, ERR_TOO_LARGE, "standard input has more than %zu bytes",
				       bytes_max);
		n = read(STDIN_FILENO, room, size_min(PIECE, bytes_max - text.n));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, "cannot read standard input");
		if (n == 0)
			break;
		buf_claim(&text, (size_t)n);
	}
	*ret_text = arena_copy(arena, buf_str(&text));
	return 0;
}

bool standard_input_is_terminal(void)
{
	return isatty(STDIN_FILENO) == 1;
}

#include "base/base.h"
#include "cli/terminal.h"

#include "cli/display.h"

#include <errno.h>
#include <sys/ioctl.h>

enum {
	WIDTH_UNKNOWN = 80, /* columns, where a terminal does not say */
};

static unsigned terminal_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDTH_UNKNOWN;
}

static bool wants_colour(const struct terminal *terminal, const struct settings *set,
			 const struct environment *environment)
{
	switch (settings_choice(set, SETTING_OUTPUT_COLOR)) {
	case CHOICE_OUTPUT_COLOR_ALWAYS:
		return true;
	case CHOICE_OUTPUT_COLOR_NEVER:
		return false;
	default:
		return terminal->is_terminal && !terminal->dumb &&
		       environment_get(environment, STR("NO_COLOR")).n == 0;
	}
}

void terminal_init(struct terminal *terminal, int fd, const struct settings *set,
		   const struct environment *environment)
{
	*terminal = (struct terminal){ .fd = fd, .is_terminal = isatty(fd) };
	terminal->dumb =
		terminal->is_terminal && str_eq(environment_get(environment, STR("TERM")), STR("dumb"));
	terminal->width = terminal->is_terminal ? terminal_columns(fd) : 0;
	terminal->colour = wants_colour(terminal, set, environment);
}

void terminal_style(const struct terminal *terminal, struct buf *out, enum style style, struct str text)
{
	/* Select graphic rendition (ECMA-48 section 8.3.117): the palette's own colours, which every theme
	 * makes readable. */
	static const char *const codes[] = {
		[STYLE_STRONG] = "1", [STYLE_FAINT] = "2", [STYLE_GOOD] = "32",
		[STYLE_BAD] = "31",   [STYLE_NAME] = "36",
	};

	if (style == STYLE_PLAIN || !terminal->colour) {
		terminal_append(terminal, out, text);
		return;
	}
	buf_printf(out, "\033[%sm", codes[style]);
	terminal_append(terminal, out, text);
	buf_append(out, STR("\033[0m"));
}

void terminal_append(const struct terminal *terminal, struct buf *out, struct str text)
{
	if (terminal->is_terminal)
		display_text(out, text);
	else
		buf_append(out, text);
}

int terminal_write(const struct terminal *terminal, struct str bytes, struct err *err)
{
	while (bytes.n) {
		ssize_t written = write(terminal->fd, bytes.p, bytes.n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0 && errno == EPIPE)
			return err_set(err, ERR_CLOSED, "nobody reads standard %s any more",
				       terminal->fd == STDOUT_FILENO ? "output" : "error");
		if (written < 0)
			return err_errno(err, "cannot write to standard %s",
					 terminal->fd == STDOUT_FILENO ? "output" : "error");
		bytes = str_from(bytes, (size_t)written);
	}
	return 0;
}

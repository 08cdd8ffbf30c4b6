#include "base/base.h"
#include "cli/progress.h"

#include "cli/display.h"

enum {
	BAR = 24,	       /* columns between the brackets */
	LINE_MAX_BYTES = 4096, /* of one line with its message */
};

bool progress_wanted(const struct settings *set, const struct terminal *terminal)
{
	switch (settings_choice(set, SETTING_OUTPUT_PROGRESS)) {
	case CHOICE_OUTPUT_PROGRESS_ALWAYS:
		return true;
	case CHOICE_OUTPUT_PROGRESS_NEVER:
		return false;
	default:
		return progress_is_one_line(terminal);
	}
}

bool progress_is_one_line(const struct terminal *terminal)
{
	return terminal->is_terminal && !terminal->dumb;
}

static double share_done(const struct json *params)
{
	double done = 0, total = 0;

	if (json_double(json_get(params, STR("progress")), &done) < 0 ||
	    json_double(json_get(params, STR("total")), &total) < 0 || !(total > 0))
		return -1;
	return done < 0 ? 0 : done > total ? 1 : done / total;
}

static void bar(struct buf *out, double share)
{
	int filled = (int)(share * BAR);

	buf_append_char(out, '[');
	for (int i = 0; i < BAR; i++)
		buf_append_char(out, i < filled ? '#' : ' ');
	buf_printf(out, "] %3d%%", (int)(share * 100));
}

void progress_line(struct buf *out, const struct json *params, size_t width)
{
	struct str message = json_str(json_get(params, STR("message")));
	double share = share_done(params);
	_cleanup_buf_ struct buf line = { 0 };

	buf_init(&line, LINE_MAX_BYTES);
	if (share >= 0)
		bar(&line, share);
	else
		buf_printf(&line, "progress %.*s",
			   STR_ARG(json_number_text(json_get(params, STR("progress")))));
	if (message.n) {
		buf_append(&line, STR("  "));
		display_line(&line, str_slice(message, 0, LINE_MAX_BYTES / 8));
	}
	if (buf_failed(&line))
		return;
	/* The last column stays free: a full line would wrap, and could not be written over. */
	buf_append(out, width > 1 ? display_cut(buf_str(&line), width - 1) : buf_str(&line));
}

void progress_show(struct progress *progress, const struct json *params)
{
	const struct terminal *terminal = progress->terminal;
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, LINE_MAX_BYTES + sizeof(PROGRESS_WIPE));
	progress->shown = progress_is_one_line(terminal);
	if (progress->shown)
		buf_append(&out, STR(PROGRESS_WIPE));
	progress_line(&out, params, terminal->width);
	if (!progress->shown)
		buf_append_char(&out, '\n');
	if (!buf_failed(&out))
		(void)terminal_write(terminal, buf_str(&out), NULL);
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		(void)terminal_write(progress->terminal, STR(PROGRESS_WIPE), NULL);
	progress->shown = false;
}

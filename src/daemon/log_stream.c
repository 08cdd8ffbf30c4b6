#include "base/base.h"
#include "daemon/log_stream.h"
#include "io/files.h"

/* True when all of it was written. */
static bool stream_put(struct log_stream *stream, struct str bytes)
{
	size_t written = file_write_now(stream->fd, bytes);

	stream->cut = written > 0 ? written < bytes.n : stream->cut;
	return written == bytes.n;
}

static bool stream_tell_dropped(struct log_stream *stream, const struct logger *logger)
{
	_cleanup_buf_ struct buf line = { .max = logger->bounds.line_max };
	const struct log_record record = {
		.wall_ms = logger->clock(),
		.level = LOG_LEVEL_WARN,
		.message = STR("log.dropped"),
		.fields = LOG_FIELDS(log_uint("records", stream->dropped),
				     log_cstr("detail", "standard error was not read")),
	};

	if (log_render(&line, logger->format, &logger->bounds, &record) < 0 ||
	    !stream_put(stream, buf_str(&line)))
		return false;
	stream->dropped = 0;
	return true;
}

void log_stream_write(struct log_stream *stream, const struct logger *logger, struct str line)
{
	if ((stream->cut && !stream_put(stream, STR("\n"))) ||
	    (stream->dropped && !stream_tell_dropped(stream, logger)) || !stream_put(stream, line))
		stream->dropped++;
}

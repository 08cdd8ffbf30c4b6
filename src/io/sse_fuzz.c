/* Cut anywhere, a stream has the same events; and what is read can be written and reads the same again. The
 * first byte says how the rest is cut. */
#include "base/base.h"
#include "io/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENT_MAX = 256 /* small, so that inputs reach it */ };

/* Writes each event down anew; returns what ended the reading. Without ids, of which a writer cannot say that
 * there is none again. */
static int rewrite(struct str stream, size_t step, bool ids, struct buf *out)
{
	struct sse_reader reader;
	struct sse_message message;
	int result = 0;

	sse_reader_init(&reader, EVENT_MAX);
	while (stream.n && result == 0) {
		struct str piece = str_slice(stream, 0, step);

		stream = str_from(stream, piece.n);
		while ((result = sse_read(&reader, &piece, &message, NULL)) > 0) {
			BUG_ON(message.data.n > EVENT_MAX);
			/* An event's name may hold a NUL, which we do not write. */
			if (sse_event(out, message.event, ids ? message.id : STR(""), message.data) ==
			    ERR_INVALID)
				BUG_ON(str_find_char(message.event, '\0') == STR_NONE);
		}
	}
	sse_reader_release(&reader);
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = str_from(str_make((const char *)data, size), 1);
	_cleanup_buf_ struct buf whole = { 0 }, cut = { 0 }, again = { 0 };
	/* Each event costs at most the names of its fields, an id of EVENT_MAX, and what stood in the
	 * stream. */
	size_t room = (size + 2) * (EVENT_MAX + 64);
	int result;

	buf_init(&whole, room);
	buf_init(&cut, room);
	buf_init(&again, room);
	result = rewrite(input, SIZE_MAX, true, &whole);
	BUG_ON(rewrite(input, size ? 1 + data[0] % 16u : 1, true, &cut) != result);
	BUG_ON(!str_eq(buf_str(&whole), buf_str(&cut)));
	buf_clear(&whole, SIZE_MAX);
	rewrite(input, SIZE_MAX, false, &whole);
	/* Written by us, the lines are longer ("data: " for "data"), so that an event at the limit may pass
	 * it. */
	if (rewrite(buf_str(&whole), SIZE_MAX, false, &again) == 0)
		BUG_ON(!str_eq(buf_str(&whole), buf_str(&again)));
	return 0;
}

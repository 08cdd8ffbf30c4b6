/* Cut anywhere, a stream gives the lines that cutting it at every "\n" gives. The first byte is the maximum,
 * the second says in what pieces the rest comes. */
#include "base/base.h"
#include "io/line_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is left of the stream by the plain reading; a line that is given out must be its next one. */
static void check_line(struct str *rest, size_t max, const struct line *line)
{
	struct str expected;
	size_t end = str_find_char(*rest, '\n');

	if (line->long_ended) {
		BUG_ON(line->too_long || line->text.n);
		return;
	}
	expected = str_slice(*rest, 0, end);
	*rest = end == STR_NONE ? str_from(*rest, rest->n) : str_from(*rest, end + 1);
	BUG_ON(line->too_long != (expected.n > max));
	BUG_ON(!str_eq(line->text, str_slice(expected, 0, max)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str stream, expected;
	struct line_reader reader;
	struct line line;
	size_t max, step;

	if (size < 2)
		return 0;
	max = data[0];
	step = (size_t)data[1] + 1;
	expected = stream = str_make((const char *)data + 2, size - 2);
	line_reader_init(&reader, max);
	while (stream.n) {
		size_t room, n;
		char *at = line_reader_room(&reader, &room);

		n = size_min(size_min(step, room), stream.n);
		memcpy(at, stream.p, n);
		line_reader_claim(&reader, n);
		stream = str_from(stream, n);
		while (line_reader_next(&reader, &line))
			check_line(&expected, max, &line);
		BUG_ON(byte_queue_length(&reader.bytes) > max + reader.given);
	}
	if (line_reader_last(&reader, &line))
		check_line(&expected, max, &line);
	BUG_ON(expected.n);
	line_reader_release(&reader);
	return 0;
}

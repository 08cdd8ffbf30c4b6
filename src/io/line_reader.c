#include "base/base.h"
#include "io/line_reader.h"

/* How much is asked of the stream at once: as much again as is already there of a line, within these. */
enum { PIECE_LEAST = 4 * 1024, PIECE_MOST = 64 * 1024 };

void line_reader_init(struct line_reader *reader, size_t max)
{
	*reader = (struct line_reader){ .max = max };
}

void line_reader_release(struct line_reader *reader)
{
	byte_queue_release(&reader->bytes);
	line_reader_init(reader, reader->max);
}

static void line_reader_drop_given(struct line_reader *reader)
{
	byte_queue_drop(&reader->bytes, reader->given);
	reader->given = 0;
}

char *line_reader_room(struct line_reader *reader, size_t *ret_n)
{
	size_t there, room;
	char *at;

	line_reader_drop_given(reader);
	there = byte_queue_length(&reader->bytes);
	at = byte_queue_room(&reader->bytes, size_min(size_max(there, PIECE_LEAST), PIECE_MOST), &room);
	*ret_n = size_min(room, PIECE_MOST);
	return at;
}

void line_reader_claim(struct line_reader *reader, size_t n)
{
	byte_queue_claim(&reader->bytes, n);
}

static bool line_reader_give(struct line_reader *reader, size_t length, size_t with_end,
			     struct line *ret_line)
{
	struct str bytes = byte_queue_str(&reader->bytes);

	*ret_line = (struct line){
		.text = str_slice(bytes, 0, size_min(length, reader->max)),
		.too_long = length > reader->max,
	};
	reader->given = with_end;
	reader->scanned = 0;
	return true;
}

/* The offset of the next "\n", or STR_NONE. */
static size_t line_reader_scan(struct line_reader *reader)
{
	struct str bytes = byte_queue_str(&reader->bytes);
	size_t at = str_find_char(str_from(bytes, reader->scanned), '\n');

	if (at == STR_NONE)
		reader->scanned = bytes.n;
	return at == STR_NONE ? STR_NONE : reader->scanned + at;
}

/* Drops what is there of a line that was too long. True when it has ended. */
static bool line_reader_skip(struct line_reader *reader, size_t end, struct line *ret_line)
{
	byte_queue_drop(&reader->bytes, end == STR_NONE ? byte_queue_length(&reader->bytes) : end + 1);
	reader->scanned = 0;
	reader->skipping = end == STR_NONE;
	*ret_line = (struct line){ .long_ended = true };
	return !reader->skipping;
}

bool line_reader_next(struct line_reader *reader, struct line *ret_line)
{
	size_t end, length;

	line_reader_drop_given(reader);
	end = line_reader_scan(reader);
	if (reader->skipping)
		return line_reader_skip(reader, end, ret_line);
	length = end == STR_NONE ? byte_queue_length(&reader->bytes) : end;
	reader->skipping = length > reader->max;
	if (reader->skipping)
		return line_reader_give(reader, length, length, ret_line);
	return end != STR_NONE && line_reader_give(reader, end, end + 1, ret_line);
}

bool line_reader_last(struct line_reader *reader, struct line *ret_line)
{
	size_t length;

	line_reader_drop_given(reader);
	length = byte_queue_length(&reader->bytes);
	if (reader->skipping || length == 0)
		return false;
	return line_reader_give(reader, length, length, ret_line);
}

/* The input is message, key and value at once: a record stays one line within its bounds, of printable
 * UTF-8. */
#include "base/base.h"
#include "base/log.h"
#include "base/quote.h"
#include "base/utf8_character.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINE_MAX_HERE = 700 /* small, so that bounds are met often */ };

static void check_line(struct str line)
{
	BUG_ON(line.n == 0 || line.n > LINE_MAX_HERE || line.p[line.n - 1] != '\n');
	line.n--;
	while (line.n > 0) {
		uint32_t c;
		unsigned skip, n = utf8_decode_first(line, &c, &skip);

		BUG_ON(n == 0 || (quote_needed(c) && c != '"' && c != '\\'));
		line = str_from(line, n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = str_make((const char *)data, size);
	const struct log_bounds bounds = { .value_max = size ? data[0] : 0, .line_max = LINE_MAX_HERE };
	const struct log_field fields[] = {
		{ LOG_FIELD_STR, input, { .s = input } },
		{ LOG_FIELD_DURATION, str_from(input, 1), { .u = size } },
		{ LOG_FIELD_STR, str_of("value"), { .s = str_from(input, size / 2) } },
		{ LOG_FIELD_END, { NULL, 0 }, { .u = 0 } },
	};
	const struct log_record record = { size, LOG_LEVEL_WARN, input, fields };

	for (int format = LOG_FORMAT_TEXT; format <= LOG_FORMAT_LOGFMT; format++) {
		_cleanup_buf_ struct buf out = { 0 };

		buf_init(&out, LINE_MAX_HERE);
		BUG_ON(log_render(&out, (enum log_format)format, &bounds, &record) < 0);
		check_line(buf_str(&out));
	}
	return 0;
}

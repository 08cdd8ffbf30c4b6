/* Whatever the text: reading either fails with a message on one line, or gives a value that is written and
 * read back equal. */
#include "base/base.h"
#include "base/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_message(const struct err *err)
{
	BUG_ON(err->message[0] == '\0' || strchr(err->message, '\n'));
}

static void check_duration(struct str text)
{
	char storage[DURATION_TEXT_MAX], rough[DURATION_TEXT_MAX];
	struct err err = { 0 };
	uint64_t ms = 0, back = 0;

	if (duration_parse(text, &ms, &err) < 0) {
		check_message(&err);
		return;
	}
	BUG_ON(ms > DURATION_MAX_MS);
	BUG_ON(duration_parse(duration_text(storage, ms), &back, NULL) < 0 || back != ms);
	BUG_ON(duration_rough(rough, ms).n == 0);
}

static void check_byte_size(struct str text)
{
	char storage[BYTE_SIZE_TEXT_MAX], rough[BYTE_SIZE_TEXT_MAX];
	struct err err = { 0 };
	uint64_t bytes = 0, back = 0;

	if (byte_size_parse(text, &bytes, &err) < 0) {
		check_message(&err);
		return;
	}
	BUG_ON(byte_size_parse(byte_size_text(storage, bytes), &back, NULL) < 0 || back != bytes);
	BUG_ON(byte_size_rough(rough, bytes).n == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_make((const char *)data, size);

	check_duration(text);
	check_byte_size(text);
	return 0;
}

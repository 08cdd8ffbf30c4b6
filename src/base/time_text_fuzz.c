/* Whatever the text: what is read is a moment that both writers show, and reads back from what they write. */
#include "base/base.h"
#include "base/time_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_writing(uint64_t ms, uint64_t now_ms)
{
	char storage[TIME_TEXT_MAX];
	uint64_t back = 0;

	if (ms > TIME_MAX_MS)
		ms = TIME_MAX_MS;
	BUG_ON(time_parse_rfc3339(time_rfc3339(storage, ms), &back, NULL) < 0 || back != ms);
	BUG_ON(time_parse_http(time_http(storage, ms), now_ms, &back, NULL) < 0 || back != ms - ms % 1000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_make((const char *)data, size);
	struct err err = { 0 };
	uint64_t ms = 0, now_ms = 0;

	if (size)
		memcpy(&now_ms, data, size_min(size, sizeof(now_ms)));
	if (time_parse_rfc3339(text, &ms, &err) == 0)
		check_writing(ms, now_ms);
	else
		BUG_ON(err.message[0] == '\0' || strchr(err.message, '\n'));
	if (time_parse_http(text, now_ms, &ms, &err) == 0)
		check_writing(ms, now_ms);
	else
		BUG_ON(err.message[0] == '\0' || strchr(err.message, '\n'));
	check_writing(now_ms, now_ms);
	return 0;
}

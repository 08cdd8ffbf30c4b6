/* Both forms are valid UTF-8 and stable, and fail only for what is not UTF-8. */
#include "base/base.h"
#include "text/normal.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef int normaliser(struct buf *out, struct str s, struct err *err);

static void check_stable(normaliser *normal, struct str s)
{
	_cleanup_buf_ struct buf once = { 0 }, twice = { 0 };

	buf_init(&once, SIZE_MAX / 2);
	buf_init(&twice, SIZE_MAX / 2);
	if (normal(&once, s, NULL) < 0) {
		BUG_ON(utf8_valid(s));
		return;
	}
	BUG_ON(!utf8_valid(s) || !utf8_valid(buf_str(&once)));
	BUG_ON(normal(&twice, buf_str(&once), NULL) < 0);
	BUG_ON(!str_eq(buf_str(&once), buf_str(&twice)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str s = str_make((const char *)data, size_min(size, NORMAL_INPUT_MAX / 16));

	check_stable(normal_nfkc, s);
	check_stable(normal_fold, s);
	return 0;
}

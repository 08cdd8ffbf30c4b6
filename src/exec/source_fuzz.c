/* Whatever a script's text is: nothing is read outside it, a wrapped snippet keeps its lines, and what stands
 * in front of it is on one line. */
#include "base/base.h"
#include "exec/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_lines(struct str text)
{
	size_t count = 0;

	for (size_t i = 0; i < text.n; i++)
		count += text.p[i] == '\n';
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf out = { .max = size * 8 + 1024 };
	struct str source = str_make((const char *)data, size);
	size_t columns, prefix = exec_snippet_write(&out, source, STR("./c.mjs"), &columns);
	struct str text = buf_str(&out);

	(void)exec_source_is_module(source);
	BUG_ON(prefix == 0 || prefix > text.n || columns > 2 * prefix);
	BUG_ON(count_lines(str_slice(text, 0, prefix)) != 0);
	/* The text as it was, with blanks where an import stood, and the end of ours. */
	BUG_ON(text.n != prefix + size + strlen("\n});\n"));
	BUG_ON(count_lines(text) != count_lines(source) + 2);
	return 0;
}

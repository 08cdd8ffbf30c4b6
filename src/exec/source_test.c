#include "base/base.h"
#include "exec/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const modules[] = {
	"export default () => 1",
	"  export const a = 1",
	"const a = 1\nexport { a }",
	"import x from 'y'\nexport default x",
	"// return\nexport * from 'y'",
	"/* } */ export default 1",
	"const r = /[/`'{]/g; export default r",
	"const s = `a ${`b ${'}'}`} {`; export default s",
	"const s = 'it\\'s {'; export default s",
	"#!/usr/bin/env deno\nexport default 1",
	"if (a) { b }\nexport default 1",
	"const a = b / c; export default `${a}`; const d = e / f",
};

static const char *const snippets[] = {
	"",
	"return 1",
	"const exports = 1; return exports",
	"const o = { export: 1 }; return o.export",
	"return o\n.export",
	"// export default 1\nreturn 1",
	"/* export */ return 1",
	"const s = 'export default 1'",
	"const s = `\nexport default 1`",
	"const s = `${`${1}\nexport`}`",
	"return /export /.source",
	"return a\n  ? /}export/ : 1",
	"function f() { export default 1 }",
	"const $export = 1, export_ = 2, exporté = 3, #export = 4",
	"return [...exported]",
	"const m = await import('x'); return m.default",
	"return { ...o, export: 1 }",
};

static void test_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(modules); i++)
		if (!exec_source_is_module(str_of(modules[i])))
			fail_msg("a module is taken for a snippet:\n%s", modules[i]);
	for (size_t i = 0; i < ARRAY_LEN(snippets); i++)
		if (exec_source_is_module(str_of(snippets[i])))
			fail_msg("a snippet is taken for a module:\n%s", snippets[i]);
}

#define BEGIN "import{$mcpx}from\"./c.mjs\";"
#define START "$mcpx.start(async()=>{"
#define END "\n});\n"

static const struct {
	const char *source, *module;
} wrapped[] = {
	{ "return 1", BEGIN START "return 1" END },
	{ "return 1 // end", BEGIN START "return 1 // end" END },
	{ "import a from 'b';\nreturn a",
	  BEGIN " import a from 'b';" START "                 ;\nreturn a" END },
	{ "import 'b'\nreturn a", BEGIN " import 'b';" START "          \nreturn a" END },
	{ "import {\n  a, // one\n  \"b-c\" as d\n} from 'e'\nreturn a",
	  BEGIN " import { a , \"b-c\" as d } from 'e';" START
		"        \n           \n            \n          \nreturn a" END },
	{ "import type { A } from './a.ts'; import * as b from \"b\"; b",
	  BEGIN " import type { A } from './a.ts'; import * as b from \"b\";" START
		"                               ;                       ; b" END },
	{ "import j from './j.json' with { type: 'json' }; return j",
	  BEGIN " import j from './j.json' with { type : 'json' };" START
		"                                              ; return j" END },
	{ "const m = await import('x'); return import.meta.url",
	  BEGIN START "const m = await import('x'); return import.meta.url" END },
	{ "if (x) { import y from 'y' }", BEGIN START "if (x) { import y from 'y' }" END },
	{ "import x = require('x')", BEGIN START "import x = require('x')" END },
	{ "import", BEGIN START "import" END },
	{ "import a from", BEGIN START "import a from" END },
	{ "o.import; 'import a from \"b\"'", BEGIN START "o.import; 'import a from \"b\"'" END },
	{ "#!/usr/bin/env mcpx\nreturn 1", BEGIN START "                   \nreturn 1" END },
};

static void test_wrapping(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrapped); i++) {
		_cleanup_buf_ struct buf out = { .max = 4096 };
		size_t columns,
			bytes = exec_snippet_write(&out, str_of(wrapped[i].source), STR("./c.mjs"), &columns);

		assert_string_equal(buf_cstr(&out), wrapped[i].module);
		assert_int_equal(columns, bytes);
		assert_memory_equal(out.p + bytes - sizeof(START) + 1, START, sizeof(START) - 1);
	}
}

/* Runtimes count UTF-16 units. */
static void test_columns(void **state)
{
	_cleanup_buf_ struct buf out = { .max = 4096 };
	size_t columns, bytes;

	(void)state;
	bytes = exec_snippet_write(&out, STR("import a from 'é漢😀'; a"), STR("./c.mjs"), &columns);
	assert_int_equal(bytes - columns, 1 + 2 + 2);
	assert_true(str_ends_with(str_slice(buf_str(&out), 0, bytes), STR(START)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_wrapping),
		cmocka_unit_test(test_columns),
	};

	return cmocka_run_group_tests_name("exec-source", tests, NULL, NULL);
}

#include "base/base.h"
#include "artifacts/type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define PNG "\x89PNG\r\n\x1a\n"

static void test_evidence(void **state)
{
	static const struct {
		const char *mime, *content_type, *name;
		struct str head;
		const char *expected;
	} cases[] = {
		{ "text/x-mine", "image/gif", "a.html", STR_INIT(PNG), "text/x-mine" },
		{ "application/octet-stream", "image/gif", "a.html", STR_INIT(PNG),
		  "application/octet-stream" },
		{ "", "image/gif", "a.html", STR_INIT(PNG), "image/gif" },
		{ "", "text/csv; charset=utf-8", "a.html", STR_INIT(PNG), "text/csv; charset=utf-8" },
		{ "", "application/octet-stream", "a.html", STR_INIT(PNG), "text/html" },
		{ "", "Application/Octet-Stream; x=y", "a.html", STR_INIT(PNG), "text/html" },
		{ "", "application/x-www-form-urlencoded", "a.html", STR_INIT(PNG), "text/html" },
		{ "", "image/png\r\nX-Evil: 1", "a.html", STR_INIT(PNG), "text/html" },
		{ "", "nonsense", "a.html", STR_INIT(PNG), "text/html" },
		{ "", "", "picture", STR_INIT(PNG), "image/png" },
		{ "", "", "notes", STR_INIT("plain words\n"), "text/plain" },
		{ "", "", "data", STR_INIT("\x01\x02\xff\xfe"), "application/octet-stream" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct type_evidence evidence = {
			.mime = str_of(cases[i].mime),
			.content_type = str_of(cases[i].content_type),
			.name = str_of(cases[i].name),
			.head = cases[i].head,
		};
		struct str type = artifact_type(&evidence);

		if (!str_eq(type, str_of(cases[i].expected)))
			fail_msg("case %zu: %.*s should be %s", i, STR_ARG(type), cases[i].expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_evidence) };

	return cmocka_run_group_tests_name("artifact_type", tests, NULL, NULL);
}

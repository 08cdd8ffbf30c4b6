/*
 * The JSON parsing test suite (Nicolas Seriot, "Parsing JSON is a Minefield"): y_ files are JSON, n_ files
 * are not, i_ files are up to the implementation. It is found beside the source tree; without it the test is
 * skipped.
 */
#include "base/base.h"
#include "json/json.h"

#include "base/buf.h"
#include "json/writer.h"

#include <dirent.h>
#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

enum { FILE_MAX = 4 << 20, PATH_LENGTH_MAX = 4096, MEMBERS_MAX = 64, FILES_LEAST = 300 };

static DIR *open_suite(char *path, size_t size)
{
	const char *root = getenv("MESON_SOURCE_ROOT");

	snprintf(path, size, "%s/../shared/data/json-parsing/test_parsing", root ? root : ".");
	return opendir(path);
}

/* The file between two texts. */
static void read_between(struct buf *text, const char *directory, const char *name, struct str before,
			 struct str after)
{
	char path[PATH_LENGTH_MAX];
	char *room;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "re");
	assert_non_null(file);
	buf_init(text, FILE_MAX);
	buf_append(text, before);
	room = buf_reserve(text, FILE_MAX / 2);
	buf_claim(text, fread(room, 1, FILE_MAX / 2, file));
	assert_true(feof(file));
	fclose(file);
	buf_append(text, after);
}

static bool skims(struct str text)
{
	struct json_member members[MEMBERS_MAX];
	_cleanup_arena_ struct arena arena = { 0 };
	size_t count;

	arena_init(&arena, 0);
	return json_skim(text, NULL, &arena, members, MEMBERS_MAX, &count, NULL) == 0;
}

static void assert_writes_an_equal(const struct json *v)
{
	_cleanup_json_ struct json_doc again = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	buf_init(&out, FILE_MAX);
	json_writer_init(&w, &out, false);
	json_write_value(&w, v);
	assert_int_equal(json_parse(&again, buf_str(&out), NULL, NULL), 0);
	assert_true(json_equal(v, json_root(&again)));
}

/* Parses an exact allocation of the text, and asks the other ways in whether they agree. */
static bool accepts(struct str text)
{
	_cleanup_free_ char *exact = xmalloc(text.n);
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_json_ struct json_doc relaxed = { 0 };
	struct str copy = str_make(exact, text.n);
	bool accepted;

	if (text.n)
		memcpy(exact, text.p, text.n);
	accepted = json_parse(&doc, copy, NULL, NULL) == 0;
	assert_int_equal(json_check(copy, NULL, NULL) == 0, accepted);
	assert_int_equal(skims(copy), accepted && json_is(json_root(&doc), JSON_OBJECT));
	if (!accepted)
		return false;
	assert_writes_an_equal(json_root(&doc));
	assert_int_equal(json_parse_jsonc(&relaxed, copy, NULL, NULL), 0);
	assert_true(json_equal(json_root(&doc), json_root(&relaxed)));
	return true;
}

static void check_file(const char *directory, const char *name)
{
	_cleanup_buf_ struct buf text = { 0 };
	_cleanup_buf_ struct buf member = { 0 };
	bool accepted;

	read_between(&text, directory, name, STR(""), STR(""));
	accepted = accepts(buf_str(&text));
	if ((name[0] == 'y' && !accepted) || (name[0] == 'n' && accepted))
		fail_msg("%s was %s", name, accepted ? "accepted" : "refused");
	/* Within an object, so that json_skim() has a say about all of them. */
	read_between(&member, directory, name, STR("{\"value\":"), STR("}"));
	if (accepts(buf_str(&member)) != accepted)
		fail_msg("%s as a member was %s", name, accepted ? "refused" : "accepted");
}

static void test_suite(void **state)
{
	char path[PATH_LENGTH_MAX];
	DIR *dir = open_suite(path, sizeof(path));
	struct dirent *entry;
	size_t files = 0;

	(void)state;
	if (!dir) {
		print_message("skipped: there is no %s\n", path);
		skip();
	}
	while ((entry = readdir(dir))) {
		if (!str_ends_with(str_of(entry->d_name), STR(".json")))
			continue;
		check_file(path, entry->d_name);
		files++;
	}
	closedir(dir);
	assert_true(files >= FILES_LEAST);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_suite) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Parses, checks, skims and writes whatever comes, and insists that all of them agree; with jansson, that it
 * agrees too.
 */
#include "base/base.h"
#include "json/json.h"

#include "base/buf.h"
#include "json/writer.h"

#ifdef HAVE_JANSSON
#include "json/jansson_fixture.h"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUTPUT_MAX = 64 << 20, MEMBERS_MAX = 256 };

static void write_text(struct buf *out, const struct json *v, bool pretty)
{
	struct json_writer w;

	buf_init(out, OUTPUT_MAX);
	json_writer_init(&w, out, pretty);
	json_write_value(&w, v);
	BUG_ON(buf_failed(out));
}

static void expect_equal_text(const struct json *v, const struct buf *text)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf again = { 0 };

	BUG_ON(json_parse(&doc, buf_str(text), NULL, NULL) < 0);
	BUG_ON(!json_equal(v, json_root(&doc)));
	write_text(&again, json_root(&doc), false);
	if (!memchr(text->p, '\n', text->n))
		BUG_ON(!str_eq(buf_str(&again), buf_str(text)));
}

static void expect_round_trip(const struct json *v)
{
	_cleanup_buf_ struct buf compact = { 0 };
	_cleanup_buf_ struct buf pretty = { 0 };

	write_text(&compact, v, false);
	expect_equal_text(v, &compact);
	write_text(&pretty, v, true);
	expect_equal_text(v, &pretty);
}

/* Every node, in the order of the tape. */
static void expect_sane_numbers(const struct json *root)
{
	const struct json *end = json_after(root);

	for (const struct json *v = root; v < end; v++) {
		int64_t i;
		uint64_t u;
		double d;
		int code = json_i64(v, &i), u_code = json_u64(v, &u);

		if (code == 0)
			BUG_ON(json_double(v, &d) < 0 || d != (double)i || (u_code < 0) != (i < 0));
		if (u_code == 0)
			BUG_ON(json_double(v, &d) < 0 || d != (double)u);
		BUG_ON((code == ERR_INVALID) != (u_code == ERR_INVALID));
		json_has_duplicates(v);
	}
}

static void expect_skim(struct str text, const struct json *root)
{
	static struct json_member members[MEMBERS_MAX];
	_cleanup_arena_ struct arena arena = { 0 };
	const struct json *key, *value;
	size_t count, at = 0;
	int code;

	arena_init(&arena, 0);
	code = json_skim(text, NULL, &arena, members, MEMBERS_MAX, &count, NULL);
	if (json_count(root) > MEMBERS_MAX)
		return;
	BUG_ON((code == 0) != json_is(root, JSON_OBJECT));
	json_for_each_member(key, value, root) {
		_cleanup_json_ struct json_doc doc = { 0 };

		BUG_ON(!str_eq(members[at].key, json_str(key)) || members[at].type != json_type(value));
		BUG_ON(json_parse(&doc, members[at].raw, NULL, NULL) < 0 ||
		       !json_equal(json_root(&doc), value));
		at++;
	}
	BUG_ON(code == 0 && at != count);
}

/* Mending changes nothing that can be read, leaves nothing to be mended, and no half to be complained of. */
static void expect_mending(struct str text, int code)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct str mended, again;
	struct err err = { 0 };

	arena_init(&arena, 0);
	if (!json_mend_surrogates(text, &arena, &mended)) {
		BUG_ON(json_check(text, NULL, &err) < 0 && strstr(err.message, "surrogate"));
		return;
	}
	BUG_ON(code == 0 || mended.n != text.n || json_mend_surrogates(mended, &arena, &again));
	BUG_ON(json_check(mended, NULL, &err) < 0 && strstr(err.message, "surrogate"));
}

#ifdef HAVE_JANSSON
/* jansson writes real numbers in its own way. */
static bool has_real_numbers(const struct json *root)
{
	const struct json *end = json_after(root);

	for (const struct json *v = root; v < end; v++) {
		struct str text = json_number_text(v);

		for (size_t i = 0; i < text.n; i++)
			if (text.p[i] == '.' || (text.p[i] | 0x20) == 'e')
				return true;
	}
	return false;
}

static void expect_like_jansson(struct str text, int code, const struct json *root)
{
	_cleanup_free_ char *dumped = NULL;
	enum jansson_opinion opinion = jansson_judge(text, &dumped);
	_cleanup_json_ struct json_doc doc = { 0 };

	if (opinion == JANSSON_CANNOT_SAY || code == ERR_TOO_LARGE)
		return;
	BUG_ON((opinion == JANSSON_ACCEPTS) != (code == 0));
	if (code < 0 || has_real_numbers(root))
		return;
	BUG_ON(!dumped || json_parse(&doc, str_of(dumped), NULL, NULL) < 0);
	BUG_ON(!json_equal(root, json_root(&doc)));
}
#else
static void expect_like_jansson(struct str text, int code, const struct json *root)
{
	(void)text;
	(void)code;
	(void)root;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_make((const char *)data, size);
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_json_ struct json_doc relaxed = { 0 };
	struct err err = { 0 }, check_err = { 0 };
	int code = json_parse(&doc, text, NULL, &err);

	BUG_ON(json_check(text, NULL, &check_err) != code);
	BUG_ON(strcmp(err.message, check_err.message) != 0 || err.offset != check_err.offset);
	expect_like_jansson(text, code, json_root(&doc));
	expect_skim(text, json_root(&doc));
	expect_mending(text, code);
	if (code < 0)
		return 0;
	expect_round_trip(json_root(&doc));
	expect_sane_numbers(json_root(&doc));
	BUG_ON(json_parse_jsonc(&relaxed, text, NULL, NULL) < 0);
	BUG_ON(!json_equal(json_root(&doc), json_root(&relaxed)));
	return 0;
}

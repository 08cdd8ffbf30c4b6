/*
 * How fast JSON is read and written, beside cJSON. The document of the comparison is an answer to tools/list
 * with 200 tools, made here so that nothing has to be fetched. Exits 1 when parsing it is less than three
 * times as fast as with cJSON. Figures of a build that is not a release build mean nothing.
 */
#include "base/base.h"
#include "json/json.h"
#include "json/writer.h"

#include <cjson/cJSON.h>

enum {
	DOCUMENT_MAX = 64 << 20,
	TOOLS = 200,
	PROPERTIES = 8,
	LONG_STRING = 4 << 20,
	MEMBERS_MAX = 16,
	ROUNDS = 9
};
static const double round_seconds = 0.05;
static const double wanted_ratio = 3;

/* -- documents ------------------------------------------------------------------------------------------- */

static void write_property(struct json_writer *w, unsigned at)
{
	static const struct str names[PROPERTIES] = {
		STR_INIT("path"),
		STR_INIT("recursive"),
		STR_INIT("max_results"),
		STR_INIT("query"),
		STR_INIT("mime_type"),
		STR_INIT("encoding"),
		STR_INIT("timeout_seconds"),
		STR_INIT("include_hidden"),
	};

	json_write_key(w, names[at]);
	json_write_object_begin(w);
	json_member_str(w, STR("type"), at % 3 == 2 ? STR("integer") : STR("string"));
	json_member_str(w, STR("description"),
			STR("What the server should look at; "
			    "a relative path is taken from the \"root\" of the workspace"));
	if (at % 3 == 2) {
		json_member_i64(w, STR("minimum"), 1);
		json_member_i64(w, STR("maximum"), 1000 * (int64_t)at);
	}
	json_write_object_end(w);
}

static void write_tool(struct json_writer *w, unsigned at)
{
	json_write_object_begin(w);
	json_write_key(w, STR("name"));
	json_write_strf(w, "workspace_operation_%u", at);
	json_member_str(w, STR("title"), STR("An operation of the workspace"));
	json_member_str(
		w, STR("description"),
		STR("Searches all files of a workspace.\n\nUse it when a name or a part of a text is known. "
		    "Answers are ordered by how well they match, best first; "
		    "a tool that reads one of them is "
		    "called with its path. \xe2\x80\x9cHidden\xe2\x80\x9d files are always left out."));
	json_write_key(w, STR("inputSchema"));
	json_write_object_begin(w);
	json_member_str(w, STR("$schema"), STR("https://json-schema.org/draft/2020-12/schema"));
	json_member_str(w, STR("type"), STR("object"));
	json_write_key(w, STR("properties"));
	json_write_object_begin(w);
	for (unsigned i = 0; i < PROPERTIES; i++)
		write_property(w, i);
	json_write_object_end(w);
	json_write_key(w, STR("required"));
	json_write_raw(w, STR("[\"path\",\"query\"]"));
	json_member_bool(w, STR("additionalProperties"), false);
	json_write_object_end(w);
	json_write_key(w, STR("annotations"));
	json_write_object_begin(w);
	json_member_bool(w, STR("readOnlyHint"), true);
	json_member_bool(w, STR("openWorldHint"), at % 2 == 0);
	json_write_object_end(w);
	json_write_object_end(w);
}

static void begin_answer(struct json_writer *w, struct buf *out, struct str member)
{
	buf_init(out, DOCUMENT_MAX);
	json_writer_init(w, out, false);
	json_write_object_begin(w);
	json_member_str(w, STR("jsonrpc"), STR("2.0"));
	json_member_u64(w, STR("id"), 17);
	json_write_key(w, STR("result"));
	json_write_object_begin(w);
	json_write_key(w, member);
}

static void end_answer(struct json_writer *w)
{
	json_write_object_end(w);
	json_write_object_end(w);
}

static void make_tools_list(struct buf *out)
{
	struct json_writer w;

	begin_answer(&w, out, STR("tools"));
	json_write_array_begin(&w);
	for (unsigned i = 0; i < TOOLS; i++)
		write_tool(&w, i);
	json_write_array_end(&w);
	end_answer(&w);
}

/* An answer whose text repeats `piece` up to LONG_STRING bytes. */
static void make_long_string(struct buf *out, struct str piece)
{
	struct json_writer w;
	struct buf text;

	buf_init(&text, DOCUMENT_MAX);
	while (text.n < LONG_STRING)
		buf_append(&text, piece);
	begin_answer(&w, out, STR("text"));
	json_write_str(&w, buf_str(&text));
	end_answer(&w);
	buf_release(&text);
}

/* -- what is measured ------------------------------------------------------------------------------------ */

struct input {
	struct str text;
	struct json_doc doc; /* of the same text */
	struct buf out;
};

static void run_parse(struct input *in)
{
	struct json_doc doc;

	BUG_ON(json_parse(&doc, in->text, NULL, NULL) < 0);
	json_release(&doc);
}

static void run_cjson_parse(struct input *in)
{
	cJSON *root = cJSON_ParseWithLength(in->text.p, in->text.n);

	BUG_ON(!root);
	cJSON_Delete(root);
}

static void run_check(struct input *in)
{
	BUG_ON(json_check(in->text, NULL, NULL) < 0);
}

static void run_skim(struct input *in)
{
	struct json_member members[MEMBERS_MAX];
	struct arena arena;
	size_t count;

	arena_init(&arena, 0);
	BUG_ON(json_skim(in->text, NULL, &arena, members, MEMBERS_MAX, &count, NULL) < 0);
	arena_release(&arena);
}

static void run_write(struct input *in)
{
	struct json_writer w;

	buf_clear(&in->out, DOCUMENT_MAX);
	json_writer_init(&w, &in->out, false);
	json_write_value(&w, json_root(&in->doc));
	BUG_ON(buf_failed(&in->out));
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Megabytes of input a second, in the best of several rounds. */
static double measure(void (*run)(struct input *), struct input *in)
{
	double best = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double begin = seconds_now(), end;
		size_t bytes = 0;

		do {
			run(in);
			bytes += in->text.n;
			end = seconds_now();
		} while (end - begin < round_seconds);
		if ((double)bytes / (end - begin) > best)
			best = (double)bytes / (end - begin);
	}
	return best / 1e6;
}

/* Prints one line and returns how many times faster than cJSON parsing is. */
static double report(const char *name, struct buf *document)
{
	struct input in = { .text = buf_str(document) };
	double ours, theirs;

	BUG_ON(json_parse(&in.doc, in.text, NULL, NULL) < 0);
	buf_init(&in.out, DOCUMENT_MAX);
	run_write(&in);
	BUG_ON(!str_eq(buf_str(&in.out), in.text));
	ours = measure(run_parse, &in);
	theirs = measure(run_cjson_parse, &in);
	printf("%-16s %9zu %8.0f %8.0f %7.1fx %8.0f %8.0f %8.0f\n", name, in.text.n, ours, theirs,
	       ours / theirs, measure(run_check, &in), measure(run_skim, &in), measure(run_write, &in));
	buf_release(&in.out);
	json_release(&in.doc);
	buf_release(document);
	return ours / theirs;
}

int main(void)
{
	struct buf document;
	double ratio;

	printf("%-16s %9s %8s %8s %8s %8s %8s %8s\n", "MB/s", "bytes", "parse", "cJSON", "ratio", "check",
	       "skim", "write");
	make_tools_list(&document);
	ratio = report("tools/list", &document);
	make_long_string(
		&document,
		STR("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"));
	report("base64", &document);
	make_long_string(&document,
			 STR("\tif (strcmp(name, \"path\") == 0)\n\t\treturn open(\"C:\\\\x\");\n"));
	report("escaped text", &document);
	make_long_string(&document,
			 STR("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xae\xe6\x96\x87\xe7\xab\xa0, "));
	report("Japanese text", &document);
	if (ratio >= wanted_ratio)
		return 0;
	fprintf(stderr,
		"tools/list is parsed %.1f times as fast as with cJSON; at least %.0f times is wanted\n",
		ratio, wanted_ratio);
	return 1;
}

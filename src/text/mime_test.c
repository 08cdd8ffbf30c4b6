#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "text/mime.h"

static void expect_str(struct str got, const char *expected)
{
	if (!str_eq(got, str_of(expected)))
		fail_msg("got \"%.*s\", expected \"%s\"", STR_ARG(got), expected);
}

static void test_by_name(void **state)
{
	(void)state;
	expect_str(mime_by_name(STR("shot.png")), "image/png");
	expect_str(mime_by_name(STR("SHOT.PNG")), "image/png");
	expect_str(mime_by_name(STR("a.tar.gz")), "application/gzip");
	expect_str(mime_by_name(STR("/srv/dir.png/report.csv")), "text/csv");
	expect_str(mime_by_name(STR("photo.jpeg")), "image/jpeg");
	expect_str(mime_by_name(STR("x.json")), "application/json");
	expect_str(mime_by_name(STR("")), "");
	expect_str(mime_by_name(STR("png")), "");
	expect_str(mime_by_name(STR(".png")), "");
	expect_str(mime_by_name(STR("dir/.png")), "");
	expect_str(mime_by_name(STR("dir.png/")), "");
	expect_str(mime_by_name(STR("dir.png/file")), "");
	expect_str(mime_by_name(STR("file.")), "");
	expect_str(mime_by_name(STR("file.unheard")), "");
	expect_str(mime_by_name(STR("file.pn")), "");
	expect_str(mime_by_name(STR("file.pngx")), "");
}

static void test_by_content(void **state)
{
	(void)state;
	expect_str(mime_by_content(STR("\x89PNG\r\n\x1a\n\0\0\0\rIHDR")), "image/png");
	expect_str(mime_by_content(STR("\xff\xd8\xff\xe0\0\x10JFIF")), "image/jpeg");
	expect_str(mime_by_content(STR("GIF89a\x01\0\x01\0\x80\0")), "image/gif");
	expect_str(mime_by_content(STR("%PDF-1.7\n")), "application/pdf");
	expect_str(mime_by_content(STR("%!PS-Adobe-3.0\n")), "application/postscript");
	expect_str(mime_by_content(STR("{\\rtf1\\ansi")), "application/rtf");
	expect_str(mime_by_content(STR("PK\x03\x04\x14\0")), "application/zip");
	expect_str(mime_by_content(STR("\x1f\x8b\x08\0")), "application/gzip");
	expect_str(mime_by_content(STR("\0asm\1\0\0\0")), "application/wasm");
	expect_str(mime_by_content(STR("SQLite format 3\0")), "application/vnd.sqlite3");
	expect_str(mime_by_content(STR("OggS\0\2")), "audio/ogg");
	expect_str(mime_by_content(STR("ID3\4\0")), "audio/mpeg");
	expect_str(mime_by_content(STR("BZh91AY&SY\x94\x05\0")), "application/x-bzip2");
	expect_str(mime_by_content(STR("fLaC\0\0\0\x22")), "audio/flac");
	expect_str(mime_by_content(STR("PAR1\x15\x04\x15\x10")), "application/vnd.apache.parquet");
	expect_str(mime_by_content(STR("8BPS\0\1")), "image/vnd.adobe.photoshop");
	expect_str(mime_by_content(STR("\xff\xfb\x90\x64")), "audio/mpeg");
	expect_str(mime_by_content(STR("glTF\2\0\0\0")), "model/gltf-binary");
}

/* What people write is not taken for what programs write. */
static void test_words_are_no_signatures(void **state)
{
	static const char *const texts[] = {
		"ID3 tags of all songs",
		"BZh is how bzip2 files begin",
		"glTF is a format of models",
		"PAR1 and PAR2",
		"OggS",
		"fLaC or mp3?",
		"wOFF, wOF2",
		"8BPS channels",
		"Rar! was all he said",
		"OTTO",
		"GIF89a can move",
		"RIFF and WEBP",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		expect_str(mime_guess(STR("notes"), str_of(texts[i])), "text/plain");
}

static void test_containers(void **state)
{
	(void)state;
	expect_str(mime_by_content(STR("RIFF\x24\0\0\0WEBPVP8 ")), "image/webp");
	expect_str(mime_by_content(STR("RIFF\x24\0\0\0WAVEfmt ")), "audio/wav");
	expect_str(mime_by_content(STR("RIFF\x24\0\0\0AVI LIST")), "video/vnd.avi");
	expect_str(mime_by_content(STR("RIFF\x24\0\0\0XXXX")), "");
	expect_str(mime_by_content(STR("RIFF\x24\0\0")), "");
	expect_str(mime_by_content(STR("FORM\0\0\0\x24"
				       "AIFF")),
		   "audio/aiff");
	expect_str(mime_by_content(STR("\0\0\0\x1c"
				       "ftypavif")),
		   "image/avif");
	expect_str(mime_by_content(STR("\0\0\0\x1c"
				       "ftypheic")),
		   "image/heic");
	expect_str(mime_by_content(STR("\0\0\0\x1c"
				       "ftypM4A ")),
		   "audio/mp4");
	expect_str(mime_by_content(STR("\0\0\0\x14"
				       "ftypqt  ")),
		   "video/quicktime");
	expect_str(mime_by_content(STR("\0\0\0\x1c"
				       "ftypisom")),
		   "video/mp4");
	expect_str(mime_by_content(STR("\x1a\x45\xdf\xa3\x9f\x42\x82\x84webm")), "video/webm");
	expect_str(mime_by_content(STR("\x1a\x45\xdf\xa3\x9f\x42\x82\x88matroska")), "video/matroska");
	expect_str(mime_by_content(STR("BM\x36\0\0\0\0\0\0\0\x36\0\0\0")), "image/bmp");
	expect_str(mime_by_content(STR("BMW is a car, not a picture")), "");
}

static void test_tar(void **state)
{
	char block[MIME_CONTENT_BYTES] = { 'f' };

	(void)state;
	memcpy(block + 257, "ustar", 5);
	expect_str(mime_by_content(str_make(block, sizeof(block))), "application/x-tar");
	expect_str(mime_by_content(str_make(block, 262)), "application/x-tar");
	expect_str(mime_by_content(str_make(block, 261)), "");
}

static void test_markup(void **state)
{
	(void)state;
	expect_str(mime_by_content(STR("<!DOCTYPE html>\n<title>x</title>")), "text/html");
	expect_str(mime_by_content(STR(" \n<HTML lang=en>")), "text/html");
	expect_str(mime_by_content(STR("<svg xmlns=\"http://www.w3.org/2000/svg\">")), "image/svg+xml");
	expect_str(mime_by_content(STR("<?xml version=\"1.0\"?><svg/>")), "image/svg+xml");
	expect_str(mime_by_content(STR("\xef\xbb\xbf<?xml version=\"1.0\"?><a/>")), "application/xml");
	expect_str(mime_by_content(STR("<p>hello")), "");
	expect_str(mime_by_content(STR("")), "");
	expect_str(mime_by_content(str_make(NULL, 0)), "");
}

/* No prefix of a signature is taken for it, and nothing is read past the end. */
static void test_prefixes(void **state)
{
	static const struct str heads[] = { STR_INIT("\x89PNG\r\n\x1a\n"), STR_INIT("%PDF-"),
					    STR_INIT("SQLite format 3\0"), STR_INIT("RIFF\x24\0\0\0WEBP"),
					    STR_INIT("<!doctype html"),	   STR_INIT("7z\xbc\xaf\x27\x1c") };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		assert_true(mime_by_content(heads[i]).n > 0);
		for (size_t n = 0; n < heads[i].n; n++) {
			char *exact = xmalloc(n);

			memcpy(exact, heads[i].p, n);
			expect_str(mime_by_content(str_make(exact, n)), "");
			free(exact);
		}
	}
}

static void test_guess(void **state)
{
	(void)state;
	expect_str(mime_guess(STR("notes.txt"), STR("\x89PNG\r\n\x1a\n")), "text/plain");
	expect_str(mime_guess(STR("shot"), STR("\x89PNG\r\n\x1a\n")), "image/png");
	expect_str(mime_guess(STR("README"), STR("Hello\tworld\r\n\x1b[1mcaf\xc3\xa9\x1b[m")), "text/plain");
	expect_str(mime_guess(STR(""), STR("cut in a character \xe2\x82")), "text/plain");
	expect_str(mime_guess(STR(""), STR("")), "text/plain");
	expect_str(mime_guess(STR(""), STR("a\0b")), "application/octet-stream");
	expect_str(mime_guess(STR(""), STR("a\x7f")), "application/octet-stream");
	expect_str(mime_guess(STR(""), STR("a\xff")), "application/octet-stream");
	expect_str(mime_guess(STR(""), STR("\xe2\x82z")), "application/octet-stream");
}

static void test_extension(void **state)
{
	(void)state;
	expect_str(mime_extension(STR("image/png")), ".png");
	expect_str(mime_extension(STR("IMAGE/PNG")), ".png");
	expect_str(mime_extension(STR("image/jpeg")), ".jpg");
	expect_str(mime_extension(STR("text/plain; charset=utf-8")), ".txt");
	expect_str(mime_extension(STR("text/html")), ".html");
	expect_str(mime_extension(STR("application/gzip")), ".gz");
	expect_str(mime_extension(STR("text/javascript")), ".js");
	expect_str(mime_extension(STR("image/x-unheard")), "");
	expect_str(mime_extension(STR("")), "");
}

static void test_valid(void **state)
{
	static const char *const good[] = {
		"text/plain",
		"image/svg+xml",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		"text/plain;charset=utf-8",
		"text/plain; charset=utf-8",
		"text/plain ;charset=\"utf-8\"",
		"a/b;x=\"q\\\"uo;te\";y=z",
		"*/*",
	};
	static const char *const bad[] = {
		"",
		"text",
		"text/",
		"/plain",
		"text/plain/x",
		"text /plain",
		"text/ plain",
		" text/plain",
		"text/plain ",
		"text/plain;",
		"text/plain; ",
		"text/plain;charset",
		"text/plain;charset=",
		"text/plain;=utf-8",
		"text/plain;a=\"b",
		"text/plain;a=\"b\\",
		"text/plain;a=\"b\\\"",
		"text/plain;a=b c",
		"text/plain,a/b",
		"text/plain\r\nX: y",
		"text/plain;a=\"\n\"",
		"text/pl\xc3\xa4in",
		"te\"xt/plain",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (!mime_valid(str_of(good[i])))
			fail_msg("%s is valid", good[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (mime_valid(str_of(bad[i])))
			fail_msg("%s is not valid", bad[i]);
	assert_false(mime_valid(STR("text/plain\0")));
}

static void test_valid_length(void **state)
{
	char type[MIME_TYPE_MAX + 1];

	(void)state;
	memset(type, 'a', sizeof(type));
	type[1] = '/';
	assert_true(mime_valid(str_make(type, MIME_TYPE_MAX)));
	assert_false(mime_valid(str_make(type, MIME_TYPE_MAX + 1)));
}

static void test_essence(void **state)
{
	(void)state;
	expect_str(mime_essence(STR("text/plain; charset=utf-8")), "text/plain");
	expect_str(mime_essence(STR(" Text/Plain ;x=y")), "Text/Plain");
	expect_str(mime_essence(STR("text/plain")), "text/plain");
	expect_str(mime_essence(STR(";")), "");
	expect_str(mime_essence(STR("")), "");
}

static void test_is_text(void **state)
{
	(void)state;
	assert_true(mime_is_text(STR("text/plain")));
	assert_true(mime_is_text(STR("TEXT/x-anything; charset=utf-8")));
	assert_true(mime_is_text(STR("application/json")));
	assert_true(mime_is_text(STR("Application/JSON; x=y")));
	assert_true(mime_is_text(STR("application/ld+json")));
	assert_true(mime_is_text(STR("image/svg+xml")));
	assert_true(mime_is_text(STR("application/yaml")));
	assert_false(mime_is_text(STR("image/png")));
	assert_false(mime_is_text(STR("application/octet-stream")));
	assert_false(mime_is_text(STR("application/json5x")));
	assert_false(mime_is_text(STR("+json")));
	assert_false(mime_is_text(STR("text")));
	assert_false(mime_is_text(STR("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_name),
		cmocka_unit_test(test_by_content),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_tar),
		cmocka_unit_test(test_words_are_no_signatures),
		cmocka_unit_test(test_markup),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_extension),
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_valid_length),
		cmocka_unit_test(test_essence),
		cmocka_unit_test(test_is_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

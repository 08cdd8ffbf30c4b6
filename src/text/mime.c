#include "base/base.h"
#include "text/mime.h"
#include "base/character.h"
#include "text/utf8.h"

/* -- by name --------------------------------------------------------------------------------------------- */

struct extension {
	struct str text, type; /* the text with its dot */
};

/* Where a type has more than one extension, its usual one comes first: mime_extension() takes that. */
static const struct extension extensions[] = {
	/* text */
	{ STR_INIT(".txt"), STR_INIT("text/plain") },
	{ STR_INIT(".text"), STR_INIT("text/plain") },
	{ STR_INIT(".log"), STR_INIT("text/plain") },
	{ STR_INIT(".conf"), STR_INIT("text/plain") },
	{ STR_INIT(".ini"), STR_INIT("text/plain") },
	{ STR_INIT(".diff"), STR_INIT("text/x-diff") },
	{ STR_INIT(".patch"), STR_INIT("text/x-diff") },
	{ STR_INIT(".md"), STR_INIT("text/markdown") },
	{ STR_INIT(".markdown"), STR_INIT("text/markdown") },
	{ STR_INIT(".html"), STR_INIT("text/html") },
	{ STR_INIT(".htm"), STR_INIT("text/html") },
	{ STR_INIT(".xhtml"), STR_INIT("application/xhtml+xml") },
	{ STR_INIT(".css"), STR_INIT("text/css") },
	{ STR_INIT(".csv"), STR_INIT("text/csv") },
	{ STR_INIT(".tsv"), STR_INIT("text/tab-separated-values") },
	{ STR_INIT(".ics"), STR_INIT("text/calendar") },
	{ STR_INIT(".vcf"), STR_INIT("text/vcard") },
	{ STR_INIT(".vtt"), STR_INIT("text/vtt") },
	{ STR_INIT(".rtf"), STR_INIT("application/rtf") },
	{ STR_INIT(".tex"), STR_INIT("application/x-tex") },
	/* programs and data as text */
	{ STR_INIT(".js"), STR_INIT("text/javascript") },
	{ STR_INIT(".mjs"), STR_INIT("text/javascript") },
	{ STR_INIT(".cjs"), STR_INIT("text/javascript") },
	{ STR_INIT(".ts"), STR_INIT("text/typescript") },
	{ STR_INIT(".mts"), STR_INIT("text/typescript") },
	{ STR_INIT(".tsx"), STR_INIT("text/typescript") },
	{ STR_INIT(".jsx"), STR_INIT("text/jsx") },
	{ STR_INIT(".json"), STR_INIT("application/json") },
	{ STR_INIT(".jsonc"), STR_INIT("application/json") },
	{ STR_INIT(".map"), STR_INIT("application/json") },
	{ STR_INIT(".jsonl"), STR_INIT("application/jsonl") },
	{ STR_INIT(".ndjson"), STR_INIT("application/x-ndjson") },
	{ STR_INIT(".jsonld"), STR_INIT("application/ld+json") },
	{ STR_INIT(".geojson"), STR_INIT("application/geo+json") },
	{ STR_INIT(".ipynb"), STR_INIT("application/x-ipynb+json") },
	{ STR_INIT(".yaml"), STR_INIT("application/yaml") },
	{ STR_INIT(".yml"), STR_INIT("application/yaml") },
	{ STR_INIT(".toml"), STR_INIT("application/toml") },
	{ STR_INIT(".xml"), STR_INIT("application/xml") },
	{ STR_INIT(".xsl"), STR_INIT("application/xml") },
	{ STR_INIT(".xsd"), STR_INIT("application/xml") },
	{ STR_INIT(".rss"), STR_INIT("application/rss+xml") },
	{ STR_INIT(".atom"), STR_INIT("application/atom+xml") },
	{ STR_INIT(".sql"), STR_INIT("application/sql") },
	{ STR_INIT(".sh"), STR_INIT("application/x-sh") },
	{ STR_INIT(".bash"), STR_INIT("application/x-sh") },
	{ STR_INIT(".c"), STR_INIT("text/x-c") },
	{ STR_INIT(".h"), STR_INIT("text/x-c") },
	{ STR_INIT(".cpp"), STR_INIT("text/x-c++") },
	{ STR_INIT(".cc"), STR_INIT("text/x-c++") },
	{ STR_INIT(".hpp"), STR_INIT("text/x-c++") },
	{ STR_INIT(".py"), STR_INIT("text/x-python") },
	{ STR_INIT(".rb"), STR_INIT("text/x-ruby") },
	{ STR_INIT(".rs"), STR_INIT("text/x-rust") },
	{ STR_INIT(".go"), STR_INIT("text/x-go") },
	{ STR_INIT(".java"), STR_INIT("text/x-java") },
	{ STR_INIT(".gd"), STR_INIT("text/x-gdscript") },
	{ STR_INIT(".lua"), STR_INIT("text/x-lua") },
	/* images */
	{ STR_INIT(".png"), STR_INIT("image/png") },
	{ STR_INIT(".apng"), STR_INIT("image/apng") },
	{ STR_INIT(".jpg"), STR_INIT("image/jpeg") },
	{ STR_INIT(".jpeg"), STR_INIT("image/jpeg") },
	{ STR_INIT(".gif"), STR_INIT("image/gif") },
	{ STR_INIT(".webp"), STR_INIT("image/webp") },
	{ STR_INIT(".avif"), STR_INIT("image/avif") },
	{ STR_INIT(".heic"), STR_INIT("image/heic") },
	{ STR_INIT(".svg"), STR_INIT("image/svg+xml") },
	{ STR_INIT(".bmp"), STR_INIT("image/bmp") },
	{ STR_INIT(".ico"), STR_INIT("image/vnd.microsoft.icon") },
	{ STR_INIT(".tiff"), STR_INIT("image/tiff") },
	{ STR_INIT(".tif"), STR_INIT("image/tiff") },
	{ STR_INIT(".jxl"), STR_INIT("image/jxl") },
	{ STR_INIT(".psd"), STR_INIT("image/vnd.adobe.photoshop") },
	/* sound and films */
	{ STR_INIT(".mp3"), STR_INIT("audio/mpeg") },
	{ STR_INIT(".wav"), STR_INIT("audio/wav") },
	{ STR_INIT(".ogg"), STR_INIT("audio/ogg") },
	{ STR_INIT(".oga"), STR_INIT("audio/ogg") },
	{ STR_INIT(".opus"), STR_INIT("audio/ogg") },
	{ STR_INIT(".flac"), STR_INIT("audio/flac") },
	{ STR_INIT(".m4a"), STR_INIT("audio/mp4") },
	{ STR_INIT(".aac"), STR_INIT("audio/aac") },
	{ STR_INIT(".aiff"), STR_INIT("audio/aiff") },
	{ STR_INIT(".mid"), STR_INIT("audio/midi") },
	{ STR_INIT(".midi"), STR_INIT("audio/midi") },
	{ STR_INIT(".weba"), STR_INIT("audio/webm") },
	{ STR_INIT(".mp4"), STR_INIT("video/mp4") },
	{ STR_INIT(".m4v"), STR_INIT("video/mp4") },
	{ STR_INIT(".webm"), STR_INIT("video/webm") },
	{ STR_INIT(".mkv"), STR_INIT("video/matroska") },
	{ STR_INIT(".mov"), STR_INIT("video/quicktime") },
	{ STR_INIT(".avi"), STR_INIT("video/vnd.avi") },
	{ STR_INIT(".mpeg"), STR_INIT("video/mpeg") },
	{ STR_INIT(".ogv"), STR_INIT("video/ogg") },
	/* documents */
	{ STR_INIT(".pdf"), STR_INIT("application/pdf") },
	{ STR_INIT(".epub"), STR_INIT("application/epub+zip") },
	{ STR_INIT(".docx"),
	  STR_INIT("application/vnd.openxmlformats-officedocument.wordprocessingml.document") },
	{ STR_INIT(".xlsx"), STR_INIT("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet") },
	{ STR_INIT(".pptx"),
	  STR_INIT("application/vnd.openxmlformats-officedocument.presentationml.presentation") },
	{ STR_INIT(".odt"), STR_INIT("application/vnd.oasis.opendocument.text") },
	{ STR_INIT(".ods"), STR_INIT("application/vnd.oasis.opendocument.spreadsheet") },
	{ STR_INIT(".odp"), STR_INIT("application/vnd.oasis.opendocument.presentation") },
	{ STR_INIT(".doc"), STR_INIT("application/msword") },
	{ STR_INIT(".xls"), STR_INIT("application/vnd.ms-excel") },
	{ STR_INIT(".ppt"), STR_INIT("application/vnd.ms-powerpoint") },
	{ STR_INIT(".ps"), STR_INIT("application/postscript") },
	/* archives, programs, databases, fonts, models */
	{ STR_INIT(".zip"), STR_INIT("application/zip") },
	{ STR_INIT(".tar"), STR_INIT("application/x-tar") },
	{ STR_INIT(".gz"), STR_INIT("application/gzip") },
	{ STR_INIT(".tgz"), STR_INIT("application/gzip") },
	{ STR_INIT(".bz2"), STR_INIT("application/x-bzip2") },
	{ STR_INIT(".xz"), STR_INIT("application/x-xz") },
	{ STR_INIT(".zst"), STR_INIT("application/zstd") },
	{ STR_INIT(".7z"), STR_INIT("application/x-7z-compressed") },
	{ STR_INIT(".rar"), STR_INIT("application/vnd.rar") },
	{ STR_INIT(".jar"), STR_INIT("application/java-archive") },
	{ STR_INIT(".wasm"), STR_INIT("application/wasm") },
	{ STR_INIT(".sqlite"), STR_INIT("application/vnd.sqlite3") },
	{ STR_INIT(".db"), STR_INIT("application/vnd.sqlite3") },
	{ STR_INIT(".parquet"), STR_INIT("application/vnd.apache.parquet") },
	{ STR_INIT(".woff"), STR_INIT("font/woff") },
	{ STR_INIT(".woff2"), STR_INIT("font/woff2") },
	{ STR_INIT(".ttf"), STR_INIT("font/ttf") },
	{ STR_INIT(".otf"), STR_INIT("font/otf") },
	{ STR_INIT(".glb"), STR_INIT("model/gltf-binary") },
	{ STR_INIT(".gltf"), STR_INIT("model/gltf+json") },
	{ STR_INIT(".stl"), STR_INIT("model/stl") },
	{ STR_INIT(".bin"), STR_INIT("application/octet-stream") },
};

static const struct str none = { NULL, 0 };

struct str mime_by_name(struct str name)
{
	size_t slash = str_find_last_char(name, '/');
	size_t dot;

	if (slash != STR_NONE)
		name = str_from(name, slash + 1);
	dot = str_find_last_char(name, '.');
	if (dot == STR_NONE || dot == 0)
		return none;
	name = str_from(name, dot);
	for (size_t i = 0; i < ARRAY_LEN(extensions); i++)
		if (str_eq_ignoring_case(extensions[i].text, name))
			return extensions[i].type;
	return none;
}

/* -- by content ------------------------------------------------------------------------------------------ */

struct signature {
	size_t offset;
	struct str bytes, type;
};

/* Formats that may be text from end to end. */
static const struct signature text_signatures[] = {
	{ 0, STR_INIT("%PDF-"), STR_INIT("application/pdf") },
	{ 0, STR_INIT("%!PS-Adobe-"), STR_INIT("application/postscript") },
	{ 0, STR_INIT("{\\rtf"), STR_INIT("application/rtf") },
};

/* Formats that cannot be: many signatures are letters, and "ID3 tags of all songs" is no music. */
static const struct signature signatures[] = {
	{ 0, STR_INIT("\x89PNG\r\n\x1a\n"), STR_INIT("image/png") },
	{ 0, STR_INIT("\xff\xd8\xff"), STR_INIT("image/jpeg") },
	{ 0, STR_INIT("GIF87a"), STR_INIT("image/gif") },
	{ 0, STR_INIT("GIF89a"), STR_INIT("image/gif") },
	{ 0, STR_INIT("II*\0"), STR_INIT("image/tiff") },
	{ 0, STR_INIT("MM\0*"), STR_INIT("image/tiff") },
	{ 0, STR_INIT("\0\0\x01\0"), STR_INIT("image/vnd.microsoft.icon") },
	{ 0, STR_INIT("8BPS"), STR_INIT("image/vnd.adobe.photoshop") },
	{ 0, STR_INIT("\xff\x0a"), STR_INIT("image/jxl") },
	{ 0, STR_INIT("\0\0\0\x0cJXL \r\n\x87\n"), STR_INIT("image/jxl") },
	{ 0, STR_INIT("PK\x03\x04"), STR_INIT("application/zip") },
	{ 0, STR_INIT("PK\x05\x06"), STR_INIT("application/zip") },
	{ 0, STR_INIT("\x1f\x8b\x08"), STR_INIT("application/gzip") },
	{ 0, STR_INIT("BZh"), STR_INIT("application/x-bzip2") },
	{ 0,
	  STR_INIT("\xfd"
		   "7zXZ\0"),
	  STR_INIT("application/x-xz") },
	{ 0, STR_INIT("\x28\xb5\x2f\xfd"), STR_INIT("application/zstd") },
	{ 0, STR_INIT("7z\xbc\xaf\x27\x1c"), STR_INIT("application/x-7z-compressed") },
	{ 0, STR_INIT("Rar!\x1a\x07"), STR_INIT("application/vnd.rar") },
	{ 257, STR_INIT("ustar"), STR_INIT("application/x-tar") },
	{ 0, STR_INIT("\0asm"), STR_INIT("application/wasm") },
	{ 0, STR_INIT("SQLite format 3\0"), STR_INIT("application/vnd.sqlite3") },
	{ 0, STR_INIT("PAR1"), STR_INIT("application/vnd.apache.parquet") },
	{ 0, STR_INIT("ID3"), STR_INIT("audio/mpeg") },
	{ 0, STR_INIT("\xff\xfb"), STR_INIT("audio/mpeg") },
	{ 0, STR_INIT("\xff\xf3"), STR_INIT("audio/mpeg") },
	{ 0, STR_INIT("OggS"), STR_INIT("audio/ogg") },
	{ 0, STR_INIT("fLaC"), STR_INIT("audio/flac") },
	{ 0, STR_INIT("MThd\0\0\0\x06"), STR_INIT("audio/midi") },
	{ 0, STR_INIT("wOFF"), STR_INIT("font/woff") },
	{ 0, STR_INIT("wOF2"), STR_INIT("font/woff2") },
	{ 0, STR_INIT("\0\x01\0\0\0"), STR_INIT("font/ttf") },
	{ 0, STR_INIT("OTTO\0"), STR_INIT("font/otf") },
	{ 0, STR_INIT("glTF"), STR_INIT("model/gltf-binary") },
};

/* Containers that name their contents behind a length: RIFF, AIFF's FORM and the "ftyp" box of ISO media. */
static const struct signature riff_kinds[] = {
	{ 8, STR_INIT("WEBP"), STR_INIT("image/webp") },
	{ 8, STR_INIT("WAVE"), STR_INIT("audio/wav") },
	{ 8, STR_INIT("AVI "), STR_INIT("video/vnd.avi") },
};
static const struct signature form_kinds[] = {
	{ 8, STR_INIT("AIFF"), STR_INIT("audio/aiff") },
	{ 8, STR_INIT("AIFC"), STR_INIT("audio/aiff") },
};
static const struct signature ftyp_kinds[] = {
	{ 8, STR_INIT("avif"), STR_INIT("image/avif") }, { 8, STR_INIT("avis"), STR_INIT("image/avif") },
	{ 8, STR_INIT("heic"), STR_INIT("image/heic") }, { 8, STR_INIT("mif1"), STR_INIT("image/heic") },
	{ 8, STR_INIT("M4A "), STR_INIT("audio/mp4") },	 { 8, STR_INIT("qt  "), STR_INIT("video/quicktime") },
	{ 8, STR_INIT(""), STR_INIT("video/mp4") },
};

static bool bytes_at(struct str head, size_t offset, struct str bytes)
{
	return head.n >= offset && str_starts_with(str_from(head, offset), bytes);
}

static struct str find_signature(struct str head, const struct signature *table, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bytes_at(head, table[i].offset, table[i].bytes))
			return table[i].type;
	return none;
}

static struct str container_type(struct str head)
{
	if (bytes_at(head, 0, STR("RIFF")))
		return find_signature(head, riff_kinds, ARRAY_LEN(riff_kinds));
	if (bytes_at(head, 0, STR("FORM")))
		return find_signature(head, form_kinds, ARRAY_LEN(form_kinds));
	if (bytes_at(head, 4, STR("ftyp")))
		return find_signature(head, ftyp_kinds, ARRAY_LEN(ftyp_kinds));
	/* EBML: the document type stands in the first bytes. */
	if (bytes_at(head, 0, STR("\x1a\x45\xdf\xa3")))
		return str_find(str_slice(head, 0, 64), STR("webm")) != STR_NONE ? STR("video/webm")
										 : STR("video/matroska");
	/* "BM" alone is too weak: the four reserved bytes of a bitmap are zero. */
	if (bytes_at(head, 0, STR("BM")) && bytes_at(head, 6, STR("\0\0\0\0")))
		return STR("image/bmp");
	return none;
}

static bool starts_ignoring_case(struct str s, struct str prefix)
{
	return str_eq_ignoring_case(str_slice(s, 0, prefix.n), prefix);
}

static struct str markup_type(struct str head)
{
	if (str_starts_with(head, STR("\xef\xbb\xbf")))
		head = str_from(head, 3);
	head = str_trim(head);
	if (starts_ignoring_case(head, STR("<!doctype html")) || starts_ignoring_case(head, STR("<html")))
		return STR("text/html");
	if (str_starts_with(head, STR("<svg")))
		return STR("image/svg+xml");
	if (str_starts_with(head, STR("<?xml")))
		return str_find(head, STR("<svg")) != STR_NONE ? STR("image/svg+xml")
							       : STR("application/xml");
	return none;
}

/* Whether the bytes are UTF-8 without controls other than white space and the escape of coloured output. */
static bool looks_like_text(struct str head)
{
	head = str_slice(head, 0, head.n - utf8_incomplete(head));
	for (size_t i = 0; i < head.n; i++) {
		unsigned char c = (unsigned char)head.p[i];

		if ((c < 0x20 && !(c >= '\t' && c <= '\r') && c != 0x1b) || c == 0x7f)
			return false;
	}
	return utf8_valid(head);
}

struct str mime_by_content(struct str head)
{
	struct str type;

	head = str_slice(head, 0, MIME_CONTENT_BYTES);
	type = find_signature(head, text_signatures, ARRAY_LEN(text_signatures));
	if (type.n == 0)
		type = markup_type(head);
	if (type.n || looks_like_text(head))
		return type;
	type = find_signature(head, signatures, ARRAY_LEN(signatures));
	return type.n ? type : container_type(head);
}

struct str mime_guess(struct str name, struct str head)
{
	struct str type = mime_by_name(name);

	if (type.n == 0)
		type = mime_by_content(head);
	if (type.n)
		return type;
	return looks_like_text(head) ? STR("text/plain") : STR("application/octet-stream");
}

/* -- types ----------------------------------------------------------------------------------------------- */

struct str mime_essence(struct str type)
{
	size_t end = str_find_char(type, ';');

	return str_trim(str_slice(type, 0, end == STR_NONE ? type.n : end));
}

struct str mime_extension(struct str type)
{
	type = mime_essence(type);
	for (size_t i = 0; i < ARRAY_LEN(extensions); i++)
		if (str_eq_ignoring_case(extensions[i].type, type))
			return extensions[i].text;
	return none;
}

/* RFC 9110 section 5.6.2 */
static bool token_char(char c)
{
	return is_letter_or_digit(c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

static bool take_token(struct str *rest)
{
	size_t n = 0;

	while (n < rest->n && token_char(rest->p[n]))
		n++;
	*rest = str_from(*rest, n);
	return n > 0;
}

static void skip_spaces(struct str *rest)
{
	while (str_take_char(rest, ' '))
		;
}

static bool take_quoted_string(struct str *rest)
{
	if (!str_take_char(rest, '"'))
		return false;
	while (rest->n > 0 && rest->p[0] != '"') {
		str_take_char(rest, '\\');
		if (rest->n == 0 || rest->p[0] < ' ' || rest->p[0] > '~')
			return false;
		*rest = str_from(*rest, 1);
	}
	return str_take_char(rest, '"');
}

bool mime_valid(struct str type)
{
	struct str rest = type;

	if (type.n > MIME_TYPE_MAX || !take_token(&rest) || !str_take_char(&rest, '/') || !take_token(&rest))
		return false;
	while (rest.n > 0) {
		skip_spaces(&rest);
		if (!str_take_char(&rest, ';'))
			return false;
		skip_spaces(&rest);
		if (!take_token(&rest) || !str_take_char(&rest, '='))
			return false;
		if (!take_token(&rest) && !take_quoted_string(&rest))
			return false;
	}
	return true;
}

bool mime_is_text(struct str type)
{
	static const struct str texts[] = {
		STR_INIT("application/json"),	  STR_INIT("application/jsonl"),
		STR_INIT("application/x-ndjson"), STR_INIT("application/yaml"),
		STR_INIT("application/x-yaml"),	  STR_INIT("application/toml"),
		STR_INIT("application/xml"),	  STR_INIT("application/javascript"),
		STR_INIT("application/sql"),	  STR_INIT("application/x-sh"),
		STR_INIT("application/x-tex"),	  STR_INIT("application/typescript"),
	};
	static const struct str endings[] = { STR_INIT("+json"), STR_INIT("+xml"), STR_INIT("+yaml") };

	type = mime_essence(type);
	if (starts_ignoring_case(type, STR("text/")))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (str_eq_ignoring_case(type, texts[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (type.n > endings[i].n &&
		    str_eq_ignoring_case(str_from(type, type.n - endings[i].n), endings[i]))
			return true;
	return false;
}

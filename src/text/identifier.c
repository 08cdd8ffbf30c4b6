#include "base/base.h"
#include "text/identifier.h"
#include "base/character.h"
#include "text/utf8.h"

/* ECMAScript 2024, section 12.7.2: reserved words, those of strict code and modules (which scripts are), and
 * the names that cannot be bound or assigned there. */
static const struct str reserved_words[] = {
	STR_INIT("await"),	STR_INIT("break"),     STR_INIT("case"),       STR_INIT("catch"),
	STR_INIT("class"),	STR_INIT("const"),     STR_INIT("continue"),   STR_INIT("debugger"),
	STR_INIT("default"),	STR_INIT("delete"),    STR_INIT("do"),	       STR_INIT("else"),
	STR_INIT("enum"),	STR_INIT("export"),    STR_INIT("extends"),    STR_INIT("false"),
	STR_INIT("finally"),	STR_INIT("for"),       STR_INIT("function"),   STR_INIT("if"),
	STR_INIT("import"),	STR_INIT("in"),	       STR_INIT("instanceof"), STR_INIT("new"),
	STR_INIT("null"),	STR_INIT("return"),    STR_INIT("super"),      STR_INIT("switch"),
	STR_INIT("this"),	STR_INIT("throw"),     STR_INIT("true"),       STR_INIT("try"),
	STR_INIT("typeof"),	STR_INIT("var"),       STR_INIT("void"),       STR_INIT("while"),
	STR_INIT("with"),	STR_INIT("yield"),     STR_INIT("let"),	       STR_INIT("static"),
	STR_INIT("implements"), STR_INIT("interface"), STR_INIT("package"),    STR_INIT("private"),
	STR_INIT("protected"),	STR_INIT("public"),    STR_INIT("arguments"),  STR_INIT("eval"),
	STR_INIT("undefined"),	STR_INIT("NaN"),       STR_INIT("Infinity"),
};

/* What a script has from us. */
static const struct str our_names[] = {
	STR_INIT("call"),	    STR_INIT("readResource"),
	STR_INIT("artifact"),	    STR_INIT("log"),
	STR_INIT("emit"),	    STR_INIT("search"),
	STR_INIT("describe"),	    STR_INIT("installGlobals"),
	STR_INIT("captureConsole"), STR_INIT("releaseConsole"),
	STR_INIT("captureFrames"),  STR_INIT("errorFrames"),
	STR_INIT("paths"),	    STR_INIT("structured"),
	STR_INIT("tools"),	    STR_INIT("ToolError"),
	STR_INIT("mcpx"),
};

/* Globals without which neither the generated client nor any script works. fetch, crypto, performance and the
 * like are not among them: servers of those names are common, and theirs is the better claim. */
static const struct str global_names[] = {
	STR_INIT("globalThis"),	 STR_INIT("global"),	  STR_INIT("process"),	  STR_INIT("console"),
	STR_INIT("require"),	 STR_INIT("module"),	  STR_INIT("exports"),	  STR_INIT("Deno"),
	STR_INIT("Bun"),	 STR_INIT("Buffer"),	  STR_INIT("Object"),	  STR_INIT("Function"),
	STR_INIT("Array"),	 STR_INIT("String"),	  STR_INIT("Number"),	  STR_INIT("Boolean"),
	STR_INIT("Symbol"),	 STR_INIT("BigInt"),	  STR_INIT("Math"),	  STR_INIT("JSON"),
	STR_INIT("Date"),	 STR_INIT("RegExp"),	  STR_INIT("Promise"),	  STR_INIT("Proxy"),
	STR_INIT("Reflect"),	 STR_INIT("Map"),	  STR_INIT("Set"),	  STR_INIT("WeakMap"),
	STR_INIT("WeakSet"),	 STR_INIT("Error"),	  STR_INIT("TypeError"),  STR_INIT("RangeError"),
	STR_INIT("ArrayBuffer"), STR_INIT("DataView"),	  STR_INIT("Uint8Array"), STR_INIT("URL"),
	STR_INIT("TextEncoder"), STR_INIT("TextDecoder"), STR_INIT("setTimeout"), STR_INIT("clearTimeout"),
};

/* Properties that the language looks up by itself, on await, JSON.stringify(), conversion to text and in
 * literals. */
static const struct str looked_up[] = {
	STR_INIT("then"),
	STR_INIT("toJSON"),
	STR_INIT("toString"),
	STR_INIT("valueOf"),
	STR_INIT("constructor"),
	STR_INIT("prototype"),
	STR_INIT("__proto__"),
	STR_INIT("hasOwnProperty"),
	STR_INIT("isPrototypeOf"),
	STR_INIT("toLocaleString"),
	STR_INIT("propertyIsEnumerable"),
	STR_INIT("__defineGetter__"),
	STR_INIT("__defineSetter__"),
	STR_INIT("__lookupGetter__"),
	STR_INIT("__lookupSetter__"),
};

static bool any(struct str text, const struct str *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(text, names[i]))
			return true;
	return false;
}

bool identifier_reserved(struct str text, enum identifier_use use)
{
	if (any(text, looked_up, ARRAY_LEN(looked_up)))
		return true;
	if (use == IDENTIFIER_TOOL)
		return false;
	return any(text, reserved_words, ARRAY_LEN(reserved_words)) ||
	       any(text, our_names, ARRAY_LEN(our_names)) || any(text, global_names, ARRAY_LEN(global_names));
}

static bool part_char(char c)
{
	return is_letter_or_digit(c) || c == '_';
}

bool identifier_well_formed(struct str text)
{
	if (text.n == 0 || is_digit(text.p[0]))
		return false;
	for (size_t i = 0; i < text.n; i++)
		if (!part_char(text.p[i]))
			return false;
	return true;
}

/* Writes `name` with one "_" for each character that an identifier may not have; at most name.n + 1 bytes. */
static size_t write_identifier(char *out, struct str name)
{
	size_t n = 0;

	if (name.n == 0 || is_digit(name.p[0]))
		out[n++] = '_';
	while (name.n > 0) {
		uint32_t c;
		unsigned length = utf8_decode(name, &c);

		out[n++] = part_char(name.p[0]) ? name.p[0] : '_';
		name = str_from(name, length ? length : 1);
	}
	return n;
}

struct str identifier_of(struct arena *arena, struct str name, enum identifier_use use)
{
	char *text;
	size_t n;

	if (identifier_well_formed(name) && !identifier_reserved(name, use))
		return name;
	text = arena_alloc(arena, name.n + 2);
	n = write_identifier(text, name);
	if (identifier_reserved(str_make(text, n), use))
		text[n++] = '_';
	return str_make(text, n);
}

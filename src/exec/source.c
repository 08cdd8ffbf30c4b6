/*
 * A scanner of tokens that knows just enough of the language to find declarations at the outermost level.
 * `import` and `export` are reserved words, so at that level they are declarations, unless a dot stands
 * before them or a dot or parenthesis follows `import`.
 */
#include "base/base.h"
#include "exec/source.h"
#include "base/character.h"

enum {
	NESTING_MAX =
		256, /* of brackets and templates that are told apart; a deeper text is taken for a snippet */
};

enum token { TOKEN_END, TOKEN_WORD, TOKEN_STRING, TOKEN_LITERAL, TOKEN_PUNCTUATION };

struct scanner {
	struct str text;
	size_t at;    /* behind the token */
	size_t begin; /* of the token */
	enum token token;
	bool value_before;	   /* what stands before is a value, so that "/" divides */
	unsigned depth;		   /* of brackets that are open */
	char nesting[NESTING_MAX]; /* the open brackets: '(', '[', '{', or '`' for the "${" of a template */
};

static struct str token_text(const struct scanner *s)
{
	return str_slice(s->text, s->begin, s->at - s->begin);
}

static char peek(const struct scanner *s, size_t ahead)
{
	return s->at + ahead < s->text.n ? s->text.p[s->at + ahead] : '\0';
}

static bool is_word(char c)
{
	return is_letter_or_digit(c) || c == '_' || c == '$' || c == '#' || (unsigned char)c >= 0x80;
}

static void skip_line(struct scanner *s)
{
	s->at = size_min(s->at + str_find_char(str_from(s->text, s->at), '\n'), s->text.n);
}

/* Blanks and comments; a "#!" line counts as one. */
static void skip_blanks(struct scanner *s)
{
	for (;;) {
		char c = peek(s, 0);

		if (s->at >= s->text.n)
			return;
		if ((c == '/' && peek(s, 1) == '/') || (s->at == 0 && c == '#' && peek(s, 1) == '!')) {
			if (str_find_char(str_from(s->text, s->at), '\n') == STR_NONE)
				s->at = s->text.n;
			else
				skip_line(s);
		} else if (c == '/' && peek(s, 1) == '*') {
			size_t end = str_find(str_from(s->text, s->at + 2), STR("*/"));

			s->at = end == STR_NONE ? s->text.n : s->at + 2 + end + 2;
		} else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
			s->at++;
		} else {
			return;
		}
	}
}

/* A string does not pass the end of its line, so a quote that was none (in a regular expression) does no more
 * harm than that. */
static void scan_string(struct scanner *s, char quote)
{
	s->token = TOKEN_STRING;
	for (s->at++; s->at < s->text.n; s->at++) {
		char c = s->text.p[s->at];

		if (c == '\n')
			return;
		if (c == '\\')
			s->at++;
		else if (c == quote) {
			s->at++;
			return;
		}
	}
	s->at = s->text.n;
}

/* From a backquote, or from the "}" that ends a substitution, to the next "${" or to the end. */
static void scan_template(struct scanner *s)
{
	s->token = TOKEN_LITERAL;
	for (s->at++; s->at < s->text.n; s->at++) {
		char c = s->text.p[s->at];

		if (c == '\\') {
			s->at++;
		} else if (c == '`') {
			s->at++;
			return;
		} else if (c == '$' && peek(s, 1) == '{') {
			s->at += 2;
			s->token = TOKEN_PUNCTUATION;
			if (s->depth < NESTING_MAX)
				s->nesting[s->depth] = '`';
			s->depth++;
			return;
		}
	}
	s->at = s->text.n;
}

static void scan_regex(struct scanner *s)
{
	bool in_class = false;

	s->token = TOKEN_LITERAL;
	for (s->at++; s->at < s->text.n && s->text.p[s->at] != '\n'; s->at++) {
		char c = s->text.p[s->at];

		if (c == '\\')
			s->at++;
		else if (c == '[')
			in_class = true;
		else if (c == ']')
			in_class = false;
		else if (c == '/' && !in_class)
			break;
	}
	s->at = size_min(s->at + 1, s->text.n);
	while (is_word(peek(s, 0)))
		s->at++;
}

static void scan_punctuation(struct scanner *s, char c)
{
	s->token = TOKEN_PUNCTUATION;
	s->at++;
	if (c == '(' || c == '[' || c == '{') {
		if (s->depth < NESTING_MAX)
			s->nesting[s->depth] = c;
		s->depth++;
	} else if ((c == ')' || c == ']' || c == '}') && s->depth > 0) {
		s->depth--;
		if (c == '}' && s->depth < NESTING_MAX && s->nesting[s->depth] == '`') {
			s->at--;
			scan_template(s);
		}
	}
}

/* Words after which an expression begins, so that "/" begins a regular expression. */
static bool expects_value(struct str word)
{
	static const struct str words[] = { STR_INIT("return"), STR_INIT("typeof"),    STR_INIT("case"),
					    STR_INIT("in"),	STR_INIT("of"),	       STR_INIT("delete"),
					    STR_INIT("void"),	STR_INIT("throw"),     STR_INIT("new"),
					    STR_INIT("do"),	STR_INIT("else"),      STR_INIT("await"),
					    STR_INIT("yield"),	STR_INIT("instanceof") };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_eq(word, words[i]))
			return true;
	return false;
}

static bool ends_value(const struct scanner *s)
{
	char last = s->text.p[s->at - 1];

	if (s->token == TOKEN_WORD)
		return !expects_value(token_text(s));
	return s->token != TOKEN_PUNCTUATION || last == ')' || last == ']' || last == '}';
}

static enum token next(struct scanner *s)
{
	char c;

	s->value_before = s->at > s->begin && ends_value(s);
	skip_blanks(s);
	s->begin = s->at;
	if (s->at >= s->text.n)
		return s->token = TOKEN_END;
	c = s->text.p[s->at];
	if (c == '"' || c == '\'') {
		scan_string(s, c);
	} else if (c == '`') {
		scan_template(s);
	} else if (c == '/' && !s->value_before) {
		scan_regex(s);
	} else if (is_word(c)) {
		s->token = TOKEN_WORD;
		while (is_word(peek(s, 0)))
			s->at++;
	} else {
		scan_punctuation(s, c);
	}
	return s->token;
}

static bool at_word(const struct scanner *s, struct str word)
{
	return s->token == TOKEN_WORD && str_eq(token_text(s), word);
}

/* Whether the token before this one, at this level, is a dot. */
static bool after_dot(const struct scanner *s)
{
	size_t at = s->begin;

	while (at > 0 && (s->text.p[at - 1] == ' ' || s->text.p[at - 1] == '\n' || s->text.p[at - 1] == '\t'))
		at--;
	return at > 0 && s->text.p[at - 1] == '.' && (at < 2 || s->text.p[at - 2] != '.');
}

bool exec_source_is_module(struct str source)
{
	struct scanner s = { .text = source };

	while (next(&s) != TOKEN_END)
		if (s.depth == 0 && at_word(&s, STR("export")) && !after_dot(&s))
			return true;
	return false;
}

/* -- imports --------------------------------------------------------------------------------------------- */

/* On one line: a template among the attributes may have several. */
static void append_token(struct buf *out, const struct scanner *s)
{
	struct str text = token_text(s);

	buf_append_char(out, ' ');
	for (size_t i = 0; i < text.n; i++)
		buf_append_char(out, text.p[i] == '\n' ? ' ' : text.p[i]);
}

/* Whether a token can stand between `import` and the module's name: names, "{", "}", ",", "*", and names in
 * quotes within the braces. */
static bool belongs_to_import(const struct scanner *s)
{
	static const char punctuation[] = "{},*";

	if (s->token == TOKEN_PUNCTUATION)
		return memchr(punctuation, s->text.p[s->begin], sizeof(punctuation) - 1) != NULL;
	return s->token == TOKEN_WORD || s->token == TOKEN_STRING;
}

/* `with { type: "json" }` behind the module's name. */
static void take_attributes(struct scanner *s, struct buf *imports)
{
	struct scanner ahead = *s;

	if (next(&ahead) != TOKEN_WORD || !at_word(&ahead, STR("with")))
		return;
	do {
		append_token(imports, &ahead);
		next(&ahead);
	} while (ahead.token != TOKEN_END && ahead.depth > 0);
	append_token(imports, &ahead);
	*s = ahead;
}

/* The scanner is at `import`: appends the declaration on one line and stops behind it. False, and nothing
 * appended, when it is none. */
static bool take_import(struct scanner *s, struct buf *imports)
{
	size_t before = imports->n;

	append_token(imports, s);
	do {
		next(s);
		if (!belongs_to_import(s)) {
			imports->n = before;
			return false;
		}
		append_token(imports, s);
	} while (s->token != TOKEN_STRING || s->depth > 0);
	take_attributes(s, imports);
	buf_append_char(imports, ';');
	return true;
}

/* Everything but line ends becomes blanks, so that what follows stays where it was. */
static void blank_out(struct buf *body, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (body->p[i] != '\n')
			body->p[i] = ' ';
}

static void move_imports(struct buf *body, struct buf *imports)
{
	struct scanner s = { .text = buf_str(body) };

	if (str_starts_with(s.text, STR("#!")))
		blank_out(body, 0, size_min(str_find_char(s.text, '\n'), s.text.n));
	while (next(&s) != TOKEN_END) {
		size_t from = s.begin;

		if (s.depth == 0 && at_word(&s, STR("import")) && !after_dot(&s)) {
			struct scanner here = s;

			if (take_import(&s, imports))
				blank_out(body, from, s.at);
			else
				s = here;
		}
	}
}

/* Columns as runtimes count them: UTF-16 units. */
static size_t columns(struct str text)
{
	size_t count = 0;

	for (size_t i = 0; i < text.n; i++) {
		unsigned char byte = (unsigned char)text.p[i];

		if ((byte & 0xc0) != 0x80)
			count += byte >= 0xf0 ? 2 : 1;
	}
	return count;
}

size_t exec_snippet_write(struct buf *out, struct str source, struct str client, size_t *ret_columns)
{
	_cleanup_buf_ struct buf body = { .max = source.n + 1 }, imports = { .max = source.n * 3 + 1 };
	size_t before = out->n, prefix;

	*ret_columns = 0;
	buf_append(&body, source);
	move_imports(&body, &imports);
	buf_printf(out, "import{$mcpx}from\"%.*s\";", STR_ARG(client));
	if (!buf_failed(&imports))
		buf_append(out, buf_str(&imports));
	buf_append(out, STR("$mcpx.start(async()=>{"));
	if (buf_failed(out))
		return 0;
	prefix = out->n - before;
	*ret_columns = columns(str_from(buf_str(out), before));
	buf_append(out, buf_str(&body));
	buf_append(out, STR("\n});\n"));
	return prefix;
}

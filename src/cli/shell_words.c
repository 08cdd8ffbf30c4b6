#include "base/base.h"
#include "cli/shell_words.h"
#include "base/character.h"

struct reader {
	struct shell_words *to;
	struct str line;
	size_t at, mark;
	struct arena *arena;
	struct str *words;
	char *word; /* of the word that is being read: room for the whole line */
	size_t n;
	bool in_word;
	bool redirects; /* the word is the file of a redirection */
};

static void put(struct reader *reader, char c)
{
	reader->word[reader->n++] = c;
	reader->in_word = true;
}

static void end_word(struct reader *reader)
{
	if (reader->in_word && !reader->redirects)
		reader->words[reader->to->count++] =
			arena_copy(reader->arena, str_make(reader->word, reader->n));
	if (reader->in_word)
		reader->redirects = false;
	reader->in_word = false;
	reader->n = 0;
}

static bool is_number(struct str word)
{
	uint64_t number;

	return str_to_u64(word, &number) == 0;
}

/* "2>": the digits belong to the operator. */
static void begin_redirection(struct reader *reader)
{
	if (is_number(str_make(reader->word, reader->n)))
		reader->in_word = false;
	end_word(reader);
	reader->redirects = true;
}

/* Between double quotes a backslash is one, unless before these. */
static bool is_escapable(char c)
{
	return c == '"' || c == '\\' || c == '$' || c == '`';
}

static void read_quoted(struct reader *reader, char c)
{
	struct str rest = str_from(reader->line, reader->at);

	if (c == reader->to->quote)
		reader->to->quote = '\0';
	else if (c == '\\' && reader->to->quote == '"' && rest.n > 1 && is_escapable(rest.p[1]))
		put(reader, reader->line.p[++reader->at]);
	else
		put(reader, c);
}

static void read_plain(struct reader *reader, char c)
{
	if (c == '\'' || c == '"') {
		reader->to->quote = c;
		reader->in_word = true;
	} else if (c == '\\') {
		reader->in_word = true;
		if (reader->at + 1 < reader->line.n)
			put(reader, reader->line.p[++reader->at]);
	} else if (c == ' ' || c == '\t' || c == '\n') {
		end_word(reader);
	} else if (c == '<' || c == '>' || c == '&') {
		begin_redirection(reader);
	} else {
		put(reader, c);
	}
}

void shell_words_read(struct shell_words *words, struct str line, size_t mark, struct arena *arena)
{
	struct reader reader = { .to = words, .line = line, .mark = mark, .arena = arena };

	*words = (struct shell_words){ 0 };
	reader.words = arena_array(arena, struct str, line.n + 1);
	reader.word = arena_array(arena, char, line.n + 1);
	words->words = reader.words;
	for (; reader.at < line.n; reader.at++) {
		char c = line.p[reader.at];

		if (reader.at <= mark)
			words->kept = reader.n;
		words->quote ? read_quoted(&reader, c) : read_plain(&reader, c);
	}
	if (mark >= line.n)
		words->kept = reader.n;
	words->current = str_make(reader.word, reader.n);
	words->redirects = reader.redirects;
}

/* -- the other way --------------------------------------------------------------------------------------- */

static bool is_safe(char c)
{
	return is_letter_or_digit(c) || (unsigned char)c >= 0x80 ||
	       memchr("_-./:=@%+,", c, strlen("_-./:=@%+,"));
}

void shell_quote(struct buf *out, struct str word, char quote)
{
	for (size_t i = 0; i < word.n; i++) {
		char c = word.p[i];

		if (quote == '\'' && c == '\'')
			buf_append(out, STR("'\\'"));
		else if ((quote == '"' && is_escapable(c)) || (quote == '\0' && !is_safe(c)))
			buf_append_char(out, '\\');
		buf_append_char(out, c);
	}
}

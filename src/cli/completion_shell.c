#include "base/base.h"
#include "cli/completion_shell.h"

#include "cli/completion_scripts.h"
#include "cli/shell_words.h"

static const struct {
	struct str name, script;
} shells[] = {
	[COMPLETION_BASH] = { STR_INIT("bash"), { (const char *)completion_bash, sizeof(completion_bash) } },
	[COMPLETION_ZSH] = { STR_INIT("zsh"), { (const char *)completion_zsh, sizeof(completion_zsh) } },
	[COMPLETION_FISH] = { STR_INIT("fish"), { (const char *)completion_fish, sizeof(completion_fish) } },
};

bool completion_shell_find(struct str name, enum completion_shell *ret_shell)
{
	for (size_t i = 0; i < ARRAY_LEN(shells); i++)
		if (str_eq(shells[i].name, name)) {
			*ret_shell = (enum completion_shell)i;
			return true;
		}
	return false;
}

struct str completion_script(enum completion_shell shell)
{
	return shells[shell].script;
}

/* -- the line -------------------------------------------------------------------------------------------- */

/* The words of the line without the program, and the last one apart. */
static void take_line(struct completion_request *request, const struct str *words, size_t count,
		      struct str current)
{
	request->line.words = words + 1;
	request->line.count = count - 1;
	request->line.current = current;
}

static int read_bash(struct completion_request *request, struct str line, struct str text,
		     struct arena *arena, struct err *err)
{
	size_t mark = str_ends_with(line, text) ? line.n - text.n : 0;
	struct shell_words words;

	shell_words_read(&words, line, mark, arena);
	if (words.count == 0)
		return err_set(err, ERR_INVALID,
			       "a line to complete begins with the program and has a blank behind it");
	take_line(request, words.words, words.count, words.current);
	request->quote = words.quote;
	request->kept = words.kept;
	request->line.redirects = words.redirects;
	return 0;
}

static void read_words(struct completion_request *request, const char *const *words, size_t count,
		       struct arena *arena)
{
	struct str *copies = arena_array(arena, struct str, count);
	struct shell_words last;

	for (size_t i = 0; i < count; i++)
		copies[i] = str_of(words[i]);
	take_line(request, copies, count - 1, copies[count - 1]);
	if (request->shell == COMPLETION_FISH) {
		shell_words_read(&last, request->line.current, 0, arena);
		request->line.current = last.current;
	}
}

int completion_request_read(struct completion_request *request, const char *const *words, size_t count,
			    struct arena *arena, struct err *err)
{
	*request = (struct completion_request){ 0 };
	if (count < 3 || !completion_shell_find(str_of(words[0]), &request->shell))
		return err_set(
			err, ERR_INVALID,
			"what the completion of bash, zsh or fish hands over begins with its name and has the line after it");
	if (request->shell == COMPLETION_BASH)
		return read_bash(request, str_of(words[1]), str_of(words[2]), arena, err);
	read_words(request, words + 1, count - 1, arena);
	return 0;
}

/* -- the answer ------------------------------------------------------------------------------------------ */

static bool all_are_open(const struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (!candidates->items[i].open)
			return false;
	return candidates->count > 0;
}

/* Where a file's name may stand, bash quotes all replacements as names of files; else that is done here. */
static void write_bash(struct buf *out, const struct completion_request *request,
		       const struct candidates *candidates)
{
	size_t before_file = candidates->files_at > request->kept ? candidates->files_at - request->kept : 0;

	buf_append(out, candidates->files	   ? STR("files\n")
			: all_are_open(candidates) ? STR("nospace\n")
						   : STR("-\n"));
	buf_printf(out, "%zu\n", before_file);
	for (size_t i = 0; i < candidates->count; i++) {
		struct str rest = str_from(candidates->items[i].text, request->kept);

		if (candidates->files)
			buf_append(out, rest);
		else
			shell_quote(out, rest, request->quote);
		buf_append_char(out, '\n');
	}
}

static void write_file_line(struct buf *out, const struct candidates *candidates)
{
	if (candidates->files)
		buf_printf(out, "%zu\n", candidates->files_at);
	else
		buf_append(out, STR("-\n"));
}

static void append_escaped(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == ':' || text.p[i] == '\\')
			buf_append_char(out, '\\');
		buf_append_char(out, text.p[i]);
	}
}

static void write_zsh(struct buf *out, const struct candidates *candidates)
{
	write_file_line(out, candidates);
	for (size_t i = 0; i < candidates->count; i++) {
		const struct candidate *candidate = &candidates->items[i];

		buf_append_char(out, candidate->open ? 'o' : 'w');
		append_escaped(out, candidate->text);
		if (candidate->note.n) {
			buf_append_char(out, ':');
			buf_append(out, candidate->note);
		}
		buf_append_char(out, '\n');
	}
}

static void write_fish(struct buf *out, const struct candidates *candidates)
{
	write_file_line(out, candidates);
	for (size_t i = 0; i < candidates->count; i++) {
		const struct candidate *candidate = &candidates->items[i];

		buf_append(out, candidate->text);
		if (candidate->note.n) {
			buf_append_char(out, '\t');
			buf_append(out, candidate->note);
		}
		buf_append_char(out, '\n');
	}
}

void completion_reply_write(struct buf *out, const struct completion_request *request,
			    struct candidates *candidates)
{
	switch (request->shell) {
	case COMPLETION_BASH:
		candidates_narrow(candidates, request->line.current);
		write_bash(out, request, candidates);
		return;
	case COMPLETION_ZSH:
		write_zsh(out, candidates);
		return;
	case COMPLETION_FISH:
		write_fish(out, candidates);
		return;
	}
}

/* The sections that no table has: what mcpx is, which files and variables it looks at, how it ends. */
#include "base/base.h"
#include "cli/manual.h"

#include "cli/manual_private.h"
#include "cli/roff.h"

struct entry {
	struct str term, text;
};

static const struct str description[] = {
	STR_INIT(
		"mcpx stands between AI agents and what they may use. It runs MCP servers, one instance for everybody who asks, and offers "
		"their tools to the command line, to scripts in TypeScript, to MCP clients and over HTTP. What tools and scripts "
		"produce is kept as artifacts."),
	STR_INIT(
		"A daemon does the work. The first command that needs it starts it in the background, and it ends by itself when "
		"nobody has used it for a while. There is one daemon for each set of configuration files, so from a directory with "
		"other files you reach another one."),
	STR_INIT(
		"Flags stand anywhere before a script's own arguments, as `--flag value`, `--flag=value` or `-f value`. `--flag` and "
		"`--no-flag` answer a question with yes and no. `--` ends the flags. `--help` explains any command, and "
		"`--version` says which version this is."),
	STR_INIT(
		"A first word that is no command but the path or the name of a script runs that script, as `mcpx run` does."),
	STR_INIT(
		"With `--json` a command prints one JSON document, also when it fails; the bytes of artifacts and the scripts of shells come as they are."),
};

static const struct entry variables[] = {
	{ STR_INIT("HOME"),
	  STR_INIT("Where configuration, state and cache are, unless something below says otherwise.") },
	{ STR_INIT("XDG_CONFIG_HOME"), STR_INIT("Configuration files and scripts; otherwise `~/.config`.") },
	{ STR_INIT("XDG_STATE_HOME"), STR_INIT("Socket, log and databases; otherwise `~/.local/state`.") },
	{ STR_INIT("XDG_CACHE_HOME"), STR_INIT("Schemas and generated clients; otherwise `~/.cache`.") },
	{ STR_INIT("TMPDIR"),
	  STR_INIT("The daemon's socket, when its path in the state directory would be too long.") },
	{ STR_INIT("NO_COLOR"),
	  STR_INIT("When it is not empty, output is not coloured unless `--color always` is given.") },
	{ STR_INIT("TERM"), STR_INIT("`dumb` means the same.") },
};

static const struct entry files[] = {
	{ STR_INIT(".config/mcpx/config.json"), STR_INIT("") },
	{ STR_INIT(".mcpx.json"), STR_INIT("") },
	{ STR_INIT(".mcpx/config.json"), STR_INIT("") },
	{ STR_INIT(".mcp.json"),
	  STR_INIT(
		  "Configuration, in JSON with comments: looked for in this order, in the working directory and in each directory above "
		  "it. All that exist are read, and the nearest wins.") },
	{ STR_INIT("$XDG_CONFIG_HOME/mcpx/config.json"), STR_INIT("") },
	{ STR_INIT("~/.config/mcpx/config.json"), STR_INIT("") },
	{ STR_INIT("~/.mcpx.json"), STR_INIT("The user's configuration, read after those.") },
	{ STR_INIT("/etc/mcpx/config.json"), STR_INIT("The system's configuration, read last.") },
	{ STR_INIT(".mcpx/scripts/"), STR_INIT("") },
	{ STR_INIT(".config/mcpx/scripts/"),
	  STR_INIT("Scripts that can be run by their names, in the working directory and each above it.") },
	{ STR_INIT("$XDG_CONFIG_HOME/mcpx/scripts/"), STR_INIT("") },
	{ STR_INIT("~/.config/mcpx/scripts/"), STR_INIT("The user's scripts.") },
	{ STR_INIT("~/.local/state/mcpx/"),
	  STR_INIT("The daemons' sockets, locks and logs, and artifacts. Closed to other users.") },
	{ STR_INIT("~/.cache/mcpx/"), STR_INIT("What can be made again, and may be deleted at any time.") },
};

static const struct entry statuses[] = {
	{ STR_INIT("0"), STR_INIT("It was done.") },
	{ STR_INIT("1"),
	  STR_INIT(
		  "It failed, and standard error says why. A tool that answers with an error counts as failed.") },
	{ STR_INIT("2"), STR_INIT("The command line was wrong.") },
	{ STR_INIT("69"),
	  STR_INIT("`mcpx daemon` found one that runs already for the same configuration files.") },
	{ STR_INIT("124"), STR_INIT("The time for it was over.") },
	{ STR_INIT("130"), STR_INIT("") },
	{ STR_INIT("143"), STR_INIT("It was interrupted (SIGINT), or told to end (SIGTERM).") },
};

/* The test looks every one of them up in the table of commands. */
static const struct entry examples[] = {
	{ STR_INIT("mcpx ls"), STR_INIT("Which servers are there?") },
	{ STR_INIT("mcpx search read file"), STR_INIT("Which tools have to do with reading files?") },
	{ STR_INIT("mcpx types files.read_text_file"),
	  STR_INIT("What does this one take, and what does it give?") },
	{ STR_INIT("mcpx call files.read_text_file path=README.md head=5"),
	  STR_INIT("Call it. Its schema decides that `5` is a number.") },
	{ STR_INIT("mcpx call files.read_multiple_files paths:='[\"a.txt\", \"b.txt\"]'"),
	  STR_INIT("The same with a value in JSON.") },
	{ STR_INIT(
		  "mcpx exec 'return (await files.list_directory({ path: \".\" })).content.split(\"\\n\").length'"),
	  STR_INIT("Run a snippet in which every server is an object.") },
	{ STR_INIT("mcpx run report.ts --month 5"), STR_INIT("Run a script; `--month` is the script's.") },
	{ STR_INIT("mcpx artifact get art-0123 -o picture.png"), STR_INIT("Fetch what it produced.") },
	{ STR_INIT("mcpx settings get pool.callTimeout"),
	  STR_INIT("How long may a call take, and who decided that?") },
	{ STR_INIT("mcpx --daemon-tcp --daemon-port 7777 daemon"),
	  STR_INIT("Run the daemon in the foreground, with a TCP listener.") },
	{ STR_INIT("mcpx completion bash >> ~/.bashrc"), STR_INIT("Let bash complete all this.") },
};

static void write_entries(struct buf *out, const struct entry *entries, size_t count, enum roff_font font)
{
	for (size_t i = 0; i < count; i++) {
		roff_entry(out);
		roff_font(out, font, entries[i].term);
		buf_append_char(out, '\n');
		/* Terms without a text share that of the next one. */
		while (!entries[i].text.n) {
			buf_append(out, STR(".TQ\n"));
			roff_font(out, font, entries[++i].term);
			buf_append_char(out, '\n');
		}
		roff_prose(out, entries[i].text);
	}
}

static void write_head(struct buf *out, const char *version)
{
	buf_append(out, STR(".TH MCPX 1 \"\" \"mcpx "));
	roff_append(out, str_of(version));
	buf_append(out, STR("\" \"User Commands\"\n"));
	/* Names are not to be broken, and lines need not end below each other. */
	/* groff 1.23 adjusts anew after each tag of a list, as its string AD says. */
	buf_append(out, STR(".nh\n.ds AD l\n.ad l\n"));
	roff_section(out, STR("NAME"));
	buf_append(out, STR("mcpx \\- let agents and scripts share MCP servers\n"));
	roff_section(out, STR("SYNOPSIS"));
	buf_append(out, STR("\\fBmcpx\\fR [\\fIflags\\fR] \\fIcommand\\fR [\\fIarguments\\fR]\n.br\n"
			    "\\fBmcpx\\fR [\\fIflags\\fR] \\fIscript\\fR [\\fIarguments\\fR]\n"));
}

static void write_description(struct buf *out)
{
	roff_section(out, STR("DESCRIPTION"));
	for (size_t i = 0; i < ARRAY_LEN(description); i++) {
		if (i)
			roff_paragraph(out);
		roff_prose(out, description[i]);
	}
}

static void write_settings(struct buf *out)
{
	roff_section(out, STR("SETTINGS"));
	roff_prose(
		out,
		STR("A value comes from where it was said last: the default, configuration files, the environment, flags, and a change "
		    "to the running daemon with `mcpx settings set`. Durations are written `250ms`, `1m30s` or `2h`, sizes "
		    "`64KiB` or `16MB`, and lists with commas. Those that are the daemon's act when it starts, unless they are "
		    "marked as hot."));
	manual_write_settings(out, false);
	roff_section(out, STR("PLUMBING"));
	roff_prose(out,
		   STR("Settings that there is no ordinary reason to change. They work like the others."));
	manual_write_settings(out, true);
}

static void write_environment(struct buf *out)
{
	roff_section(out, STR("ENVIRONMENT"));
	roff_prose(
		out,
		STR("Each setting has a variable, which is named with it above. An empty one counts as none. Besides:"));
	write_entries(out, variables, ARRAY_LEN(variables), ROFF_BOLD);
}

static void write_statuses(struct buf *out)
{
	roff_section(out, STR("EXIT STATUS"));
	write_entries(out, statuses, ARRAY_LEN(statuses), ROFF_BOLD);
	roff_paragraph(out);
	roff_prose(out, STR("`mcpx run` and `mcpx exec` end with the script's own status."));
}

static void write_examples(struct buf *out)
{
	roff_section(out, STR("EXAMPLES"));
	for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
		if (i)
			roff_paragraph(out);
		roff_prose(out, examples[i].text);
		roff_indent(out);
		roff_verbatim(out, examples[i].term);
		roff_outdent(out);
	}
}

void manual_write(struct buf *out, const char *version)
{
	write_head(out, version);
	write_description(out);
	roff_section(out, STR("COMMANDS"));
	manual_write_commands(out);
	write_settings(out);
	write_environment(out);
	roff_section(out, STR("FILES"));
	write_entries(out, files, ARRAY_LEN(files), ROFF_ITALIC);
	write_statuses(out);
	write_examples(out);
}

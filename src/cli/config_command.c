/*
 * `mcpx config`: which files are read, and what is wrong in them. Names of files, keys and servers are of the
 * kind that comes with a project from somewhere else, so each is made one harmless line.
 */
#include "base/base.h"
#include "cli/commands.h"

#include "cli/cli.h"
#include "cli/display.h"
#include "cli/show.h"
#include "io/files.h"
#include "io/program_path.h"
#include "json/writer.h"

#include <limits.h>

enum {
	SCHEMA_MAX = 4 << 20, /* bytes of the schema's file */
};

static int show_path(struct cli *cli)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct str nearest = config_nearest_file(cli->config);
	struct err err;

	if (!nearest.n) {
		err_set(&err, ERR_NOT_FOUND,
			"there is no configuration file; `mcpx config --sources` lists where they are looked for");
		return cli_fail(cli, &err);
	}
	if (cli_wants_json(cli))
		return show_member(cli, STR("path"), nearest);
	buf_init(&out, SHOW_MAX);
	terminal_append(&cli->out, &out, nearest);
	buf_append_char(&out, '\n');
	return show_buf(cli, &out);
}

/* The schema is installed in share/mcpx beside the programs. */
static int show_schema(struct cli *cli)
{
	char path[PATH_MAX];
	struct str text;
	struct err err;
	int status;

	if (program_share_path("config.schema.json", path, sizeof(path), &err) < 0 ||
	    file_read(path, SCHEMA_MAX, &text, &err) < 0)
		return cli_fail(cli, &err);
	status = show_text(cli, text);
	free((char *)text.p);
	return status;
}

static void write_source(struct json_writer *w, const struct config_source *source)
{
	json_write_object_begin(w);
	json_member_str(w, STR("path"), source->path);
	json_member_bool(w, STR("loaded"), source->loaded);
	if (source->named_by.n)
		json_member_str(w, STR("namedBy"), source->named_by);
	if (source->note.n)
		json_member_str(w, STR("note"), source->note);
	json_write_object_end(w);
}

/* {file, line, column} as members of an open object. */
static void write_place(struct json_writer *w, struct str file, unsigned line, unsigned column)
{
	json_member_str(w, STR("file"), file);
	json_member_u64(w, STR("line"), line);
	json_member_u64(w, STR("column"), column);
}

static void write_errors(struct json_writer *w, const struct config *config)
{
	json_write_key(w, STR("errors"));
	json_write_array_begin(w);
	for (size_t i = 0; i < config->server_count; i++) {
		const struct config_server *server = &config->servers[i];

		if (!server->error)
			continue;
		json_write_object_begin(w);
		json_member_str(w, STR("server"), server->name);
		write_place(w, server->file, server->error->line, server->error->column);
		json_member_str(w, STR("error"), str_of(server->error->message));
		json_write_object_end(w);
	}
	json_write_array_end(w);
}

static void write_ignored(struct json_writer *w, const struct config *config)
{
	json_write_key(w, STR("ignored"));
	json_write_array_begin(w);
	for (size_t i = 0; i < config->ignored_count; i++) {
		const struct config_ignored_key *key = &config->ignored[i];

		json_write_object_begin(w);
		json_member_str(w, STR("key"), key->key);
		write_place(w, key->file, key->line, key->column);
		json_member_bool(w, STR("planned"), !key->unclaimed);
		json_write_object_end(w);
	}
	json_write_array_end(w);
}

static void write_misspelt(struct json_writer *w, const struct environment *environment)
{
	struct str name, meant;
	size_t at = 0;

	json_write_key(w, STR("misspelt"));
	json_write_array_begin(w);
	while (settings_next_misspelt(environment, &at, &name, &meant)) {
		json_write_object_begin(w);
		json_member_str(w, STR("variable"), name);
		json_member_str(w, STR("meant"), meant);
		json_write_object_end(w);
	}
	json_write_array_end(w);
}

static int show_sources_json(struct cli *cli)
{
	const struct config *config = cli->config;
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	buf_init(&out, SHOW_MAX);
	json_writer_init(&w, &out, false);
	json_write_object_begin(&w);
	json_write_key(&w, STR("sources"));
	json_write_array_begin(&w);
	for (size_t i = 0; i < config->source_count; i++)
		write_source(&w, &config->sources[i]);
	json_write_array_end(&w);
	write_errors(&w, config);
	write_ignored(&w, config);
	write_misspelt(&w, &cli->environment);
	json_write_object_end(&w);
	return buf_failed(&out) ? show_buf(cli, &out) : show_json(cli, buf_str(&out));
}

static void source_line(const struct config_source *source, struct buf *out)
{
	buf_append(out, source->loaded	 ? STR("read      ")
			: source->note.n ? STR("not read  ")
					 : STR("not there "));
	display_line(out, source->path);
	if (source->note.n) {
		buf_append(out, STR("  "));
		display_line(out, source->note);
	}
	buf_append_char(out, '\n');
}

static void error_lines(struct cli *cli, struct buf *out)
{
	for (size_t i = 0; i < cli->config->server_count; i++) {
		const struct err *error = cli->config->servers[i].error;

		if (!error)
			continue;
		terminal_style(&cli->out, out, STYLE_BAD, STR("wrong"));
		buf_append(out, STR("     "));
		display_line(out, str_of(error->message));
		buf_append_char(out, '\n');
	}
}

static void ignored_lines(const struct config *config, struct buf *out)
{
	for (size_t i = 0; i < config->ignored_count; i++) {
		const struct config_ignored_key *key = &config->ignored[i];

		buf_append(out, STR("ignored   "));
		display_line(out, key->file);
		buf_printf(out, ":%u:%u: ", key->line, key->column);
		display_line(out, key->key);
		buf_append(out, key->unclaimed ? STR(" is no key of mcpx\n")
					       : STR(" is not in this version of mcpx yet\n"));
	}
}

static void misspelt_lines(const struct environment *environment, struct buf *out)
{
	struct str name, meant;
	size_t at = 0;

	while (settings_next_misspelt(environment, &at, &name, &meant)) {
		buf_append(out, STR("ignored   the variable "));
		display_line(out, name);
		buf_printf(out, " is no setting; did you mean %.*s?\n", STR_ARG(meant));
	}
}

static int show_sources(struct cli *cli, bool all)
{
	const struct config *config = cli->config;
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, SHOW_MAX);
	/* A file that is there and is not read is worth a word, a place where there is none only when asked
	 * for. */
	for (size_t i = 0; i < config->source_count; i++)
		if (config->sources[i].loaded || config->sources[i].note.n || all)
			source_line(&config->sources[i], &out);
	if (out.n == 0)
		buf_append(
			&out,
			STR("no configuration file is read; `mcpx config --sources` lists where they are looked for\n"));
	error_lines(cli, &out);
	ignored_lines(config, &out);
	misspelt_lines(&cli->environment, &out);
	return show_buf(cli, &out);
}

int command_config(struct cli *cli)
{
	if (argument_bool(&cli->arguments, STR("path")))
		return show_path(cli);
	if (argument_bool(&cli->arguments, STR("schema")))
		return show_schema(cli);
	if (cli_wants_json(cli))
		return show_sources_json(cli);
	return show_sources(cli, argument_bool(&cli->arguments, STR("sources")));
}

/* `mcpx config`: which files are read, and what is wrong in them. */
#include "base/base.h"
#include "cli/commands.h"

#include "cli/cli.h"
#include "cli/show.h"
#include "io/files.h"
#include "io/program_path.h"
#include "json/writer.h"

enum {
	LISTING_MAX = 1 << 20, /* bytes of the listing: a few hundred places, each a path and a note */
	SCHEMA_MAX = 4 << 20,  /* bytes of the schema's file */
	PATH_SIZE = 4096,      /* PATH_MAX of Linux */
};

static int show_path(struct cli *cli)
{
	struct err err;

	for (size_t i = 0; i < cli->config->source_count; i++)
		if (cli->config->sources[i].loaded)
			return show_text(cli, arena_concat(&cli->arena, cli->config->sources[i].path,
							   STR("\n"), STR("")));
	err_set(&err, ERR_NOT_FOUND,
		"there is no configuration file; `mcpx config --sources` lists where they are looked for");
	return cli_fail(cli, &err);
}

/* The schema is installed in share/mcpx beside the programs. */
static int show_schema(struct cli *cli)
{
	char path[PATH_SIZE];
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

static void write_ignored(struct json_writer *w, const struct config *config)
{
	json_write_key(w, STR("ignored"));
	json_write_array_begin(w);
	for (size_t i = 0; i < config->ignored_count; i++) {
		const struct config_ignored_key *key = &config->ignored[i];

		json_write_object_begin(w);
		json_member_str(w, STR("key"), key->key);
		json_member_str(w, STR("file"), key->file);
		json_member_u64(w, STR("line"), key->line);
		json_write_object_end(w);
	}
	json_write_array_end(w);
}

static int show_sources_json(struct cli *cli)
{
	const struct config *config = cli->config;
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	buf_init(&out, LISTING_MAX);
	json_writer_init(&w, &out, false);
	json_write_object_begin(&w);
	json_write_key(&w, STR("sources"));
	json_write_array_begin(&w);
	for (size_t i = 0; i < config->source_count; i++)
		write_source(&w, &config->sources[i]);
	json_write_array_end(&w);
	write_ignored(&w, config);
	json_write_object_end(&w);
	return show_json(cli, buf_str(&out));
}

static int show_sources(struct cli *cli, bool all)
{
	const struct config *config = cli->config;
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, LISTING_MAX);
	for (size_t i = 0; i < config->source_count; i++) {
		const struct config_source *source = &config->sources[i];

		/* A file that is there and is not read is worth a word, a place where there is none only when asked for. */
		if (!source->loaded && !source->note.n && !all)
			continue;
		buf_append(&out, source->loaded	  ? STR("read      ")
				 : source->note.n ? STR("not read  ")
						  : STR("not there "));
		terminal_append(&cli->out, &out, source->path);
		if (source->note.n) {
			buf_append(&out, STR("  "));
			terminal_style(&cli->out, &out, STYLE_FAINT, source->note);
		}
		buf_append_char(&out, '\n');
	}
	for (size_t i = 0; i < config->ignored_count; i++)
		buf_printf(&out, "ignored   %.*s (%.*s:%u)\n", STR_ARG(config->ignored[i].key),
			   STR_ARG(config->ignored[i].file), config->ignored[i].line);
	if (out.n == 0)
		buf_append(
			&out,
			STR("no configuration file is read; `mcpx config --sources` lists where they are looked for\n"));
	return show_text(cli, buf_str(&out));
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

#include "base/base.h"
#include "cli/show_status.h"

#include "base/units.h"
#include "cli/display.h"
#include "cli/show.h"
#include "cli/table.h"

static uint64_t number(const struct json *object, struct str member)
{
	uint64_t value = 0;

	(void)json_u64(json_get(object, member), &value);
	return value;
}

/* No finer than it is known: "7s", then as durations are. */
static struct str seconds_text(char storage[DURATION_TEXT_MAX], uint64_t seconds)
{
	return seconds < 60 ? duration_text(storage, seconds * MS_PER_SECOND)
			    : duration_rough(storage, seconds * MS_PER_SECOND);
}

/* "1 run", "2 runs" */
static struct str counted(struct cli *cli, uint64_t n, const char *what)
{
	return arena_printf(&cli->arena, "%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
}

/* -- the daemon ------------------------------------------------------------------------------------------ */

static void line(struct table *table, const char *name, struct str value)
{
	if (value.n == 0)
		return;
	table_row(table);
	table_cell(table, STYLE_FAINT, str_of(name));
	table_cell(table, STYLE_PLAIN, value);
}

static void artifacts_line(struct cli *cli, struct table *table, const struct json *usage)
{
	char used[BYTE_SIZE_TEXT_MAX], quota[BYTE_SIZE_TEXT_MAX];

	if (!usage)
		return;
	byte_size_rough(used, number(usage, STR("bytes")));
	byte_size_rough(quota, number(usage, STR("quota")));
	line(table, "artifacts",
	     arena_printf(&cli->arena, "%llu, %s of %s", (unsigned long long)number(usage, STR("count")),
			  used, quota));
	if (json_get(usage, STR("error")))
		line(table, "", json_str(json_get(usage, STR("error"))));
}

/* After an upgrade the old daemon goes on until it is idle for long. */
static void other_version_line(struct cli *cli, struct table *table, struct str version)
{
	if (!str_eq(version, str_of(cli->version)))
		line(table, "",
		     arena_printf(&cli->arena,
				  "this command is version %s: `mcpx stop` lets the next one start its own",
				  cli->version));
}

static void daemon_line(struct cli *cli, struct table *table, const struct json *root)
{
	struct str version = json_str(json_get(root, STR("version")));
	char uptime[DURATION_TEXT_MAX];

	line(table, "daemon",
	     arena_printf(&cli->arena, "version %.*s, process %llu, up %.*s", STR_ARG(version),
			  (unsigned long long)number(root, STR("pid")),
			  STR_ARG(seconds_text(uptime, number(root, STR("uptimeSec"))))));
	other_version_line(cli, table, version);
}

void show_health(struct cli *cli, const struct json *root, struct buf *out)
{
	struct table table;

	table_init(&table, &cli->out, out);
	daemon_line(cli, &table, root);
	line(&table, "endpoint", json_str(json_get(root, STR("endpoint"))));
	table_end(&table);
}

/* One that listens on TCP has its socket all the same. */
static void endpoint_lines(struct table *table, const struct json *root)
{
	struct str endpoint = json_str(json_get(root, STR("endpoint")));

	line(table, "endpoint", endpoint);
	if (!str_starts_with(endpoint, STR("unix:")))
		line(table, "socket", json_str(json_get(root, STR("socket"))));
}

static void show_daemon(struct cli *cli, const struct json *root, struct buf *out)
{
	char memory[BYTE_SIZE_TEXT_MAX];
	const struct json *file;
	struct table table;

	table_init(&table, &cli->out, out);
	daemon_line(cli, &table, root);
	line(&table, "memory", byte_size_rough(memory, number(root, STR("memoryBytes"))));
	endpoint_lines(&table, root);
	json_for_each(file, json_get(root, STR("config")))
		line(&table, "config", json_str(file));
	if (json_get(root, STR("configError")))
		line(&table, "",
		     arena_concat(&cli->arena, STR("not in force as it is: "),
				  json_str(json_get(root, STR("configError"))), STR("")));
	artifacts_line(cli, &table, json_get(root, STR("artifacts")));
	line(&table, "in use",
	     arena_printf(&cli->arena, "%.*s, %.*s, %.*s",
			  STR_ARG(counted(cli, number(root, STR("connections")), "connection")),
			  STR_ARG(counted(cli, number(root, STR("sessions")), "MCP session")),
			  STR_ARG(counted(cli, number(root, STR("runs")), "run"))));
	table_end(&table);
}

/* -- its servers ----------------------------------------------------------------------------------------- */

static const char *const server_headings[] = { "SERVER", ">TOOLS",  ">LIVE",	 ">CALLS",
					       "SCOPE",	 "SHARING", "TOOLS READ" };

static void server_row(struct table *table, const struct json *server)
{
	const struct json *age = json_get(server, STR("schemaAgeSec"));
	bool known = json_get(server, STR("tools"));
	char text[DURATION_TEXT_MAX];

	table_row(table);
	table_cell(table, json_get(server, STR("lastError")) ? STYLE_BAD : STYLE_NAME,
		   json_str(json_get(server, STR("name"))));
	if (known)
		table_cell_printf(table, STYLE_PLAIN, "%llu",
				  (unsigned long long)number(server, STR("tools")));
	else
		table_cell(table, STYLE_PLAIN, STR("-"));
	table_cell_printf(table, STYLE_PLAIN, "%llu", (unsigned long long)number(server, STR("live")));
	table_cell_printf(table, STYLE_PLAIN, "%llu", (unsigned long long)number(server, STR("calls")));
	table_cell(table, STYLE_PLAIN, json_str(json_get(server, STR("scope"))));
	table_cell(table, STYLE_PLAIN, json_str(json_get(server, STR("sharing"))));
	if (age)
		table_cell_printf(table, STYLE_PLAIN, "%.*s ago",
				  STR_ARG(seconds_text(text, number(server, STR("schemaAgeSec")))));
}

static void indented(struct cli *cli, struct buf *out, enum style style, struct str text)
{
	_cleanup_buf_ struct buf clean = { 0 };

	buf_init(&clean, out->max);
	display_line(&clean, text);
	buf_append(out, STR("  "));
	terminal_style(&cli->out, out, style, buf_str(&clean));
	buf_append_char(out, '\n');
}

/* All that is kept of a server's stderr, unless the error has quoted it whole. */
static void last_words(struct cli *cli, struct str words, struct str error, struct buf *out)
{
	struct str line;

	if (!words.n || str_find(error, words) != STR_NONE)
		return;
	indented(cli, out, STYLE_FAINT, STR("its stderr:"));
	while (str_split(&words, '\n', &line)) {
		buf_append(out, STR("  "));
		indented(cli, out, STYLE_FAINT, line);
	}
}

static void instance_warnings(struct cli *cli, const struct json *instance, struct buf *out)
{
	const struct json *warning;

	json_for_each(warning, json_get(instance, STR("warnings")))
		indented(cli, out, STYLE_FAINT,
			 arena_printf(&cli->arena, "%.*s: %.*s",
				      STR_ARG(json_str(json_get(instance, STR("id")))),
				      STR_ARG(json_str(warning))));
}

/* What a server does that it should not, though it can be used. */
static void server_oddities(struct cli *cli, const struct json *server, struct buf *out)
{
	struct str repeated = json_str(json_get(server, STR("repeatedTool")));
	const struct json *instance;

	if (repeated.n)
		indented(
			cli, out, STYLE_FAINT,
			arena_printf(
				&cli->arena,
				"%.*s lists \"%.*s\" more than once: the later ones have names of their own here, but all that the server hears is \"%.*s\"",
				STR_ARG(json_str(json_get(server, STR("name")))), STR_ARG(repeated),
				STR_ARG(repeated)));
	json_for_each(instance, json_get(server, STR("instances"))) {
		struct str first = json_str(json_get(instance, STR("noiseFirst")));

		if (first.n)
			indented(
				cli, out, STYLE_FAINT,
				arena_printf(
					&cli->arena,
					"%.*s wrote %llu lines to its standard output that are no messages; the first: %.*s",
					STR_ARG(json_str(json_get(instance, STR("id")))),
					(unsigned long long)number(instance, STR("noiseLines")),
					STR_ARG(first)));
		instance_warnings(cli, instance, out);
	}
}

/* All that there is to say of a server, under its name; nothing for one that is well. */
static void server_problems(struct cli *cli, const struct json *server, struct buf *out)
{
	struct str error = json_str(json_get(server, STR("lastError")));
	_cleanup_buf_ struct buf oddities = { 0 };

	buf_init(&oddities, out->max);
	server_oddities(cli, server, &oddities);
	if (!error.n && !oddities.n)
		return;
	buf_append_char(out, '\n');
	terminal_style(&cli->out, out, error.n ? STYLE_BAD : STYLE_NAME,
		       json_str(json_get(server, STR("name"))));
	if (error.n && json_get(server, STR("retryInSec")))
		buf_printf(out, " is tried again in %llus",
			   (unsigned long long)number(server, STR("retryInSec")));
	buf_append_char(out, '\n');
	if (error.n)
		indented(cli, out, STYLE_PLAIN, error);
	last_words(cli, json_str(json_get(server, STR("lastStderr"))), error, out);
	buf_append(out, buf_str(&oddities));
}

void show_status(struct cli *cli, const struct json *root, struct buf *out)
{
	const struct json *servers = json_get(root, STR("servers")), *server;
	struct table table;

	show_daemon(cli, root, out);
	if (json_count(servers) == 0)
		return;
	buf_append_char(out, '\n');
	table_init(&table, &cli->out, out);
	table_heading(&table, server_headings, ARRAY_LEN(server_headings));
	json_for_each(server, servers)
		server_row(&table, server);
	table_end(&table);
	json_for_each(server, servers)
		server_problems(cli, server, out);
}

/* -- refresh --------------------------------------------------------------------------------------------- */

void show_refresh(struct cli *cli, const struct json *root, struct buf *out)
{
	const struct json *failure;

	buf_printf(out, "%.*s, %llu added, %llu removed\n",
		   STR_ARG(counted(cli, number(root, STR("namespaces")), "namespace")),
		   (unsigned long long)number(root, STR("added")),
		   (unsigned long long)number(root, STR("removed")));
	json_for_each(failure, json_get(root, STR("errors"))) {
		terminal_style(&cli->out, out, STYLE_BAD, json_str(json_get(failure, STR("server"))));
		buf_append_char(out, '\n');
		indented(cli, out, STYLE_PLAIN, json_str(json_get(failure, STR("error"))));
	}
}

/*
 * `mcpx completion SHELL` prints a script; `mcpx completion words -- ...` is what that script asks for at
 * each press of the tab key. Whoever presses it looks at a shell that stands still until this ends, so the
 * daemon is asked within a short time and never started, and nothing that fails is worth a word: there are
 * then fewer candidates.
 */
#include "base/base.h"
#include "cli/cli.h"
#include "cli/commands.h"

#include "cli/completion.h"
#include "cli/completion_shell.h"
#include "cli/show.h"
#include "io/clock.h"

enum {
	ANSWER_MAX =
		32 << 20,   /* bytes of one answer: as much as one server's catalogue may have by default */
	REPLY_MAX = 4 << 20 /* bytes for the shell: CANDIDATES_MAX of them with their notes */
};

/* The daemon that the line is about. */
struct inquiry {
	struct cli *cli;
	const struct completion_line *line;
	const struct completion_context *context;
	struct settings *set; /* as the flags on the line say */
	struct config *config;
	struct http_client client;
	uint64_t end_ms;
};

/* Sets every wait to what is left; false when nothing is. */
static bool time_is_left(struct inquiry *inquiry)
{
	uint64_t now = clock_monotonic_ms(), left = inquiry->end_ms > now ? inquiry->end_ms - now : 0;

	inquiry->client.limits = http_client_limits_all(left);
	return left > 0;
}

static bool find_places(struct inquiry *inquiry, struct places *places)
{
	struct cli *cli = inquiry->cli;

	inquiry->set = settings_new();
	completion_add_flags(inquiry->set, inquiry->line, inquiry->context);
	return settings_load_lenient(inquiry->set, &inquiry->config, &cli->environment, cli->cwd, NULL) ==
		       0 &&
	       places_find(places, inquiry->set, inquiry->config, &cli->environment, &cli->arena, NULL) == 0;
}

static bool connect_to_daemon(struct inquiry *inquiry)
{
	struct http_client_limits limits;
	struct places places;
	uint64_t patience;

	if (!find_places(inquiry, &places))
		return false;
	/* For all questions together. */
	patience = settings_duration(inquiry->set, SETTING_COMPLETION_DAEMON_TIMEOUT);
	inquiry->end_ms = clock_monotonic_ms() + patience;
	limits = http_client_limits_all(patience);
	return places_check_socket(&places, NULL) == 0 &&
	       http_client_open_unix(&inquiry->client, places.socket.p, &limits, NULL) == 0;
}

/* The body, read with the time for all of it and not for each piece. */
static bool read_body(struct inquiry *inquiry, struct buf *body)
{
	char room[HTTP_CLIENT_BODY_ROOM];
	size_t n;

	do {
		if (!time_is_left(inquiry) ||
		    http_client_read(&inquiry->client, room, sizeof(room), &n, NULL) < 0 ||
		    buf_append(body, str_make(room, n)) < 0)
			return false;
	} while (n);
	return true;
}

static struct str ask_daemon(void *owner, struct str target)
{
	const struct http_client_request request = { .method = STR("GET"), .target = target };
	struct inquiry *inquiry = owner;
	struct http_client_answer answer;
	_cleanup_buf_ struct buf body = { 0 };

	buf_init(&body, ANSWER_MAX);
	if (!connect_to_daemon(inquiry) || !time_is_left(inquiry) ||
	    http_client_send(&inquiry->client, &request, &answer, NULL) < 0 || answer.status != 200 ||
	    !read_body(inquiry, &body))
		return str_make(NULL, 0);
	return arena_copy(&inquiry->cli->arena, buf_str(&body));
}

static void inquiry_release(struct inquiry *inquiry)
{
	http_client_close(&inquiry->client);
	config_free(&inquiry->config);
	settings_free(&inquiry->set);
}

static int complete(struct cli *cli)
{
	const struct arguments *arguments = &cli->arguments;
	struct inquiry inquiry = { .cli = cli };
	const struct completion_context context = { &cli->environment, cli->cwd, &cli->arena, ask_daemon,
						    &inquiry };
	struct completion_request request;
	struct candidates candidates;
	_cleanup_buf_ struct buf out = { 0 };
	struct err err;

	if (completion_request_read(&request, arguments->rest, arguments->rest_count, &cli->arena, &err) < 0)
		return cli_fail_usage(cli, &err);
	inquiry.line = &request.line;
	inquiry.context = &context;
	completion_find(&candidates, &request.line, &context);
	inquiry_release(&inquiry);
	buf_init(&out, REPLY_MAX);
	completion_reply_write(&out, &request, &candidates);
	return buf_failed(&out) ? CLI_FAILED : show_text(cli, buf_str(&out));
}

int command_completion(struct cli *cli)
{
	struct str name = argument_text(&cli->arguments, STR("shell"));
	enum completion_shell shell;
	struct err err;

	if (!completion_shell_find(name, &shell))
		return complete(cli);
	if (cli->arguments.rest_count == 0)
		return show_text(cli, completion_script(shell));
	err_set(&err, ERR_INVALID, "`mcpx completion %.*s` takes no further argument", STR_ARG(name));
	return cli_fail_usage(cli, &err);
}

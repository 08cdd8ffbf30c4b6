/*
 * `mcpx serve`: an MCP server on standard input and output. All of MCP happens in the daemon (api/stdio.c);
 * this end asks for a channel and copies bytes, so that a client that starts it pays for no more than that.
 *
 * The client outlives the daemon: when that ends, what was under way is answered with an error, and the next
 * thing that the client says starts another one.
 */
#include "base/base.h"
#include "cli/commands.h"

#include "cli/cli.h"
#include "cli/in_flight.h"
#include "cli/request.h"
#include "io/pump.h"

#include <errno.h>

static struct str serve_target(struct cli *cli)
{
	struct setting_items passthrough = settings_items(cli->settings, SETTING_MCP_PASSTHROUGH);
	struct str target = request_target(cli, STR("/v1/stdio"), STR("mode"),
					   settings_string(cli->settings, SETTING_SERVE_MODE));
	struct str names = { NULL, 0 };

	target = request_target(cli, target, STR("pageSize"),
				arena_printf(&cli->arena, "%lld",
					     (long long)settings_int(cli->settings, SETTING_MCP_PAGE_SIZE)));
	for (size_t i = 0; i < passthrough.count; i++)
		names = names.n ? arena_concat(&cli->arena, names, STR(","), passthrough.items[i])
				: passthrough.items[i];
	return names.n ? request_target(cli, target, STR("passthrough"), names) : target;
}

/* -- one daemon ------------------------------------------------------------------------------------------ */

struct serve {
	struct cli *cli;
	struct in_flight flight;
	struct buf kept; /* of the client, and for the next daemon */
	bool again;	 /* not the first daemon */
	size_t replayed; /* bytes of the handshake that are still to be sent again */
};

static void serve_sent(void *context, struct str bytes)
{
	struct serve *serve = context;
	size_t replayed = size_min(serve->replayed, bytes.n);

	/* The client was answered when it said this itself. */
	serve->replayed -= replayed;
	in_flight_up(&serve->flight, str_from(bytes, replayed));
}

static void serve_received(void *context, struct str bytes)
{
	in_flight_down(&((struct serve *)context)->flight, bytes);
}

/* A channel to the daemon, which is started when there is none. *ret_status: why not, when the daemon
 * refuses; else 0. */
static int serve_connect(struct serve *serve, int *ret_fd, struct buf *ret_first, int *ret_refused,
			 struct err *err)
{
	struct cli *cli = serve->cli;
	struct request request = { .target = serve_target(cli), .upgrade = STR("mcpx-stdio") };
	struct http_client_answer answer;
	struct str body;

	*ret_refused = 0;
	if (request_send(cli, &request, &answer, err) < 0)
		return err->code;
	if (answer.status == 101)
		return http_client_hand_over(&cli->daemon, ret_fd, ret_first, err);
	if (request_read_body(cli, &body, err) < 0)
		return err->code;
	*ret_refused = request_refused(cli, (unsigned)answer.status, body);
	return 0;
}

/*
 * Copies until the client or the daemon ends. A daemon that comes later is told the handshake that the client
 * had with the first one; its answer is not for the client, who only hears that the list of tools may be
 * another one.
 */
static int serve_pump(struct serve *serve, int fd, struct str first, enum pump_end *ret_end, struct err *err)
{
	static const struct str changed =
		STR_INIT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n");
	bool replay = serve->again && serve->flight.opening.n && !buf_failed(&serve->flight.opening);
	struct str opening = replay ? buf_str(&serve->flight.opening) : STR("");
	_cleanup_buf_ struct buf ahead = { .max = SIZE_MAX };
	struct pump_options options = {
		.input_fd = STDIN_FILENO,
		.output_fd = STDOUT_FILENO,
		.socket_fd = fd,
		.first = replay ? changed : first,
		.drain_ms = settings_duration(serve->cli->settings, SETTING_TRANSPORT_STDIO_DRAIN),
		.skip_line = replay,
		.left = &serve->kept,
		.sent = serve_sent,
		.received = serve_received,
		.context = serve,
	};
	int r;

	buf_append(&ahead, opening);
	buf_append(&ahead, buf_str(&serve->kept));
	options.ahead = buf_str(&ahead);
	buf_clear(&serve->kept, PUMP_PIECE);
	serve->replayed = opening.n;
	r = pump_run(&options, ret_end, err);
	if (r == 0)
		buf_drop(&serve->kept, serve->replayed);
	return r;
}

/* -- from one to the next -------------------------------------------------------------------------------- */

/* More of what the client says; 0 at its end. */
static int serve_read(struct serve *serve, size_t *ret_n, struct err *err)
{
	char *room = buf_reserve(&serve->kept, PUMP_PIECE);
	ssize_t n;

	do
		n = read(STDIN_FILENO, room, PUMP_PIECE);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(err, "cannot read standard input");
	buf_claim(&serve->kept, (size_t)n);
	*ret_n = (size_t)n;
	return 0;
}

/* Answers what was under way and waits until the client says something. *ret_more: false at its end. */
static int serve_wait(struct serve *serve, bool *ret_more, struct err *err)
{
	_cleanup_buf_ struct buf out = { .max = SIZE_MAX };
	size_t n = 1, end;
	bool cut;
	int r;

	in_flight_lost(&serve->flight, &out, &cut);
	r = terminal_write(&serve->cli->out, buf_str(&out), err);
	while (r == 0 && n && (cut || serve->kept.n == 0)) {
		end = cut ? str_find_char(buf_str(&serve->kept), '\n') : STR_NONE;
		if (end != STR_NONE) {
			buf_drop(&serve->kept, end + 1);
			cut = false;
			continue;
		}
		buf_clear(&serve->kept, PUMP_PIECE);
		r = serve_read(serve, &n, err);
	}
	*ret_more = serve->kept.n > 0 && !cut;
	return r;
}

/* With one daemon after the other, to the end of the client. */
static int serve_all(struct serve *serve, int *ret_refused, struct err *err)
{
	bool more = true;
	int r = 0;

	*ret_refused = 0;
	while (r == 0 && more) {
		_cleanup_buf_ struct buf first = { .max = SIZE_MAX };
		_cleanup_close_ int fd = -1;
		enum pump_end end;

		r = serve_connect(serve, &fd, &first, ret_refused, err);
		if (r < 0 || *ret_refused)
			return r;
		r = serve_pump(serve, fd, buf_str(&first), &end, err);
		more = false;
		if (r == 0 && end == PUMP_PEER_CLOSED)
			r = serve_wait(serve, &more, err);
		serve->again = true;
	}
	return r;
}

int command_serve(struct cli *cli)
{
	struct serve serve = { .cli = cli };
	int r, refused;
	struct err err;

	in_flight_init(&serve.flight);
	buf_init(&serve.kept, SIZE_MAX);
	r = serve_all(&serve, &refused, &err);
	buf_release(&serve.kept);
	in_flight_release(&serve.flight);
	return r < 0 ? cli_fail(cli, &err) : refused;
}

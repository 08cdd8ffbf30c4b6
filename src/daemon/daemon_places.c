/* The sockets, the token and the info file: made at the start, kept while it runs, removed at the end. */
#include "base/base.h"
#include "daemon/daemon_private.h"
#include "base/ids.h"
#include "io/random.h"

enum {
	PRIVATE_FILE_MODE = 0600,
	TOKEN_BYTES = 32,
};

/* -- files ----------------------------------------------------------------------------------------------- */

/* The nearest of the files, and what tells whether they all are what was read. */
static void daemon_write_config(const struct daemon *daemon, struct json_writer *w)
{
	struct str nearest = config_nearest_file(daemon->config);

	if (nearest.n)
		json_member_str(w, STR("configPath"), nearest);
	json_write_key(w, STR("configHash"));
	json_write_strf(w, "%016llx", (unsigned long long)config_hash(daemon->config));
}

int daemon_write_info(struct daemon *daemon, struct err *err)
{
	const struct file_write_options options = { .mode = PRIVATE_FILE_MODE };
	struct json_writer w;
	struct buf out;
	int r;

	api_writer_init(&w, &out);
	json_write_object_begin(&w);
	json_member_i64(&w, STR("pid"), getpid());
	json_member_str(&w, STR("socket"), daemon->places.socket);
	json_member_str(&w, STR("endpoint"), str_of(daemon->api.endpoint));
	daemon_write_config(daemon, &w);
	json_member_str(&w, STR("version"), str_of(daemon->options->version));
	json_member_u64(&w, STR("startedAt"), daemon->started_ms);
	json_write_object_end(&w);
	r = file_write(daemon->places.info.p, buf_str(&out), &options, err);
	buf_release(&out);
	return r;
}

static int daemon_write_token(struct daemon *daemon, struct err *err)
{
	const struct file_write_options options = { .mode = PRIVATE_FILE_MODE };

	return daemon->token.n ? file_write(daemon->places.token.p, daemon->token, &options, err) : 0;
}

static int daemon_make_token(struct daemon *daemon, struct err *err)
{
	uint8_t bytes[TOKEN_BYTES];
	char digits[2 * TOKEN_BYTES];

	random_bytes(bytes, sizeof(bytes));
	hex_encode(digits, bytes, sizeof(bytes));
	daemon->token = arena_copy(&daemon->arena, str_make(digits, sizeof(digits)));
	return daemon_write_token(daemon, err);
}

/* -- sockets --------------------------------------------------------------------------------------------- */

static bool address_is_loopback(struct str address)
{
	return str_starts_with(address, STR("127.")) || str_eq(address, STR("::1"));
}

static int daemon_listen_tcp(struct daemon *daemon, struct err *err)
{
	struct str address = settings_string(daemon->settings, SETTING_DAEMON_ADDRESS);
	bool open = settings_choice(daemon->settings, SETTING_DAEMON_AUTH) == CHOICE_DAEMON_AUTH_NONE;
	int fd, r;

	if (open && !address_is_loopback(address))
		return err_set(
			err, ERR_INVALID,
			"daemon.auth none is for loopback only, and daemon.address is %.*s: set daemon.auth to token",
			STR_ARG(address));
	if (!open && (r = daemon_make_token(daemon, err)) < 0)
		return r;
	r = http_listen_tcp(address.p, (uint16_t)settings_int(daemon->settings, SETTING_DAEMON_PORT), &fd,
			    &daemon->api.port, err);
	if (r < 0)
		return r;
	daemon->api.access.token_needed = !open;
	daemon->api.access.token = daemon->token;
	daemon->api.access.address = address;
	daemon->api.endpoint =
		arena_printf(&daemon->arena, "http://%s%.*s%s:%u",
			     str_find_char(address, ':') == STR_NONE ? "" : "[", STR_ARG(address),
			     str_find_char(address, ':') == STR_NONE ? "" : "]", daemon->api.port)
			.p;
	return http_server_listen(daemon->server, fd, false, err);
}

int daemon_listen(struct daemon *daemon, struct err *err)
{
	int fd, r = http_listen_unix(daemon->places.socket.p, &fd, err);

	if (r < 0)
		return r;
	daemon->listening = true;
	r = http_server_listen(daemon->server, fd, true, err);
	if (r < 0 || !settings_bool(daemon->settings, SETTING_DAEMON_TCP))
		return r;
	return daemon_listen_tcp(daemon, err);
}

/* -- when they are taken away ---------------------------------------------------------------------------- */

static void daemon_lock_lost(void *context)
{
	daemon_stop(context, "its lock file was removed, so that another daemon may start");
}

static int daemon_listen_anew(struct daemon *daemon, struct err *err)
{
	int fd, r;

	if ((r = places_prepare(&daemon->places, err)) < 0 ||
	    (r = http_listen_unix(daemon->places.socket.p, &fd, err)) < 0)
		return r;
	http_server_unlisten_local(daemon->server);
	r = http_server_listen(daemon->server, fd, true, err);
	if (r == 0)
		places_watch_follow(&daemon->places_watch);
	return r;
}

static void daemon_files_lost(void *context)
{
	struct daemon *daemon = context;
	struct err err = { 0 };
	int r = 0;

	if (!places_watch_socket_is_ours(&daemon->places_watch))
		r = daemon_listen_anew(daemon, &err);
	if (r == 0)
		r = daemon_write_token(daemon, &err);
	if (r == 0)
		r = daemon_write_info(daemon, &err);
	if (r < 0)
		logger_log(&daemon->logger, LOG_LEVEL_ERROR, STR("files.lost"),
			   LOG_FIELDS(log_err("error", &err)));
	else
		logger_log(&daemon->logger, LOG_LEVEL_WARN, STR("files.restored"),
			   LOG_FIELDS(log_str("socket", daemon->places.socket),
				      log_cstr("detail",
					       "something had removed the daemon's socket or info file")));
}

static const struct places_watch_events daemon_places_events = {
	.lock_lost = daemon_lock_lost,
	.files_lost = daemon_files_lost,
};

void daemon_watch_places(struct daemon *daemon)
{
	places_watch_start(&daemon->places_watch, daemon->loop, daemon->settings, &daemon->places,
			   &daemon->lock, &daemon_places_events, daemon);
}

/* -- the end --------------------------------------------------------------------------------------------- */

static void remove_file(struct str path)
{
	if (path.p)
		(void)unlink(path.p);
}

void daemon_remove_places(const struct daemon *daemon)
{
	/* Once the lock is lost they may be another's. */
	if (!daemon->listening ||
	    (!lock_file_is_ours(&daemon->lock) && !places_watch_socket_is_ours(&daemon->places_watch)))
		return;
	remove_file(daemon->places.socket);
	remove_file(daemon->places.info);
	if (daemon->token.n)
		remove_file(daemon->places.token);
}

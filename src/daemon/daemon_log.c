/* Every record goes to a file that others can read later, and to whoever watches standard error. */
#include "base/base.h"
#include "daemon/daemon_private.h"

static void daemon_sink(void *context, enum log_level level, struct str line)
{
	struct daemon *daemon = context;

	(void)level;
	log_file_write(&daemon->log_file, line);
	if (!daemon->options->detached)
		log_stream_write(&daemon->log_stream, &daemon->logger, line);
}

void daemon_set_log_level(struct daemon *daemon)
{
	(void)log_level_parse(settings_string(daemon->settings, SETTING_LOGGING_LEVEL), &daemon->logger.level,
			      NULL);
}

int daemon_open_log(struct daemon *daemon, struct err *err)
{
	const struct settings *set = daemon->settings;

	daemon->logger = (struct logger){
		.bounds = { .value_max = settings_bytes(set, SETTING_LOGGING_VALUE_MAX),
			    .line_max = settings_bytes(set, SETTING_LOGGING_LINE_MAX) },
		.clock = loop_wall_ms,
		.sink = daemon_sink,
		.context = daemon,
	};
	daemon->log_stream.fd = STDERR_FILENO;
	daemon_set_log_level(daemon);
	(void)log_format_parse(settings_string(set, SETTING_LOGGING_FORMAT), &daemon->logger.format, NULL);
	if (!settings_bool(set, SETTING_LOGGING_FILE))
		return 0;
	return log_file_open(&daemon->log_file, daemon->places.log.p,
			     settings_bytes(set, SETTING_LOGGING_MAX_BYTES),
			     (unsigned)settings_int(set, SETTING_LOGGING_KEEP), err);
}

void daemon_event(struct hub_listener *listener, enum log_level level, struct str event, struct str server,
		  struct str detail)
{
	struct daemon *daemon = container_of(listener, struct daemon, listener);

	if (server.n)
		logger_log(&daemon->logger, level, event,
			   LOG_FIELDS(log_str("server", server), log_str("detail", detail)));
	else
		logger_log(&daemon->logger, level, event, LOG_FIELDS(log_str("detail", detail)));
}

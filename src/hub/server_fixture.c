/*
 * An MCP server over stdio for the tests of this room: it does what its arguments say, and waits for nothing
 * but its input, so that tests wait for events and never for time. It reads what our own client writes and so
 * gets by with looking for members by their text.
 *
 * - --modern: speaks 2026-07-28 only; otherwise legacy only
 * - --starts FILE: appends a line with its process id to FILE
 * - --fail-while FILE: writes to stderr and exits with 3 as long as FILE exists
 * - --only-initialize: exits with 4 when anything else comes first
 * - --no-probe: leaves server/discover unanswered
 * - --hang: answers nothing
 * - --shut: closes stdin at once and answers nothing
 * - --mute: closes stdout at once and reads on
 * - --gate FIFO: reads one byte from FIFO before it answers the handshake
 * - --noise: lines on stdout that are no messages, and a line on stderr
 * - --stubborn: ignores SIGTERM and the end of its input
 * - --bare: offers no tools
 * - --tools N --page N: N more tools, listed in pages of so many
 * - --odd: lists entries that are no tools, too
 * - --list-error: answers tools/list with an error; --list-silent with nothing; --list-die by exiting with 5
 * - --changes N: says that its tools changed during each of the first N lists
 */
#include "base/base.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum {
	HELD_MAX = 16, /* calls that wait for the tool `free` */
	SEEN_MAX = 8192,
	EXIT_FAILING = 3,
	EXIT_NOT_INITIALIZE = 4,
	EXIT_IN_LIST = 5,
	LONG = 70000, /* bytes of a line that is too long for those who ask for it */
};

static struct {
	bool modern, only_initialize, no_probe, hang, shut, mute, noise, stubborn, bare, odd;
	bool list_error, list_silent, list_die;
	int tools, page, changes;
	const char *gate, *starts, *fail_while;
} options = { .page = 1000 };

static char *line; /* the request at hand */
static char *held[HELD_MAX];
static int held_count, new_tools;
static char seen[SEEN_MAX];
static bool initialized;

/* Digits at the start; 0 when there are none. */
static int number_of(const char *text)
{
	int number = 0;

	while (*text >= '0' && *text <= '9')
		number = number * 10 + (*text++ - '0');
	return number;
}

/* -- looking at a message -------------------------------------------------------------------------------- */

/* The end of the JSON value at `at`. */
static const char *value_end(const char *at)
{
	int depth = 0;
	bool text = false;

	for (; *at; at++) {
		if (text && *at == '\\')
			at++;
		else if (*at == '"')
			text = !text;
		else if (!text && (*at == '{' || *at == '['))
			depth++;
		else if (!text && (*at == '}' || *at == ']') && --depth < 0)
			return at;
		else if (!text && depth == 0 && *at == ',')
			return at;
	}
	return at;
}

/* A copy of the value of the first member of that name, as it is written; NULL when there is none. */
static char *member(const char *name)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "\"%s\":", name);
	at = strstr(line, key);
	if (!at)
		return NULL;
	at += strlen(key);
	return strndup(at, (size_t)(value_end(at) - at));
}

static bool member_is(const char *name, const char *text)
{
	char *value = member(name);
	bool is = value && strlen(value) == strlen(text) + 2 && strncmp(value + 1, text, strlen(text)) == 0;

	free(value);
	return is;
}

/* -- answering ------------------------------------------------------------------------------------------- */

static void answer(const char *id, const char *result)
{
	printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", id, result);
	fflush(stdout);
}

static void answer_text(const char *id, const char *text)
{
	printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}}\n",
	       id, text);
	fflush(stdout);
}

static void answer_error(const char *id, int code, const char *message, const char *data)
{
	printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":\"%s\"%s%s}}\n", id, code,
	       message, data ? ",\"data\":" : "", data ? data : "");
	fflush(stdout);
}

static void tell(const char *notification)
{
	puts(notification);
	fflush(stdout);
}

static void tell_changed(void)
{
	tell("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
}

static void pass_gate(void)
{
	char byte;
	int fd = open(options.gate, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, &byte, 1) != 1)
		exit(EXIT_FAILURE);
	close(fd);
}

static void say_noise(void)
{
	printf("Starting server v1.0 \xf0\x9f\x9a\x80\n\n[info] ready\n{\"level\":\"info\"}\n{\"jsonrpc\":\"2.0\"\n\xff\xfe\n");
	fflush(stdout);
	fprintf(stderr, "some words on stderr\n");
}

/* -- the handshake --------------------------------------------------------------------------------------- */

static void handle_discover(const char *id)
{
	if (options.no_probe)
		return;
	if (!options.modern) {
		answer_error(id, -32601, "no such method", NULL);
		return;
	}
	if (options.gate)
		pass_gate();
	answer(id,
	       "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{\"listChanged\":true}},"
	       "\"instructions\":\"be modern\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"test\",\"version\":\"1\"}}}");
}

static void handle_initialize(const char *id)
{
	char *version = member("protocolVersion");

	if (options.modern) {
		answer_error(id, -32601, "no such method", NULL);
		return;
	}
	if (options.gate)
		pass_gate();
	printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"protocolVersion\":%s,\"capabilities\":{%s},"
	       "\"serverInfo\":{\"name\":\"test\",\"version\":\"1\"},\"instructions\":\"be kind\"}}\n",
	       id, version ? version : "\"2025-06-18\"",
	       options.bare ? "" : "\"tools\":{\"listChanged\":true},\"logging\":{}");
	fflush(stdout);
	free(version);
}

/* -- the list -------------------------------------------------------------------------------------------- */

static const char *const standing_tools[] = { "echo",  "pid",	    "die",   "kill",   "silent", "hold",
					      "free",  "progress",  "error", "noisy",  "seen",	 "leave",
					      "shut",  "malformed", "ask",   "change", "env",	 "cwd",
					      "words", "starve",    "log" };

enum { STANDING = sizeof(standing_tools) / sizeof(standing_tools[0]) };

static int tool_total(void)
{
	return STANDING + options.tools + new_tools;
}

static void print_tool(int at)
{
	if (at < STANDING)
		printf("{\"name\":\"%s\", \"inputSchema\":{\"type\":\"object\"}}", standing_tools[at]);
	else if (at < STANDING + options.tools)
		printf("{\"name\":\"tool%d\",\"inputSchema\":{\"oneOf\":[{\"$ref\":\"#/x\"}]}}",
		       at - STANDING);
	else
		printf("{\"name\":\"new%d\",\"inputSchema\":{\"type\":\"object\"}}",
		       at - STANDING - options.tools);
}

static void handle_list(const char *id)
{
	char *cursor = member("cursor");
	int at = cursor ? number_of(cursor + 1) : 0, end = at + options.page;
	bool last = end >= tool_total();

	free(cursor);
	if (options.list_die)
		exit(EXIT_IN_LIST);
	if (options.list_silent)
		return;
	if (options.list_error) {
		answer_error(id, -32000, "the list is lost", NULL);
		return;
	}
	if (options.changes > 0) {
		options.changes--;
		new_tools++;
		tell_changed();
	}
	printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"tools\":[%s", id,
	       options.odd && at == 0
		       ? "17,{\"title\":\"no name\"},{\"name\":\"refs\",\"inputSchema\":{\"$defs\":{}},\"x\":[1, 2e400]},"
		       : "");
	for (; at < end && at < tool_total(); at++) {
		print_tool(at);
		fputs(at + 1 < end && at + 1 < tool_total() ? "," : "", stdout);
	}
	if (last)
		printf("]}}\n");
	else
		printf("],\"nextCursor\":\"%d\"}}\n", end);
	fflush(stdout);
}

/* -- the tools ------------------------------------------------------------------------------------------- */

static void tool_echo(const char *id)
{
	char *arguments = member("arguments");

	printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[], \"echo\":%s}}\n", id,
	       arguments ? arguments : "null");
	fflush(stdout);
	free(arguments);
}

static void tool_pid(const char *id)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", getpid());
	answer_text(id, text);
}

static void tool_die(const char *id)
{
	(void)id;
	fprintf(stderr, "first words\nthese were my last words\n");
	exit(7);
}

static void tool_kill(const char *id)
{
	(void)id;
	raise(SIGKILL);
}

static void tool_hold(const char *id)
{
	if (held_count < HELD_MAX)
		held[held_count++] = strdup(id);
}

/* Answers the calls that were held, the last first. */
static void tool_free(const char *id)
{
	answer_text(id, "freed");
	while (held_count) {
		char *one = held[--held_count];

		answer_text(one, one);
		free(one);
	}
}

/* Three reports, and the call is held. */
static void tool_progress(const char *id)
{
	char *token = member("progressToken");

	for (int i = 1; token && i <= 3; i++)
		printf("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":%d,\"total\":3,"
		       "\"message\":\"step %d\"}}\n",
		       token, i, i);
	fflush(stdout);
	tool_hold(token ? id : "null");
	free(token);
}

static void tool_error(const char *id)
{
	answer_error(id, -32050, "no luck \\u2603", "{\"k\":[1, 2.50]}");
}

static void tool_noisy(const char *id)
{
	say_noise();
	answer_text(id, "noisy");
}

static void tool_seen(const char *id)
{
	answer_text(id, seen);
}

static void tool_leave(const char *id)
{
	answer_text(id, "bye");
	exit(0);
}

static void tool_shut(const char *id)
{
	close(STDIN_FILENO);
	answer_text(id, "shut");
	for (;;)
		pause();
}

static void tool_mute(const char *id)
{
	(void)id;
	close(STDOUT_FILENO);
}

static void tool_malformed(const char *id)
{
	printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{},\"error\":{}}\n", id);
	fflush(stdout);
}

static void tool_text_id(const char *id)
{
	char text[64];

	snprintf(text, sizeof(text), "\"%s\"", id);
	answer_text(text, "mine is text");
}

static void tool_wrong_id(const char *id)
{
	(void)id;
	answer_text("\"nobody's\"", "whose is this?");
}

static void tool_ask(const char *id)
{
	tell("{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"method\":\"elicitation/create\",\"params\":{}}");
	tool_hold(id);
}

static void tool_change(const char *id)
{
	new_tools++;
	tell_changed();
	answer_text(id, "changed");
}

static void tool_env(const char *id)
{
	const char *value = getenv("TEST_SERVER_WORD");

	answer_text(id, value ? value : "none");
}

static void tool_cwd(const char *id)
{
	char path[1024];

	answer_text(id, getcwd(path, sizeof(path)) ? path : "none");
}

static void tool_words(const char *id)
{
	fprintf(stderr, "words\n");
	answer_text(id, "said");
}

static void tool_log(const char *id)
{
	tell("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"hi\"}}");
	answer_text(id, "logged");
}

/* Reads nothing any more, so that its input fills. */
static void tool_starve(const char *id)
{
	answer_text(id, "starving");
	for (;;)
		pause();
}

/* Does nothing any more, as one that is stuck. */
static void tool_freeze(const char *id)
{
	(void)id;
	raise(SIGSTOP);
}

/* Noise instead of an answer. */
static void tool_babble(const char *id)
{
	(void)id;
	say_noise();
}

static void pour(void)
{
	for (int i = 0; i < LONG; i++)
		fputs("x", stdout);
}

/* An answer that is too long, as a whole. */
static void tool_long(const char *id)
{
	printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"x\":\"", id);
	pour();
	puts("\"}}");
	fflush(stdout);
}

/* One that does not end. */
static void tool_endless(const char *id)
{
	printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"x\":\"", id);
	pour();
	fflush(stdout);
}

/* Of which nobody can say whose answer it is. */
static void tool_flood(const char *id)
{
	(void)id;
	pour();
	fflush(stdout);
}

static const struct {
	const char *name;
	void (*run)(const char *id);
} tools[] = {
	{ "echo", tool_echo },	       { "pid", tool_pid },
	{ "die", tool_die },	       { "kill", tool_kill },
	{ "hold", tool_hold },	       { "free", tool_free },
	{ "progress", tool_progress }, { "error", tool_error },
	{ "noisy", tool_noisy },       { "seen", tool_seen },
	{ "leave", tool_leave },       { "shut", tool_shut },
	{ "mute", tool_mute },	       { "malformed", tool_malformed },
	{ "ask", tool_ask },	       { "change", tool_change },
	{ "env", tool_env },	       { "cwd", tool_cwd },
	{ "words", tool_words },       { "starve", tool_starve },
	{ "log", tool_log },	       { "text_id", tool_text_id },
	{ "wrong_id", tool_wrong_id }, { "long", tool_long },
	{ "endless", tool_endless },   { "flood", tool_flood },
	{ "freeze", tool_freeze },     { "babble", tool_babble },
};

static void handle_call(const char *id)
{
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		if (member_is("name", tools[i].name)) {
			tools[i].run(id);
			return;
		}
	if (!member_is("name", "silent"))
		answer(id, "{\"content\":[{\"type\":\"text\",\"text\":\"no such tool\"}],\"isError\":true}");
}

/* -- the life -------------------------------------------------------------------------------------------- */

/* What came in without being a request, and logging/setLevel, for the tool `seen`: quotes become
 * apostrophes. */
static void note(void)
{
	size_t n = strlen(seen);

	snprintf(seen + n, sizeof(seen) - n, "%s;", line);
	for (; seen[n]; n++)
		if (seen[n] == '"')
			seen[n] = '\'';
}

static void handle(void)
{
	char *id = member("id");
	char *method = member("method");

	if (options.only_initialize && !initialized && !member_is("method", "initialize"))
		exit(EXIT_NOT_INITIALIZE);
	if (!id || !method)
		note();
	else if (member_is("method", "server/discover"))
		handle_discover(id);
	else if (member_is("method", "initialize")) {
		initialized = true;
		handle_initialize(id);
	} else if (member_is("method", "tools/list"))
		handle_list(id);
	else if (member_is("method", "tools/call"))
		handle_call(id);
	else if (member_is("method", "logging/setLevel")) {
		note();
		answer(id, "{}");
	} else
		answer_error(id, -32601, "no such method", NULL);
	free(id);
	free(method);
}

static void take_options(char **argv)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "--modern", &options.modern },
		{ "--only-initialize", &options.only_initialize },
		{ "--no-probe", &options.no_probe },
		{ "--hang", &options.hang },
		{ "--shut", &options.shut },
		{ "--mute", &options.mute },
		{ "--noise", &options.noise },
		{ "--stubborn", &options.stubborn },
		{ "--bare", &options.bare },
		{ "--odd", &options.odd },
		{ "--list-error", &options.list_error },
		{ "--list-silent", &options.list_silent },
		{ "--list-die", &options.list_die },
	};

	for (char **arg = argv + 1; *arg; arg++) {
		for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
			if (strcmp(*arg, flags[i].name) == 0)
				*flags[i].flag = true;
		if (strcmp(*arg, "--gate") == 0)
			options.gate = *++arg;
		else if (strcmp(*arg, "--starts") == 0)
			options.starts = *++arg;
		else if (strcmp(*arg, "--fail-while") == 0)
			options.fail_while = *++arg;
		else if (strcmp(*arg, "--tools") == 0)
			options.tools = number_of(*++arg);
		else if (strcmp(*arg, "--page") == 0)
			options.page = number_of(*++arg);
		else if (strcmp(*arg, "--changes") == 0)
			options.changes = number_of(*++arg);
	}
}

static void begin(void)
{
	FILE *starts = options.starts ? fopen(options.starts, "a") : NULL;

	if (options.shut)
		close(STDIN_FILENO);
	if (options.mute)
		close(STDOUT_FILENO);
	if (starts) {
		fprintf(starts, "%d\n", getpid());
		fclose(starts);
	}
	if (options.fail_while && access(options.fail_while, F_OK) == 0) {
		fprintf(stderr, "reading the key\nfatal: there is no key\n");
		exit(EXIT_FAILING);
	}
	if (options.stubborn)
		signal(SIGTERM, SIG_IGN);
	if (options.noise)
		say_noise();
}

int main(int argc, char **argv)
{
	size_t room = 0;

	(void)argc;
	take_options(argv);
	begin();
	while (options.shut)
		pause();
	while (getline(&line, &room, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!options.hang)
			handle();
	}
	while (options.stubborn)
		pause();
	free(line);
	return 0;
}

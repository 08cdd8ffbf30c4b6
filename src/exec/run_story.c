/*
 * The story of a run: records of the channel and bytes of stdout become frames in the order in which they
 * come. The result, the error and the artifacts are kept until the end, where a reader looks for them.
 */
#include "base/base.h"
#include "base/time_text.h"
#include "base/units.h"
#include "exec/run_private.h"
#include "exec/words.h"
#include "json/json.h"
#include "mcp/jsonrpc.h"
#include "text/utf8.h"

enum {
	RESULT_SHARE = 4,	    /* one part in so many of the budget is kept free for the result */
	RECORD_MEMBERS_MAX = 32,    /* ours have fewer */
	ERROR_TEXT_MAX = 64 * 1024, /* bytes of an error's message and of its record: more helps nobody */
	ERROR_PART_MAX = 16 * 1024, /* bytes of each text of a record that has more */
	LOST_TEXT_MAX = 1024,	    /* bytes of what is said about a lost result */
	RECORD_COST_MIN =
		64, /* bytes that each counts as: what waits for a slow reader is more than its text */
	DROPS_TOLD_MAX = 10,   /* log records about dropped records: a script may make many */
	ARTIFACTS_MAX = 10000, /* of one run that are told */
	ARTIFACT_RECORD_MAX =
		64 * 1024, /* bytes of what is told of one: the store's names and paths are shorter */
};

#define KEEP_IT "keep it with artifact() and return that, or raise the limit"

/* As the client says it where it can notice that. */
#define WAITS_FOR_NOTHING                                                                                    \
	"the script waits for something that can never come: nothing is left that could settle its promise"

struct record {
	struct json_member members[RECORD_MEMBERS_MAX];
	size_t count;
	struct arena arena;
};

void exec_tell(struct exec_process *process, enum exec_frame_kind kind, struct str value, struct str text,
	       enum log_level level)
{
	const struct exec_frame frame = {
		.kind = kind,
		.value = value,
		.text = text,
		.level = level,
		.run = process->run,
	};

	process->run->events->frame(process->run, &frame);
}

static void tell_text(struct exec_process *process, enum exec_frame_kind kind, struct str text)
{
	exec_tell(process, kind, str_make(NULL, 0), text, LOG_LEVEL_INFO);
}

static void tell_value(struct exec_process *process, enum exec_frame_kind kind, struct str value)
{
	exec_tell(process, kind, value, str_make(NULL, 0), LOG_LEVEL_INFO);
}

/* -- words ----------------------------------------------------------------------------------------------- */

/* What was held back. */
static void show_words(struct exec_process *process)
{
	if (!process->begun && process->words.n)
		tell_text(process, EXEC_FRAME_STDERR, buf_str(&process->words));
	process->begun = true;
}

/*
 * What the script, or its runtime, writes to stderr by itself. The end of it is kept, in case it says why the
 * script failed. Before the script has begun it is not shown at once: a runtime that cannot read the script
 * says so there, in its own words about files of ours, and the error has them in better ones.
 */
static void channel_text(struct exec_channel *channel, struct str bytes)
{
	struct exec_process *process = container_of(channel, struct exec_process, channel);
	struct str kept = utf8_cut_front(bytes, process->words.max);

	if (process->words.n + bytes.n > process->words.max)
		show_words(process);
	if (process->words.n + kept.n > process->words.max)
		buf_drop(&process->words, process->words.n + kept.n - process->words.max);
	buf_append(&process->words, kept);
	if (process->begun)
		tell_text(process, EXEC_FRAME_STDERR, bytes);
}

/* -- the budget ------------------------------------------------------------------------------------------ */

/* A record of ours among the script's. */
static void tell_warning(struct exec_process *process, struct str message)
{
	_cleanup_buf_ struct buf value = { .max = ARENA_MAX_DEFAULT };
	char storage[TIME_TEXT_MAX];
	struct json_writer w;

	json_writer_init(&w, &value, false);
	json_write_object_begin(&w);
	json_member_str(&w, STR("ts"), time_rfc3339(storage, loop_wall_ms()));
	json_member_str(&w, STR("level"), STR("warn"));
	json_member_str(&w, STR("msg"), message);
	json_write_object_end(&w);
	exec_tell(process, EXEC_FRAME_LOG, buf_str(&value), message, LOG_LEVEL_WARN);
}

static void count_dropped(struct exec_process *process, uint64_t bytes, unsigned frames)
{
	process->run->outcome.dropped_bytes += bytes;
	process->run->outcome.dropped_frames += frames;
}

static void drop(struct exec_process *process, uint64_t bytes, unsigned frames)
{
	_cleanup_arena_ struct arena arena = { 0 };
	char size[BYTE_SIZE_TEXT_MAX];

	count_dropped(process, bytes, frames);
	if (process->overflowed)
		return;
	process->overflowed = true;
	arena_init(&arena, 0);
	byte_size_text(size, process->spec.limits.output_max);
	tell_warning(
		process,
		arena_printf(
			&arena,
			"the script's output is over its limit of %s (exec.outputMax): what follows is dropped",
			size));
}

/* Bytes that may still be told, by anything but the result. */
static size_t room(const struct exec_process *process)
{
	uint64_t max = process->spec.limits.output_max, share = max - max / RESULT_SHARE;

	if (!max)
		return SIZE_MAX;
	return process->told < share ? (size_t)(share - process->told) : 0;
}

static bool charge(struct exec_process *process, size_t bytes)
{
	if (bytes > room(process)) {
		drop(process, bytes, 1);
		return false;
	}
	process->told += size_max(bytes, RECORD_COST_MIN);
	return true;
}

/* -- stdout ---------------------------------------------------------------------------------------------- */

static void tell_stdout(struct exec_process *process, struct str text)
{
	struct str fits = utf8_cut(text, room(process));

	process->told += fits.n;
	if (fits.n)
		tell_text(process, EXEC_FRAME_STDOUT, fits);
	if (fits.n < text.n)
		drop(process, text.n - fits.n, 0);
}

/* Characters are told whole: the begin of one at the end waits for the rest. */
void exec_story_stdout(struct exec_process *process, struct str bytes)
{
	_cleanup_buf_ struct buf joined = { .max = SIZE_MAX };
	size_t incomplete;

	if (process->held_n) {
		buf_append(&joined, str_make(process->held, process->held_n));
		buf_append(&joined, bytes);
		bytes = buf_str(&joined);
	}
	incomplete = utf8_incomplete(bytes);
	process->held_n = incomplete;
	if (incomplete)
		memcpy(process->held, bytes.p + bytes.n - incomplete, incomplete);
	bytes.n -= incomplete;
	if (bytes.n)
		tell_stdout(process, bytes);
}

/* -- records --------------------------------------------------------------------------------------------- */

static struct str raw_of(const struct record *record, struct str key)
{
	const struct json_member *member = json_member_find(record->members, record->count, key);

	return member ? member->raw : str_make(NULL, 0);
}

static struct str text_of(struct record *record, struct str key)
{
	const struct json_member *member = json_member_find(record->members, record->count, key);

	return member && member->type == JSON_STRING ? jsonrpc_decode_str(member->raw, &record->arena)
						     : str_make(NULL, 0);
}

/* An object of those of the record's members that are named in `keys` and are there. Of strings with more
 * than `most` bytes the begin. */
static struct str pick_cut(struct record *record, const char *const *keys, size_t count, size_t most)
{
	struct json_writer w;
	struct buf object;
	struct str kept;

	buf_init(&object, ARENA_MAX_DEFAULT);
	json_writer_init(&w, &object, false);
	json_write_object_begin(&w);
	for (size_t i = 0; i < count; i++) {
		struct str key = str_of(keys[i]), raw = raw_of(record, key);

		if (raw.n > most && raw.p[0] == '"')
			json_member_str(&w, key, utf8_cut(text_of(record, key), most));
		else if (raw.n)
			json_member_raw(&w, key, raw);
	}
	json_write_object_end(&w);
	kept = arena_copy(&record->arena, buf_str(&object));
	buf_release(&object);
	return kept;
}

static struct str pick(struct record *record, const char *const *keys, size_t count)
{
	return pick_cut(record, keys, count, SIZE_MAX);
}

static void take_log(struct exec_process *process, struct record *record)
{
	static const char *const keys[] = { "ts", "level", "msg", "template", "attrs" };
	struct str value = pick(record, keys, ARRAY_LEN(keys));
	enum log_level level = LOG_LEVEL_INFO;

	(void)log_level_parse(text_of(record, STR("level")), &level, NULL);
	if (charge(process, value.n))
		exec_tell(process, EXEC_FRAME_LOG, value, text_of(record, STR("msg")), level);
}

static void take_emit(struct exec_process *process, struct record *record)
{
	struct str value = raw_of(record, STR("value"));

	if (value.n && charge(process, value.n))
		tell_value(process, EXEC_FRAME_EMIT, value);
}

/* Each is a frame of its own when the run is over, all of them at once, which costs more than its bytes. */
static bool may_tell_artifact(struct exec_process *process, struct str value, struct arena *arena)
{
	if (process->artifacts_told < ARTIFACTS_MAX && value.n <= ARTIFACT_RECORD_MAX) {
		process->artifacts_told++;
		return true;
	}
	count_dropped(process, value.n, 1);
	if (!process->artifacts_cut)
		tell_warning(
			process,
			arena_printf(
				arena,
				"not every artifact is told of, but at most %d: `mcpx artifact list` has all",
				ARTIFACTS_MAX));
	process->artifacts_cut = true;
	return false;
}

static void take_artifact(struct exec_process *process, struct record *record)
{
	static const char *const keys[] = { "id",  "name",    "mime",	 "size",    "sha256", "uri",
					    "run", "session", "created", "expires", "path",   "pathError" };
	struct str value = pick(record, keys, ARRAY_LEN(keys));

	if (!may_tell_artifact(process, value, &record->arena) || !charge(process, value.n))
		return;
	buf_append(&process->artifacts, value);
	buf_append_char(&process->artifacts, '\n');
}

/* Fails the run, whatever the script's own exit code. */
static void lose(struct exec_process *process, struct str why)
{
	buf_clear(&process->lost, 0);
	buf_append(&process->lost, utf8_cut(why, process->lost.max));
}

/* The result may use what is kept free for it; a script that says it twice means the last. */
static void take_result(struct exec_process *process, struct record *record)
{
	struct str value = raw_of(record, STR("value"));
	uint64_t max = process->spec.limits.output_max;
	char size[BYTE_SIZE_TEXT_MAX];

	buf_clear(&process->lost, 0);
	buf_clear(&process->result, 0);
	if ((!max || process->told + value.n <= max) && buf_append(&process->result, value) == 0)
		return;
	buf_clear(&process->result, 0);
	byte_size_text(size, max ? max : process->result.max);
	lose(process,
	     arena_printf(
		     &record->arena,
		     "the script's value has %zu bytes, more than the run's limit of %s has room for (exec.outputMax): " KEEP_IT,
		     value.n, size));
}

/* Of one that is too long, what matters most, cut: its text, and where it was thrown. */
static void take_error(struct exec_process *process, struct record *record)
{
	static const char *const all[] = { "name",  "message", "file", "line",	  "column",
					   "stack", "server",  "tool", "outcome", "cause" };
	static const char *const few[] = { "name",   "message", "file",	   "line", "column",
					   "server", "tool",	"outcome", "cause" };
	struct str kept = pick(record, all, ARRAY_LEN(all));

	if (kept.n > ERROR_TEXT_MAX)
		kept = pick_cut(record, few, ARRAY_LEN(few), ERROR_PART_MAX);
	buf_clear(&process->error, 0);
	buf_append(&process->error, kept);
}

static void take_call(struct exec_process *process, struct record *record)
{
	exec_calls_begin(process, record->members, record->count);
}

static void take_called(struct exec_process *process, struct record *record)
{
	exec_calls_end(process, record->members, record->count);
}

/* The client has begun to run the script: from here on, what is on stderr is the script's. */
static void take_begin(struct exec_process *process, struct record *record)
{
	(void)record;
	show_words(process);
}

enum record_use {
	RECORD_CALL,   /* part of a call's story (run_calls.c) */
	RECORD_TOLD,   /* one of many: without it the story has a gap that is counted */
	RECORD_ENDING, /* says how the script ended: without it nobody knows */
};

struct record_kind {
	const char *name;
	const char *what; /* in a message */
	enum record_use use;
	void (*take)(struct exec_process *process, struct record *record);
};

static const struct record_kind record_kinds[] = {
	{ "log", "a log record", RECORD_TOLD, take_log },
	{ "emit", "an emitted value", RECORD_TOLD, take_emit },
	{ "artifact", "what is known of an artifact", RECORD_TOLD, take_artifact },
	{ "begin", "a record", RECORD_TOLD, take_begin },
	{ "call", "what is known of a call", RECORD_CALL, take_call },
	{ "called", "how a call ended", RECORD_CALL, take_called },
	{ "result", "the script's value", RECORD_ENDING, take_result },
	{ "error", "what the script threw", RECORD_ENDING, take_error },
};

static const struct record_kind *find_kind(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(record_kinds); i++)
		if (str_eq(name, str_of(record_kinds[i].name)))
			return &record_kinds[i];
	return NULL;
}

/* Of a record of which only the begin is there, or which cannot be read: the client writes the kind first. */
static const struct record_kind *kind_of_head(struct str head)
{
	static const struct str begin = STR_INIT("{\"kind\":\"");
	struct str name = str_from(head, begin.n);

	return str_starts_with(head, begin) ? find_kind(str_slice(name, 0, str_find_char(name, '"'))) : NULL;
}

/*
 * A record could not be taken; `why` ends a sentence about it, and `mend` says what helps. What is only a
 * part of the story is counted and told. A result or an error, or what may be one, fails the run: it must not
 * look as if there had been none.
 */
static void drop_record(struct exec_process *process, struct str head, uint64_t bytes, struct str why,
			const char *mend)
{
	const struct record_kind *kind = kind_of_head(head);
	_cleanup_arena_ struct arena arena = { 0 };

	arena_init(&arena, 0);
	count_dropped(process, bytes, 1);
	if (!kind || kind->use == RECORD_ENDING)
		lose(process,
		     arena_printf(&arena, "%s %.*s: %s",
				  kind ? kind->what : "a record that may have been the script's value",
				  STR_ARG(why), mend));
	else if (process->drops_told++ < DROPS_TOLD_MAX)
		tell_warning(process,
			     arena_printf(&arena, "%s %.*s and was dropped%s", kind->what, STR_ARG(why),
					  process->drops_told == DROPS_TOLD_MAX
						  ? "; further ones are only counted"
						  : ""));
}

/* One that is over a limit. */
static void drop_large(struct exec_process *process, struct str head, uint64_t bytes, struct str why)
{
	const struct record_kind *kind = kind_of_head(head);

	drop_record(process, head, bytes, why,
		    kind && kind->take == take_error ? "raise the limit to see it" : KEEP_IT);
}

/* A record of the client's always is JSON: one that begins like one and is none was broken by others who
 * write to the same pipe, such as what the script has started. Anything else the script has made up. */
static void drop_unreadable(struct exec_process *process, struct str json)
{
	if (kind_of_head(json))
		drop_record(process, json, json.n,
			    STR("has text of another writer to standard error in its middle"),
			    "give what the script starts a standard error of its own");
}

static void channel_record(struct exec_channel *channel, struct str json)
{
	struct exec_process *process = container_of(channel, struct exec_process, channel);
	const struct json_limits limits = { .depth_max = process->spec.limits.depth_max };
	const struct record_kind *kind;
	struct record record = { .count = 0 };
	struct err err;

	arena_init(&record.arena, 0);
	if (json_skim_foreign(&json, &limits, &record.arena, record.members, RECORD_MEMBERS_MAX,
			      &record.count, &err) == 0) {
		kind = find_kind(text_of(&record, STR("kind")));
		if (kind)
			kind->take(process, &record);
	} else if (err.code != ERR_TOO_LARGE) {
		drop_unreadable(process, json);
	} else {
		drop_large(
			process, str_slice(json, 0, EXEC_CHANNEL_HEAD), json.n,
			arena_printf(&record.arena,
				     "has more than %u levels of nested arrays and objects (json.maxDepth)",
				     limits.depth_max ? limits.depth_max : JSON_DEPTH_MAX));
	}
	arena_release(&record.arena);
}

static void channel_too_long(struct exec_channel *channel, struct str head, uint64_t bytes)
{
	struct exec_process *process = container_of(channel, struct exec_process, channel);
	_cleanup_arena_ struct arena arena = { 0 };
	char size[BYTE_SIZE_TEXT_MAX];

	arena_init(&arena, 0);
	byte_size_text(size, process->spec.limits.frame_max);
	drop_large(process, head, bytes,
		   arena_printf(&arena,
				"has %llu bytes, more than the limit of %s for one value (exec.frameMax)",
				(unsigned long long)bytes, size));
}

static const struct exec_channel_events channel_events = {
	.record = channel_record,
	.too_long = channel_too_long,
	.text = channel_text,
};

void exec_story_stderr(struct exec_process *process, struct str bytes)
{
	exec_channel_feed(&process->channel, bytes);
}

/* -- life ------------------------------------------------------------------------------------------------ */

void exec_story_init(struct exec_process *process)
{
	exec_channel_init(&process->channel, process->spec.limits.frame_max, &channel_events);
	buf_init(&process->artifacts, ARENA_MAX_DEFAULT);
	buf_init(&process->result, ARENA_MAX_DEFAULT);
	buf_init(&process->error, ARENA_MAX_DEFAULT);
	buf_init(&process->lost, LOST_TEXT_MAX);
	buf_init(&process->words, process->spec.limits.stderr_keep);
}

void exec_story_release(struct exec_process *process)
{
	exec_channel_release(&process->channel);
	buf_release(&process->artifacts);
	buf_release(&process->result);
	buf_release(&process->error);
	buf_release(&process->lost);
	buf_release(&process->words);
}

void exec_story_begin(struct exec_process *process)
{
	tell_text(process, EXEC_FRAME_START, str_make(NULL, 0));
}

/* -- the end --------------------------------------------------------------------------------------------- */

/* "TypeError: x is not a function (snippet:3:9)" */
static struct str describe_record(struct exec_process *process, struct arena *arena)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *record, *file;
	struct str name, text, first, column;

	if (!process->error.n || json_parse(&doc, buf_str(&process->error), NULL, NULL) < 0)
		return str_make(NULL, 0);
	record = json_root(&doc);
	name = json_str_or(json_get(record, STR("name")), STR("Error"));
	text = json_str(json_get(record, STR("message")));
	file = json_get(record, STR("file"));
	text = arena_printf(arena, "%.*s%s%.*s", STR_ARG(name), text.n ? ": " : "", STR_ARG(text));
	if (!json_is(file, JSON_STRING))
		return text;
	/* Behind the first line: what follows it quotes the place. */
	first = str_slice(text, 0, str_find_char(text, '\n'));
	column = json_number_text(json_get(record, STR("column"))); /* node may know only the line */
	return arena_printf(arena, "%.*s (%.*s:%.*s%s%.*s)%.*s", STR_ARG(first), STR_ARG(json_str(file)),
			    STR_ARG(json_number_text(json_get(record, STR("line")))), column.n ? ":" : "",
			    STR_ARG(column), STR_ARG(str_from(text, first.n)));
}

/* Of a script that failed and did not say why in a record: its own words, or its runtime's. Those that were
 * held back need not be shown beside the error then; *ret_untold are the bytes in front of any others. */
static struct str describe_words(struct exec_process *process, const struct child_status *status,
				 struct arena *arena, size_t *ret_untold)
{
	char storage[CHILD_STATUS_TEXT_MAX];
	/* Of a lost supervisor there is a whole sentence. */
	struct str ending = arena_printf(arena, "the script%s %s", status->err.code ? ":" : "",
					 child_status_text(storage, status).p);
	bool told = process->begun;
	struct str words;

	process->begun = true;
	if (exec_words_wait_for_nothing(buf_str(&process->words)))
		return STR("Error: " WAITS_FOR_NOTHING);
	words = exec_clean_words(buf_str(&process->words), &process->prepared.names, arena);
	if (told)
		*ret_untold = ending.n;
	return words.n ? arena_concat(arena, ending, STR(":\n"), words) : ending;
}

/* Why the run failed; empty when it did not. *ret_untold is set when STDERR frames have told what is behind
 * so many bytes. */
static struct str describe_failure(struct exec_process *process, const struct child_status *status,
				   struct arena *arena, size_t *ret_untold)
{
	struct exec_outcome *outcome = &process->run->outcome;
	char duration[DURATION_TEXT_MAX];
	struct str said = describe_record(process, arena);

	if (!status->started)
		return arena_copy(arena, str_of(status->err.message));
	if (outcome->timed_out)
		return arena_printf(arena, "timed out after %s (exec.timeout)",
				    duration_text(duration, process->spec.limits.timeout_ms).p);
	if (outcome->stopped)
		return outcome->stopped_why ? arena_printf(arena, "was stopped: %s", outcome->stopped_why)
					    : STR("was stopped");
	if (said.n)
		return said;
	if (process->lost.n)
		return arena_copy(arena, buf_str(&process->lost));
	return status->exit_code == 0 ? str_make(NULL, 0)
				      : describe_words(process, status, arena, ret_untold);
}

/* An error never comes with success, whatever the process made of it. */
static int exit_code_of(const struct exec_process *process, const struct child_status *status)
{
	enum { SIGNALLED = 128, NOT_EXECUTABLE = 126 }; /* as shells say it */

	if (!status->started)
		return NOT_EXECUTABLE;
	if (process->run->outcome.timed_out)
		return EXEC_EXIT_TIMED_OUT;
	if (status->exit_code < 0)
		return SIGNALLED + status->signal_number;
	return status->exit_code == 0 && process->run->outcome.failed ? 1 : status->exit_code;
}

static void tell_artifacts(struct exec_process *process)
{
	struct str rest = buf_str(&process->artifacts), line;

	while (str_split(&rest, '\n', &line))
		if (line.n)
			tell_value(process, EXEC_FRAME_ARTIFACT, line);
}

static void tell_error(struct exec_process *process, struct str text, size_t untold)
{
	const struct exec_frame frame = {
		.kind = EXEC_FRAME_ERROR,
		.value = buf_str(&process->error),
		.text = text,
		.untold = str_slice(text, 0, untold),
		.calls = buf_str(&process->call_lines),
		.level = LOG_LEVEL_ERROR,
		.run = process->run,
	};

	process->run->events->frame(process->run, &frame);
}

void exec_story_end(struct exec_process *process, const struct child_status *status)
{
	struct exec_outcome *outcome = &process->run->outcome;
	_cleanup_arena_ struct arena arena = { 0 };
	size_t untold = SIZE_MAX;
	struct str failure;

	arena_init(&arena, 0);
	exec_channel_end(&process->channel);
	if (process->held_n)
		tell_stdout(process, str_make(process->held, process->held_n));
	exec_calls_lose(process);
	failure = describe_failure(process, status, &arena, &untold);
	show_words(process);
	tell_artifacts(process);
	outcome->failed = failure.n > 0;
	outcome->exit_code = exit_code_of(process, status);
	if (process->result.n && !outcome->failed)
		tell_value(process, EXEC_FRAME_RESULT, buf_str(&process->result));
	else if (outcome->failed)
		tell_error(process, utf8_cut(failure, ERROR_TEXT_MAX), untold);
	tell_text(process, EXEC_FRAME_END, str_make(NULL, 0));
}

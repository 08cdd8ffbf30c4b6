#include "base/base.h"
#include "exec/frame.h"
#include "exec/run.h"
#include "json/json.h"

enum {
	MEMBERS_MAX = 64, /* of a frame: ours have fewer */
};

struct str exec_frame_name(enum exec_frame_kind kind)
{
	static const struct str names[] = {
		[EXEC_FRAME_START] = STR_INIT("start"),	      [EXEC_FRAME_LOG] = STR_INIT("log"),
		[EXEC_FRAME_EMIT] = STR_INIT("emit"),	      [EXEC_FRAME_STDOUT] = STR_INIT("stdout"),
		[EXEC_FRAME_STDERR] = STR_INIT("stderr"),     [EXEC_FRAME_CALL] = STR_INIT("call"),
		[EXEC_FRAME_ARTIFACT] = STR_INIT("artifact"), [EXEC_FRAME_RESULT] = STR_INIT("result"),
		[EXEC_FRAME_ERROR] = STR_INIT("error"),	      [EXEC_FRAME_END] = STR_INIT("end"),
	};

	return names[kind];
}

/* The members of an object, into the one that is being written. */
static void write_members(struct json_writer *w, struct str object)
{
	struct json_member members[MEMBERS_MAX];
	_cleanup_arena_ struct arena arena = { 0 };
	size_t count;

	arena_init(&arena, 0);
	if (!object.n || json_skim(object, NULL, &arena, members, MEMBERS_MAX, &count, NULL) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		json_member_raw(w, members[i].key, members[i].raw);
}

void exec_frame_write_dropped(struct json_writer *w, const struct exec_outcome *outcome)
{
	if (!outcome->dropped_bytes && !outcome->dropped_frames)
		return;
	json_write_key(w, STR("dropped"));
	json_write_object_begin(w);
	json_member_u64(w, STR("bytes"), outcome->dropped_bytes);
	json_member_u64(w, STR("frames"), outcome->dropped_frames);
	json_write_object_end(w);
}

static void write_end(struct json_writer *w, const struct exec_outcome *outcome)
{
	json_member_i64(w, STR("exitCode"), outcome->exit_code);
	json_member_u64(w, STR("durationMs"), outcome->duration_ms);
	json_member_bool(w, STR("timedOut"), outcome->timed_out);
	exec_frame_write_dropped(w, outcome);
}

void exec_frame_write(struct json_writer *w, const struct exec_frame *frame, struct str value)
{
	json_write_object_begin(w);
	json_member_str(w, STR("type"), exec_frame_name(frame->kind));
	switch (frame->kind) {
	case EXEC_FRAME_START:
		json_member_str(w, STR("runId"), str_of(frame->run->id));
		json_member_str(w, STR("runtime"), exec_runtime_name(frame->run->runtime));
		break;
	case EXEC_FRAME_STDOUT:
	case EXEC_FRAME_STDERR:
		json_member_str(w, STR("data"), frame->text);
		break;
	case EXEC_FRAME_EMIT:
	case EXEC_FRAME_RESULT:
		json_member_raw(w, STR("value"), value);
		break;
	case EXEC_FRAME_ERROR:
		json_member_str(w, STR("error"), frame->text);
		if (value.n)
			json_member_raw(w, STR("errorDetail"), value);
		break;
	case EXEC_FRAME_END:
		write_end(w, &frame->run->outcome);
		break;
	case EXEC_FRAME_LOG:
	case EXEC_FRAME_CALL:
	case EXEC_FRAME_ARTIFACT:
		write_members(w, value);
		break;
	}
	json_write_object_end(w);
}

#include "base/base.h"
#include "artifacts/crash_fixture.h"
#include "artifacts/disk_fixture.h"
#include "artifacts/ledger.h"
#include "artifacts/store.h"
#include "base/buf.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>

enum {
	LABEL_MAX = 36,
	IN_FLIGHT = 4,	 /* uploads of a child at once */
	CONTENTS = 2000, /* distinct bodies; few enough that many uploads meet one that is there */
	SIZE_MAX_EACH = 20000,
	KILL_RECORDS = 60,	 /* a child is killed after at most so many reports ... */
	KILL_MICROSECONDS = 4000 /* ... and at most so long */
};

/* All bodies together are larger than the quota, so that some uploads are refused. */
static const struct artifact_limits CRASH_LIMITS = {
	.max_bytes = 1 << 20,
	.quota = 4000000,
	.count_max = 1000000,
	.ttl_ms = 0,
	.sweep_ms = 3600000,
	.name_max = 64,
	.list_limit = 100,
	.collision_limit = 3,
	.buffer_bytes = 16384,
	.busy_ms = 1000,
	.cache_bytes = 65536,
};

/* SplitMix64: the trial's own dice, so that a seed means something. */
static uint64_t roll(uint64_t *dice)
{
	uint64_t x = *dice += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static uint64_t roll_below(uint64_t *dice, uint64_t n)
{
	return roll(dice) % n;
}

/* The bytes of body number `which`, in storage from malloc. */
static struct str make_content(uint64_t which)
{
	uint64_t dice = which;
	size_t n = (size_t)roll_below(&dice, SIZE_MAX_EACH);
	char *bytes = xmalloc(n + sizeof(uint64_t));

	for (size_t at = 0; at < n; at += sizeof(uint64_t)) {
		uint64_t word = roll(&dice);

		memcpy(bytes + at, &word, sizeof(word));
	}
	return str_make(bytes, n);
}

/* -- what the child reports ------------------------------------------------------------------------------ */

enum report_kind { REPORT_STORED, REPORT_REFUSED, REPORT_DELETING, REPORT_DELETED, REPORT_FAILED };

/* Below PIPE_BUF, so that a report is written whole or not at all. */
struct report {
	enum report_kind kind;
	char id[LABEL_MAX + 1];
	struct blob_hash hash;
	char message[160];
};

/* -- the child ------------------------------------------------------------------------------------------- */

struct child {
	struct loop *loop;
	struct artifact_store *store;
	const char *directory;
	int pipe;
	uint64_t dice;
	char (*ids)[LABEL_MAX + 1]; /* of artifacts that this child stored and did not delete */
	size_t id_count, id_room;
};

struct slot {
	struct child *child;
	struct artifact_upload upload;
	struct artifact_delete delete;
	char id[LABEL_MAX + 1];
	struct str content, rest;
	char path[300];
};

static void slot_next(struct slot *slot);

static void tell(struct child *child, enum report_kind kind, const char *id, struct str content,
		 const char *message)
{
	struct report report = { .kind = kind };

	snprintf(report.id, sizeof(report.id), "%s", id);
	snprintf(report.message, sizeof(report.message), "%s", message);
	if (kind == REPORT_STORED)
		report.hash = hash_of(content);
	if (write(child->pipe, &report, sizeof(report)) != (ssize_t)sizeof(report))
		_exit(1);
}

static void remember_id(struct child *child, const char *id)
{
	if (child->id_count == child->id_room) {
		child->id_room = 2 * child->id_room + 16;
		child->ids = xrealloc(child->ids, child->id_room * sizeof(*child->ids));
	}
	snprintf(child->ids[child->id_count++], sizeof(*child->ids), "%s", id);
}

static void slot_stored(struct artifact_upload *upload, const struct artifact *artifact,
			const struct err *err)
{
	struct slot *slot = container_of(upload, struct slot, upload);
	struct child *child = slot->child;

	if (artifact) {
		char id[LABEL_MAX + 1];

		snprintf(id, sizeof(id), "%.*s", STR_ARG(artifact->id));
		tell(child, REPORT_STORED, id, slot->content, "");
		remember_id(child, id);
	} else {
		tell(child, err->code == ERR_TOO_LARGE ? REPORT_REFUSED : REPORT_FAILED, "", slot->content,
		     err->message);
	}
	free((void *)slot->content.p);
	slot_next(slot);
}

static void slot_write(struct artifact_upload *upload)
{
	struct slot *slot = container_of(upload, struct slot, upload);
	bool room = true;

	while (room && slot->rest.n > 0) {
		struct str piece = str_slice(slot->rest, 0, 1 + (size_t)roll_below(&slot->child->dice, 5000));

		slot->rest = str_from(slot->rest, piece.n);
		room = artifact_upload_write(upload, piece);
	}
	if (room && slot->rest.n == 0)
		artifact_upload_finish(upload);
}

/* Some uploads change their mind; their slot goes on with another one. */
static void slot_upload_pieces(struct slot *slot, const struct artifact_spec *spec)
{
	artifact_upload_start(&slot->upload, slot->child->store, spec, slot_stored, slot_write);
	slot_write(&slot->upload);
	if (roll_below(&slot->child->dice, 10) == 0) {
		artifact_upload_cancel(&slot->upload);
		artifact_upload_start(&slot->upload, slot->child->store, spec, slot_stored, slot_write);
		slot->rest = slot->content;
		slot_write(&slot->upload);
	}
}

static void slot_upload(struct slot *slot)
{
	struct child *child = slot->child;
	struct artifact_spec spec = { .name = STR("x.bin"), .run = STR("run") };

	slot->content = slot->rest = make_content(roll_below(&child->dice, CONTENTS));
	switch (roll_below(&child->dice, 3)) {
	case 0:
		write_whole_file(slot->path, slot->content);
		artifact_upload_file(&slot->upload, child->store, &spec, str_of(slot->path), slot_stored);
		break;
	case 1: {
		char *copy = xmalloc(slot->content.n);

		memcpy(copy, slot->content.p, slot->content.n);
		artifact_upload_memory(&slot->upload, child->store, &spec, str_make(copy, slot->content.n),
				       false, slot_stored);
		break;
	}
	default:
		slot_upload_pieces(slot, &spec);
	}
}

static void slot_deleted(struct artifact_delete *delete, const struct err *err)
{
	struct slot *slot = container_of(delete, struct slot, delete);

	tell(slot->child, err ? REPORT_FAILED : REPORT_DELETED, slot->id, str_make(NULL, 0),
	     err ? err->message : "");
	slot_next(slot);
}

static void slot_delete(struct slot *slot)
{
	struct child *child = slot->child;
	size_t at = (size_t)roll_below(&child->dice, child->id_count);

	memcpy(slot->id, child->ids[at], sizeof(slot->id));
	memcpy(child->ids[at], child->ids[--child->id_count], sizeof(slot->id));
	tell(child, REPORT_DELETING, slot->id, str_make(NULL, 0), "");
	artifact_delete_start(&slot->delete, child->store, str_of(slot->id), slot_deleted);
}

static void slot_next(struct slot *slot)
{
	if (slot->child->id_count > 0 && roll_below(&slot->child->dice, 3) == 0)
		slot_delete(slot);
	else
		slot_upload(slot);
}

/* Never returns: uploads until it is killed. */
_noreturn_ static void child_run(const char *directory, int pipe_fd, uint64_t seed)
{
	struct child child = { .directory = directory, .pipe = pipe_fd, .dice = seed };
	struct slot slots[IN_FLIGHT] = { 0 };
	struct err err = { 0 };

	if (loop_new(&child.loop, &err) < 0 ||
	    artifact_store_open(&child.store, child.loop, directory, &CRASH_LIMITS, &err) < 0) {
		tell(&child, REPORT_FAILED, "", str_make(NULL, 0), err.message);
		_exit(1);
	}
	for (size_t i = 0; i < IN_FLIGHT; i++) {
		slots[i].child = &child;
		snprintf(slots[i].path, sizeof(slots[i].path), "%s.source-%zu", directory, i);
		slot_next(&slots[i]);
	}
	loop_run(child.loop);
	_exit(1);
}

/* -- the parent's ledger of promises --------------------------------------------------------------------- */

enum promise_state { PROMISE_STORED, PROMISE_DELETING, PROMISE_DELETED };

struct promise {
	char id[LABEL_MAX + 1];
	struct blob_hash hash;
	enum promise_state state;
};

struct promises {
	struct promise *items;
	size_t count, room;
};

static struct promise *find_promise(struct promises *promises, const char *id)
{
	for (size_t i = promises->count; i > 0; i--)
		if (strcmp(promises->items[i - 1].id, id) == 0)
			return &promises->items[i - 1];
	return NULL;
}

static void add_promise(struct promises *promises, const struct report *report)
{
	struct promise *promise;

	if (promises->count == promises->room) {
		promises->room = 2 * promises->room + 64;
		promises->items = xrealloc(promises->items, promises->room * sizeof(*promises->items));
	}
	promise = &promises->items[promises->count++];
	*promise = (struct promise){ .hash = report->hash, .state = PROMISE_STORED };
	memcpy(promise->id, report->id, sizeof(promise->id));
}

static bool problem(struct crash_trial *trial, const char *format, ...) _printf_(2, 3);
static bool problem(struct crash_trial *trial, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(trial->problem, sizeof(trial->problem), format, args);
	va_end(args);
	return false;
}

static bool take_report(struct crash_trial *trial, struct promises *promises, const struct report *report)
{
	struct promise *promise = find_promise(promises, report->id);

	switch (report->kind) {
	case REPORT_STORED:
		if (promise)
			return problem(trial, "%s was given out twice", report->id);
		add_promise(promises, report);
		trial->acknowledged++;
		return true;
	case REPORT_REFUSED:
		trial->refused++;
		return true;
	case REPORT_DELETING:
	case REPORT_DELETED:
		promise->state = report->kind == REPORT_DELETED ? PROMISE_DELETED : PROMISE_DELETING;
		trial->deleted += report->kind == REPORT_DELETED;
		return true;
	case REPORT_FAILED:
		break;
	}
	return problem(trial, "the child failed: %s", report->message);
}

/* -- killing --------------------------------------------------------------------------------------------- */

static bool read_report(int fd, struct report *report)
{
	ssize_t n;

	do
		n = read(fd, report, sizeof(*report));
	while (n < 0 && errno == EINTR);
	BUG_ON(n != 0 && n != (ssize_t)sizeof(*report));
	return n != 0;
}

static bool watch_and_kill(struct crash_trial *trial, struct promises *promises, pid_t pid, int fd,
			   uint64_t *dice)
{
	uint64_t records = roll_below(dice, KILL_RECORDS);
	bool fine = true, more = true;
	struct report report;

	while (fine && records-- > 0 && (more = read_report(fd, &report)))
		fine = take_report(trial, promises, &report);
	ppoll(NULL, 0, &(struct timespec){ .tv_nsec = 1000 * (long)roll_below(dice, KILL_MICROSECONDS) },
	      NULL);
	kill(pid, SIGKILL);
	while (fine && more && (more = read_report(fd, &report)))
		fine = take_report(trial, promises, &report);
	waitpid(pid, NULL, 0);
	trial->kills++;
	return fine;
}

static bool run_and_kill(struct crash_trial *trial, struct promises *promises, uint64_t *dice)
{
	uint64_t seed = roll(dice);
	int ends[2];
	pid_t pid;
	bool fine;

	BUG_ON(pipe2(ends, O_CLOEXEC) < 0);
	pid = fork();
	BUG_ON(pid < 0);
	if (pid == 0) {
		close(ends[0]);
		child_run(trial->directory, ends[1], seed);
	}
	close(ends[1]);
	fine = watch_and_kill(trial, promises, pid, ends[0], dice);
	close(ends[0]);
	return fine;
}

/* -- looking --------------------------------------------------------------------------------------------- */

/* Every body was read and compared with its name by survey(), so that here the hash of a row stands for
 * its bytes. */
static bool check_promise(struct crash_trial *trial, const struct ledger *ledger, struct db *db,
			  struct promise *promise, struct arena *arena)
{
	struct artifact artifact;
	struct blob_hash hash;
	struct err err;
	int r = index_find(db, str_of(promise->id), 0, arena, &artifact, &hash, &err);

	if (r < 0 && r != ERR_NOT_FOUND)
		return problem(trial, "%s", err.message);
	if (promise->state == PROMISE_DELETING)
		promise->state = r == 0 ? PROMISE_STORED : PROMISE_DELETED;
	if (promise->state == PROMISE_DELETED)
		return r < 0 || problem(trial, "%s was deleted and is there", promise->id);
	if (r < 0)
		return problem(trial, "%s was acknowledged and is gone", promise->id);
	if (memcmp(&hash, &promise->hash, sizeof(hash)) != 0)
		return problem(trial, "%s has other bytes than were acknowledged", promise->id);
	return blob_exists(&ledger->blobs, &hash, artifact.size, NULL) > 0 ||
	       problem(trial, "the body of %s is gone or cut", promise->id);
}

static bool check_promises(struct crash_trial *trial, const struct ledger *ledger, struct db *db,
			   struct promises *promises, uint64_t *ret_stored)
{
	struct arena arena;
	bool fine = true;

	*ret_stored = 0;
	arena_init(&arena, 0);
	for (size_t i = 0; fine && i < promises->count; i++) {
		fine = check_promise(trial, ledger, db, &promises->items[i], &arena);
		*ret_stored += promises->items[i].state == PROMISE_STORED;
	}
	arena_release(&arena);
	return fine;
}

static uint64_t ask(struct db *db, const char *sql)
{
	struct db_statement *s = db_prepare(db, sql, NULL);
	uint64_t value;

	BUG_ON(!s || db_step(s, NULL) != 1);
	value = (uint64_t)db_column_int(s, 0);
	db_reset(s);
	return value;
}

/* The totals the quota is compared with, counted three times: by the triggers, from the rows, and on the
 * disk. */
static bool check_totals(struct crash_trial *trial, struct db *db)
{
	struct disk disk = survey(trial->directory);
	struct artifact_usage usage = { 0 };
	struct err err;

	if (index_usage(db, &usage, &err) < 0)
		return problem(trial, "%s", err.message);
	if (disk.strangers || disk.temporaries)
		return problem(trial, "%llu bodies do not match their name, %llu temporary files are left",
			       (unsigned long long)disk.strangers, (unsigned long long)disk.temporaries);
	if (usage.bytes != disk.bytes || usage.bytes != ask(db, "SELECT coalesce(sum(size), 0) FROM blobs"))
		return problem(trial, "%llu bytes are counted and %llu are on the disk",
			       (unsigned long long)usage.bytes, (unsigned long long)disk.bytes);
	if (usage.blobs != disk.blobs || usage.blobs != ask(db, "SELECT count(*) FROM blobs"))
		return problem(trial, "%llu bodies are counted and %llu are on the disk",
			       (unsigned long long)usage.blobs, (unsigned long long)disk.blobs);
	if (usage.artifacts != ask(db, "SELECT count(*) FROM artifacts"))
		return problem(trial, "%llu handles are counted, which is wrong",
			       (unsigned long long)usage.artifacts);
	if (usage.bytes > CRASH_LIMITS.quota)
		return problem(trial, "%llu bytes pass the quota", (unsigned long long)usage.bytes);
	return true;
}

static bool recover(struct crash_trial *trial, const struct ledger *ledger, struct db *db)
{
	struct artifact_usage usage = { 0 };
	struct err err;

	for (unsigned prefix = 0; prefix < BLOB_PREFIX_COUNT;)
		if (ledger_recover(ledger, db, &prefix, &usage, &err) < 0)
			return problem(trial, "%s", err.message);
	trial->temporaries += ledger->blobs.removed_temporaries;
	trial->orphans += usage.removed_orphans;
	return usage.removed_missing == 0 || problem(trial, "%llu bodies that the index knows were not whole",
						     (unsigned long long)usage.removed_missing);
}

static bool check_store(struct crash_trial *trial, struct promises *promises)
{
	struct ledger ledger;
	struct db *db = NULL;
	struct err err;
	uint64_t stored;
	bool fine;

	if (survey(trial->directory).strangers)
		return problem(trial, "a partial body was visible after the kill");
	if (ledger_open(&ledger, trial->directory, &CRASH_LIMITS, &db, &err) < 0)
		return problem(trial, "the store does not open: %s", err.message);
	fine = recover(trial, &ledger, db) && check_totals(trial, db) &&
	       check_promises(trial, &ledger, db, promises, &stored);
	if (fine)
		trial->unacknowledged_survived = ask(db, "SELECT count(*) FROM artifacts") - stored;
	db_close(&db);
	ledger_release(&ledger);
	return fine;
}

bool crash_trial_run(struct crash_trial *trial)
{
	struct promises promises = { 0 };
	uint64_t dice = trial->seed;
	bool fine = true;

	while (fine && (trial->acknowledged < trial->uploads_least || trial->kills < trial->kills_least))
		fine = run_and_kill(trial, &promises, &dice) && check_store(trial, &promises);
	free(promises.items);
	return fine;
}

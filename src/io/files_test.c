#include "base/base.h"
#include "io/files.h"
#include "io/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <setjmp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

/* Every test works in a new directory, which is its working directory. */
static char place[32];

static int set_up(void **state)
{
	(void)state;
	snprintf(place, sizeof(place), "/tmp/files-test-XXXXXX");
	return mkdtemp(place) && chdir(place) == 0 ? 0 : -1;
}

static void remove_contents(int directory)
{
	DIR *entries = fdopendir(directory);
	struct dirent *entry;

	while ((entry = readdir(entries))) {
		int inner;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(dirfd(entries), entry->d_name, 0) == 0)
			continue;
		inner = openat(dirfd(entries), entry->d_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inner >= 0)
			remove_contents(inner);
		unlinkat(dirfd(entries), entry->d_name, AT_REMOVEDIR);
	}
	closedir(entries);
}

static int tear_down(void **state)
{
	(void)state;
	remove_contents(open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	return chdir("/") == 0 ? rmdir(place) : -1;
}

static void make_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static unsigned count_entries(void)
{
	DIR *entries = opendir(".");
	struct dirent *entry;
	unsigned count = 0;

	while ((entry = readdir(entries)))
		count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(entries);
	return count;
}

static void assert_holds(const char *name, const char *text)
{
	struct str bytes;
	struct err err;

	if (file_read(name, 1000, &bytes, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(bytes.n, strlen(text));
	assert_string_equal(bytes.p, text);
	free((char *)bytes.p);
}

/* -- reading --------------------------------------------------------------------------------------------- */

static void a_file_is_read_whole(void **state)
{
	struct str bytes;

	(void)state;
	make_file("empty", "");
	make_file("some", "twelve bytes");
	assert_holds("empty", "");
	assert_holds("some", "twelve bytes");
	/* Says that it has no bytes, and has some. */
	assert_int_equal(file_read("/proc/self/stat", 1 << 20, &bytes, NULL), 0);
	assert_true(bytes.n > 50);
	assert_int_equal(bytes.p[bytes.n], '\0');
	free((char *)bytes.p);
}

static void a_file_may_be_exactly_as_large_as_allowed(void **state)
{
	struct str bytes;
	struct err err;

	(void)state;
	make_file("f", "123456");
	assert_int_equal(file_read("f", 6, &bytes, &err), 0);
	free((char *)bytes.p);
	assert_int_equal(file_read("f", 5, &bytes, &err), ERR_TOO_LARGE);
	assert_string_equal(err.message, "cannot read f: it is larger than 5 bytes");
	assert_int_equal(file_read("/proc/self/stat", 5, &bytes, &err), ERR_TOO_LARGE);
	assert_string_equal(err.message, "cannot read /proc/self/stat: it is larger than 5 bytes");
}

static void what_is_no_file_is_refused(void **state)
{
	struct str bytes = STR("untouched");
	struct err err;

	(void)state;
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(file_read("missing", 5, &bytes, &err), ERR_NOT_FOUND);
	assert_string_equal(err.message, "cannot read missing: No such file or directory");
	assert_int_equal(file_read(".", 5, &bytes, &err), ERR_INVALID);
	assert_string_equal(err.message, "cannot read .: it is a directory");
	assert_int_equal(file_read("pipe", 5, &bytes, &err), ERR_INVALID);
	assert_string_equal(err.message, "cannot read pipe: it is not a regular file");
	assert_true(str_eq(bytes, STR("untouched")));
}

/* -- writing --------------------------------------------------------------------------------------------- */

static void a_file_is_written_and_replaced(void **state)
{
	static const struct file_write_options secret = { .mode = 0600, .sync = true },
					       open_to_all = { .mode = 0666 };
	char path[64];
	struct stat st;

	(void)state;
	assert_int_equal(file_write("f", STR("old"), &secret, NULL), 0);
	assert_holds("f", "old");
	assert_int_equal(stat("f", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	snprintf(path, sizeof(path), "%s/f", place);
	assert_int_equal(file_write(path, STR("new"), &open_to_all, NULL), 0);
	assert_holds("f", "new");
	assert_int_equal(stat("f", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0666);
	assert_int_equal(count_entries(), 1);
}

static void a_write_that_fails_changes_nothing(void **state)
{
	static const struct file_write_options options = { .mode = 0600 };
	struct err err;

	(void)state;
	assert_int_equal(file_write("no/such/f", STR("x"), &options, &err), ERR_NOT_FOUND);
	assert_string_equal(err.message, "cannot write no/such/f: No such file or directory");
	/* The last step, the rename, fails: the draft goes away. */
	assert_int_equal(mkdir("taken", 0700), 0);
	assert_int_equal(file_write("taken", STR("x"), &options, &err), ERR_IO);
	assert_string_equal(err.message, "cannot write taken: Is a directory");
	assert_int_equal(count_entries(), 1);
}

static void a_symbolic_link_is_replaced(void **state)
{
	static const struct file_write_options options = { .mode = 0600 };

	(void)state;
	make_file("target", "kept");
	assert_int_equal(symlink("target", "link"), 0);
	assert_int_equal(file_write("link", STR("new"), &options, NULL), 0);
	assert_holds("target", "kept");
	assert_holds("link", "new");
}

static void temporary_names_are_known(void **state)
{
	(void)state;
	assert_true(file_is_temporary(".config.json.0123456789abcdef.tmp"));
	assert_true(file_is_temporary("..0123456789abcdef.tmp"));
	assert_false(file_is_temporary(".0123456789abcdef.tmp"));
	assert_false(file_is_temporary("config.json.0123456789abcdef.tmp"));
	assert_false(file_is_temporary(".config.json.0123456789abcdeg.tmp"));
	assert_false(file_is_temporary(".config.json0123456789abcdef.tmp"));
	assert_false(file_is_temporary(".config.json.0123456789abcdef.tmp~"));
	assert_false(file_is_temporary(".tmp"));
	assert_false(file_is_temporary(""));
}

static void only_old_temporary_files_are_swept(void **state)
{
	static const struct timespec long_ago[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	size_t removed = 9;
	struct err err;

	(void)state;
	make_file(".a.0123456789abcdef.tmp", "old");
	make_file(".b.0123456789abcdef.tmp", "at work");
	make_file("a", "a file");
	assert_int_equal(mkdir(".c.0123456789abcdef.tmp", 0700), 0);
	assert_int_equal(utimensat(AT_FDCWD, ".a.0123456789abcdef.tmp", long_ago, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, ".c.0123456789abcdef.tmp", long_ago, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, "a", long_ago, 0), 0);
	assert_int_equal(file_sweep_temporary(".", 60000, &removed, NULL), 0);
	assert_int_equal(removed, 1);
	assert_int_equal(access(".a.0123456789abcdef.tmp", F_OK), -1);
	assert_int_equal(count_entries(), 3);
	assert_int_equal(file_sweep_temporary(".", 0, NULL, NULL), 0);
	assert_int_equal(count_entries(), 2);
	assert_int_equal(file_sweep_temporary("nowhere", 0, NULL, &err), ERR_NOT_FOUND);
	assert_string_equal(err.message,
			    "cannot look for temporary files in nowhere: No such file or directory");
}

/* -- directories ----------------------------------------------------------------------------------------- */

static bool begins_with_k(_unused_ void *context, struct str name)
{
	return str_starts_with(name, STR("k"));
}

static void count_removed(void *context, struct str name)
{
	assert_int_equal(access(name.p, F_OK), -1);
	(*(unsigned *)context)++;
}

static void old_and_many_files_are_pruned(void **state)
{
	static const char *const names[] = { "k1", "k2", "k3", "k4", "other" };
	unsigned removed = 0;
	struct directory_prune options = { .takes = begins_with_k,
					   .removed = count_removed,
					   .context = &removed,
					   .now_ms = 10000 * 1000,
					   .keep_ms = 3500 * 1000,
					   .keep_files = 4 };

	(void)state;
	/* The first is the oldest: 4000, 3000, 2000 and 1000 seconds. */
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const time_t then = (time_t)(6000 + 1000 * i);
		const struct timespec times[] = { { .tv_sec = then }, { .tv_sec = then } };

		assert_int_equal(
			file_write(names[i], STR("x"), &(struct file_write_options){ .mode = 0600 }, NULL),
			0);
		assert_int_equal(utimensat(AT_FDCWD, names[i], times, 0), 0);
	}
	assert_int_equal(mkdir("k-directory", 0700), 0);
	directory_prune(".", &options);
	assert_int_equal(removed, 1);
	assert_int_equal(access("k1", F_OK), -1);
	/* No age: only their number counts. */
	options.keep_ms = 0;
	directory_prune(".", &options);
	assert_int_equal(removed, 1);
	options.keep_files = 1;
	directory_prune(".", &options);
	assert_int_equal(removed, 3);
	assert_int_equal(access("k4", F_OK), 0);
	assert_int_equal(access("other", F_OK), 0);
	assert_int_equal(access("k-directory", F_OK), 0);
	directory_prune("nowhere", &options);
	assert_int_equal(rmdir("k-directory"), 0);
}

static void a_private_directory_is_made_with_its_parents(void **state)
{
	struct stat st;

	(void)state;
	umask(0);
	assert_int_equal(directory_make_private("a/b/c", NULL), 0);
	assert_int_equal(directory_make_private("a/b/c", NULL), 0);
	assert_int_equal(stat("a", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat("a/b/c", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	umask(022);
}

static void a_directory_that_is_not_private_is_refused(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(mkdir("open", 0750), 0);
	assert_int_equal(directory_make_private("open", &err), ERR_DENIED);
	assert_string_equal(err.message,
			    "the directory open is open to other users (mode 0750): close it with chmod 700");
	make_file("file", "");
	assert_int_equal(directory_make_private("file", &err), ERR_EXISTS);
	assert_string_equal(err.message, "cannot create the directory file: a file has that name");
	assert_int_equal(directory_make_private("file/inside", &err), ERR_IO);
	assert_string_equal(err.message, "cannot create the directory file/inside: Not a directory");
}

/* Not that of a look at what is not there then. */
static void a_parent_that_cannot_be_made_is_told_with_its_reason(void **state)
{
	bool as_root = geteuid() == 0;
	struct err err;
	int r;

	(void)state;
	assert_int_equal(mkdir("closed", 0555), 0);
	assert_int_equal(chmod(".", 0755), 0);
	if (as_root)
		assert_int_equal(seteuid(4711), 0);
	r = directory_make_private("closed/a/b", &err);
	if (as_root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(r, ERR_DENIED);
	assert_string_equal(err.message, "cannot create the directory closed/a/b: Permission denied");
}

static void a_directory_of_somebody_else_is_refused(void **state)
{
	struct err err;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: only root can make a directory of somebody else\n");
		skip();
	}
	assert_int_equal(mkdir("theirs", 0700), 0);
	assert_int_equal(chown("theirs", 4711, 0), 0);
	assert_int_equal(directory_make_private("theirs", &err), ERR_DENIED);
	assert_string_equal(err.message,
			    "the directory theirs belongs to user 4711, not to us (0): name another "
			    "one, or give it away with chown");
}

/* -- locks ----------------------------------------------------------------------------------------------- */

static void a_lock_is_exclusive(void **state)
{
	struct lock_file first = { 0 }, second = { 0 };
	char expected[64];
	struct err err;

	(void)state;
	assert_int_equal(lock_file_take(&first, "lock", NULL), 0);
	assert_true(fcntl(first.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(lock_file_take(&second, "lock", &err), ERR_BUSY);
	snprintf(expected, sizeof(expected), "lock is locked by process %ld", (long)getpid());
	assert_string_equal(err.message, expected);
	lock_file_release(&second);
	lock_file_release(&first);
	lock_file_release(&first);
	assert_int_equal(count_entries(), 0);
	assert_int_equal(lock_file_take(&second, "lock", NULL), 0);
	lock_file_release(&second);
}

static void a_lock_of_a_file_is_waited_for(void **state)
{
	_cleanup_close_ int first = open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	_cleanup_close_ int second = open("lock", O_RDWR | O_CLOEXEC);
	pid_t holder;

	(void)state;
	assert_int_equal(file_lock_within(first, 0), 0);
	assert_int_equal(file_lock_within(second, 0), ERR_BUSY);
	assert_int_equal(file_lock_within(second, 1), ERR_BUSY);
	assert_int_equal(file_lock_within(-1, 0), ERR_IO);
	/* The child alone has it now, and ends. */
	holder = fork();
	assert_true(holder >= 0);
	if (holder == 0)
		_exit(0);
	close_fd(&first);
	assert_int_equal(file_lock_within(second, 60 * 1000), 0);
	assert_int_equal(waitpid(holder, NULL, 0), holder);
	close_fd(&second);
	assert_int_equal(unlink("lock"), 0);
}

static void a_lock_ends_with_its_holder(void **state)
{
	struct lock_file lock = { 0 };
	pid_t holder = fork();
	int status;

	(void)state;
	if (holder == 0) {
		_exit(lock_file_take(&lock, "lock", NULL) == 0 && raise(SIGKILL) == 0);
	}
	assert_int_equal(waitpid(holder, &status, 0), holder);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(count_entries(), 1);
	assert_int_equal(lock_file_take(&lock, "lock", NULL), 0);
	lock_file_release(&lock);
	assert_int_equal(count_entries(), 0);
}

/* A process that has the lock, until it gets a signal. */
static pid_t start_holder(void)
{
	int ends[2];
	char byte;
	pid_t holder;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	holder = fork();
	if (holder == 0) {
		struct lock_file lock = { 0 };

		close_fd(&ends[0]);
		if (lock_file_take(&lock, "lock", NULL) == 0 && write(ends[1], "x", 1) == 1)
			(void)poll(NULL, 0, -1);
		_exit(1);
	}
	close_fd(&ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close_fd(&ends[0]);
	return holder;
}

static void the_holder_of_a_lock_is_found_and_ended(void **state)
{
	pid_t holder, ended = 0;
	struct err err;
	int status;

	(void)state;
	assert_int_equal(lock_file_holder("lock"), 0);
	assert_int_equal(lock_file_end_holder("lock", &ended, &err), ERR_NOT_FOUND);
	assert_string_equal(err.message, "no process holds lock");
	holder = start_holder();
	assert_int_equal(lock_file_holder("lock"), holder);
	assert_int_equal(lock_file_end_holder("lock", &ended, NULL), 0);
	assert_int_equal(ended, holder);
	assert_int_equal(waitpid(holder, &status, 0), holder);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	/* What it left behind names nobody any more, whatever process has that number now. */
	assert_int_equal(count_entries(), 1);
	assert_int_equal(lock_file_holder("lock"), 0);
	assert_int_equal(file_write("lock", STR("1\n"), &(struct file_write_options){ .mode = 0600 }, NULL),
			 0);
	assert_int_equal(lock_file_holder("lock"), 0);
	assert_int_equal(file_write("lock", STR("-1\n"), &(struct file_write_options){ .mode = 0600 }, NULL),
			 0);
	assert_int_equal(lock_file_holder("lock"), 0);
}

static void a_lock_whose_name_is_gone_or_another_s_is_not_ours(void **state)
{
	struct lock_file first = { 0 }, second = { 0 };

	(void)state;
	assert_false(lock_file_is_ours(&first));
	assert_int_equal(lock_file_take(&first, "lock", NULL), 0);
	assert_true(lock_file_is_ours(&first));
	assert_int_equal(unlink("lock"), 0);
	assert_false(lock_file_is_ours(&first));
	assert_int_equal(lock_file_take(&second, "lock", NULL), 0);
	assert_false(lock_file_is_ours(&first));
	/* And is left to the other. */
	lock_file_release(&first);
	assert_true(lock_file_is_ours(&second));
	lock_file_release(&second);
	assert_int_equal(count_entries(), 0);
}

static void a_lock_needs_a_directory(void **state)
{
	struct lock_file lock = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(lock_file_take(&lock, "no/lock", &err), ERR_NOT_FOUND);
	assert_string_equal(err.message, "cannot open the lock file no/lock: No such file or directory");
	assert_null(lock.path);
}

/* -- random ---------------------------------------------------------------------------------------------- */

static void random_ids_differ(void **state)
{
	static const struct id_kind kind = { STR_INIT("t-"), 16 };
	char a[ID_TEXT_MAX], b[ID_TEXT_MAX];
	struct str id = random_id(a, &kind);

	(void)state;
	assert_true(id_valid(&kind, id));
	assert_false(str_eq(id, random_id(b, &kind)));
	assert_true(random_u64() != random_u64());
}

#define IN_A_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_A_DIRECTORY(a_file_is_read_whole),
		IN_A_DIRECTORY(a_file_may_be_exactly_as_large_as_allowed),
		IN_A_DIRECTORY(what_is_no_file_is_refused),
		IN_A_DIRECTORY(a_file_is_written_and_replaced),
		IN_A_DIRECTORY(a_write_that_fails_changes_nothing),
		IN_A_DIRECTORY(a_symbolic_link_is_replaced),
		IN_A_DIRECTORY(temporary_names_are_known),
		IN_A_DIRECTORY(only_old_temporary_files_are_swept),
		IN_A_DIRECTORY(old_and_many_files_are_pruned),
		IN_A_DIRECTORY(a_private_directory_is_made_with_its_parents),
		IN_A_DIRECTORY(a_directory_that_is_not_private_is_refused),
		IN_A_DIRECTORY(a_parent_that_cannot_be_made_is_told_with_its_reason),
		IN_A_DIRECTORY(a_directory_of_somebody_else_is_refused),
		IN_A_DIRECTORY(a_lock_is_exclusive),
		IN_A_DIRECTORY(a_lock_of_a_file_is_waited_for),
		IN_A_DIRECTORY(a_lock_ends_with_its_holder),
		IN_A_DIRECTORY(the_holder_of_a_lock_is_found_and_ended),
		IN_A_DIRECTORY(a_lock_whose_name_is_gone_or_another_s_is_not_ours),
		IN_A_DIRECTORY(a_lock_needs_a_directory),
		cmocka_unit_test(random_ids_differ),
	};

	return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}

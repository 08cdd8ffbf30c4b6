#include "base/base.h"
#include "artifacts/place.h"
#include "artifacts/name.h"
#include "artifacts/take_name.h"
#include "base/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

/* A file that is being put into a directory. */
struct placing {
	const char *directory;
	int directory_fd, fd; /* fd: the copy; -1 before it is opened and once it has its name */
	char temporary[48];   /* its name until then; empty when it has none */
};

static void placing_release(struct placing *p)
{
	if (p->fd >= 0 && p->temporary[0])
		unlinkat(p->directory_fd, p->temporary, 0);
	close_fd(&p->fd);
	close_fd(&p->directory_fd);
}
#define _cleanup_placing_ _cleanup_(placing_release)

/* Like mkdir -p, with the umask deciding who else may read. */
static int make_directories(const char *directory, struct arena *arena)
{
	char *path = arena_cstr(arena, str_of(directory));

	for (char *at = path; (at = strchr(at + 1, '/')) != NULL; *at = '/') {
		*at = '\0';
		if (mkdir(path, 0777) < 0 && errno != EEXIST)
			return -1;
	}
	return mkdir(path, 0777) < 0 && errno != EEXIST ? -1 : 0;
}

static int open_directory(struct placing *p, struct arena *arena, struct err *err)
{
	p->directory_fd = open(p->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->directory_fd < 0 && errno == ENOENT && make_directories(p->directory, arena) == 0)
		p->directory_fd = open(p->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->directory_fd < 0)
		return err_errno(err, "%s: artifacts cannot be placed there", p->directory);
	return 0;
}

/* A file without a name, which goes with us, however we end. Its name comes through /proc, so that must be
 * there. */
static bool open_unnamed(struct placing *p)
{
	struct stat status;

	p->fd = openat(p->directory_fd, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
	if (p->fd >= 0 && stat(unnamed_path(p->fd).text, &status) < 0)
		close_fd(&p->fd);
	return p->fd >= 0;
}

static int open_named(struct placing *p, struct err *err)
{
	uint8_t random[8];
	char digits[2 * sizeof(random)];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return err_errno(err, "getrandom");
	hex_encode(digits, random, sizeof(random));
	snprintf(p->temporary, sizeof(p->temporary), ".mcpx-%.*s.part", (int)sizeof(digits), digits);
	p->fd = openat(p->directory_fd, p->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (p->fd < 0)
		return err_errno(err, "%s: artifacts cannot be placed there", p->directory);
	return 0;
}

/* -- the copy -------------------------------------------------------------------------------------------- */

/* COPY_MEMORY stays well inside a worker's stack; COPY_KERNEL is below what copy_file_range(2) takes at
 * once, 2 GiB. */
enum { COPY_MEMORY = 16384, COPY_KERNEL = 1 << 30 };

/* Where the kernel cannot copy between the two files by itself. */
static ssize_t copy_through_memory(int from, off_t offset, int to, size_t n)
{
	char bytes[COPY_MEMORY];
	ssize_t got = pread(from, bytes, size_min(n, sizeof(bytes)), offset);

	return got <= 0 ? got : write(to, bytes, (size_t)got);
}

static ssize_t copy_some(int from, off_t offset, int to, size_t n)
{
	off_t at = offset;
	ssize_t copied = copy_file_range(from, &at, to, NULL, n, 0);

	if (copied < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP))
		return copy_through_memory(from, offset, to, n);
	return copied;
}

static int copy_body(struct placing *p, int from, uint64_t size, struct err *err)
{
	for (uint64_t done = 0; done < size;) {
		size_t n = size - done < COPY_KERNEL ? (size_t)(size - done) : COPY_KERNEL;
		ssize_t copied = copy_some(from, (off_t)done, p->fd, n);

		if (copied < 0 && errno == EINTR)
			continue;
		if (copied < 0)
			return err_errno(err, "%s: a copy of the artifact cannot be written", p->directory);
		if (copied == 0)
			return err_set(err, ERR_IO, "%s: the artifact's body was cut short", p->directory);
		done += (uint64_t)copied;
	}
	if (fsync(p->fd) < 0)
		return err_errno(err, "%s: a copy of the artifact cannot be flushed to the disk",
				 p->directory);
	return 0;
}

/* -- the name -------------------------------------------------------------------------------------------- */

static int take_one(const struct placing *p, const char *name)
{
	if (p->temporary[0])
		return take_name(p->directory_fd, p->temporary, name);
	return take_name_for_unnamed(p->directory_fd, p->fd, name);
}

static int take_free_name(struct placing *p, struct str name, size_t name_max, unsigned collisions,
			  struct arena *arena, struct str *ret_path, struct err *err)
{
	for (unsigned number = 0; number <= collisions; number++) {
		struct str attempt = artifact_name_numbered(arena, name, number, name_max);

		if (take_one(p, attempt.p) == 0) {
			close_fd(&p->fd);
			fsync(p->directory_fd);
			*ret_path = arena_printf(arena, "%s/%s", p->directory, attempt.p);
			return 0;
		}
		if (errno != EEXIST)
			return err_errno(err, "%s/%s: cannot be put in place", p->directory, attempt.p);
	}
	return err_set(err, ERR_EXISTS, "%s: %.*s and %u numbered names after it are taken", p->directory,
		       STR_ARG(name), collisions);
}

static int place(int fd, uint64_t size, const char *directory, struct str name, size_t name_max,
		 unsigned collisions, bool named, struct arena *arena, struct str *ret_path, struct err *err)
{
	_cleanup_placing_ struct placing p = { .directory = directory, .directory_fd = -1, .fd = -1 };
	int r = open_directory(&p, arena, err);

	if (r == 0 && (named || !open_unnamed(&p)))
		r = open_named(&p, err);
	if (r == 0)
		r = copy_body(&p, fd, size, err);
	if (r == 0)
		r = take_free_name(&p, name, name_max, collisions, arena, ret_path, err);
	return r;
}

int artifact_place(int fd, uint64_t size, const char *directory, struct str name, size_t name_max,
		   unsigned collisions, struct arena *arena, struct str *ret_path, struct err *err)
{
	return place(fd, size, directory, name, name_max, collisions, false, arena, ret_path, err);
}

int artifact_place_named(int fd, uint64_t size, const char *directory, struct str name, size_t name_max,
			 unsigned collisions, struct arena *arena, struct str *ret_path, struct err *err)
{
	return place(fd, size, directory, name, name_max, collisions, true, arena, ret_path, err);
}

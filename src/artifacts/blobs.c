#include "base/base.h"
#include "artifacts/blobs.h"
#include "base/ids.h"
#include "io/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { OPEN_ATTEMPTS = 100 };

/* "ab/" and "cdef..." of one hash. */
struct blob_name {
	char directory[3];
	char file[2 * SHA256_BYTES - 2 + 1];
};

static struct blob_name name_of(const struct blob_hash *hash)
{
	struct blob_name name = { { 0 }, { 0 } };

	hex_encode(name.directory, hash->bytes, 1);
	hex_encode(name.file, hash->bytes + 1, SHA256_BYTES - 1);
	return name;
}

struct str blob_hash_text(const struct blob_hash *hash, struct arena *arena)
{
	char digits[2 * SHA256_BYTES];

	hex_encode(digits, hash->bytes, SHA256_BYTES);
	return arena_copy(arena, str_make(digits, sizeof(digits)));
}

/* -- the directories ------------------------------------------------------------------------------------- */

static int make_directory(int at, const char *name)
{
	return mkdirat(at, name, 0700) < 0 && errno != EEXIST ? -1 : 0;
}

static int open_directory(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* 1 when the store was removed meanwhile (abandoned.h), or the lock of it that we opened. */
static int take_lock(struct blobs *blobs, int root, uint64_t wait_ms, struct err *err)
{
	int r;

	blobs->lock_fd = openat(root, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (blobs->lock_fd < 0)
		return errno == ENOENT ? 1 : err_errno(err, "%s/lock: cannot be opened", blobs->path);
	r = file_lock_within(blobs->lock_fd, wait_ms);
	if (r == 0 && file_is_named(blobs->lock_fd, root, "lock", AT_SYMLINK_NOFOLLOW))
		return 0;
	if (r == 0) {
		close_fd(&blobs->lock_fd);
		return 1;
	}
	if (r == ERR_BUSY)
		return err_set(err, ERR_BUSY,
			       "%s: another process has this artifact store open; stop it, or choose another "
			       "state directory",
			       blobs->path);
	return err_errno(err, "%s/lock: cannot be locked", blobs->path);
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Nobody can be writing there: we hold the lock, and no upload of ours has begun. */
static int remove_temporaries(struct blobs *blobs, struct err *err)
{
	int fd = open_directory(blobs->temporary_fd, ".");
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!directory) {
		close_fd(&fd);
		return err_errno(err, "%s/tmp: cannot be read", blobs->path);
	}
	while ((entry = readdir(directory)) != NULL)
		if (!is_dot(entry->d_name) && unlinkat(blobs->temporary_fd, entry->d_name, 0) == 0)
			blobs->removed_temporaries++;
	closedir(directory);
	return 0;
}

/* A store must itself be on the disk before an artifact in it can be: its name stands in its parent. */
static int make_root(struct blobs *blobs, int *ret_root, struct err *err)
{
	_cleanup_close_ int root = -1, parent = -1;
	bool made = mkdir(blobs->path, 0700) == 0;

	if (!made && errno != EEXIST)
		return err_errno(err, "%s: cannot create the artifact store", blobs->path);
	/* It may be a link: whoever has large artifacts may want them on another disk. */
	root = open(blobs->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 && errno == ENOENT)
		return 1;
	if (root < 0)
		return err_errno(err, "%s: cannot open the artifact store", blobs->path);
	if (made) {
		parent = open_directory(root, "..");
		if (parent < 0 || fsync(parent) < 0)
			return err_errno(err, "%s: cannot create the artifact store", blobs->path);
	}
	*ret_root = take_fd(&root);
	return 0;
}

static int open_root(struct blobs *blobs, int *ret_root, struct err *err)
{
	*ret_root = open_directory(AT_FDCWD, blobs->path);
	return *ret_root < 0 ? err_errno(err, "%s: cannot open the artifact store", blobs->path) : 0;
}

typedef int root_open(struct blobs *blobs, int *ret_root, struct err *err);

static int lock_root(struct blobs *blobs, root_open *reach, uint64_t wait_ms, int *ret_root, struct err *err)
{
	for (int attempt = 0; attempt < OPEN_ATTEMPTS; attempt++) {
		_cleanup_close_ int root = -1;
		int r = reach(blobs, &root, err);

		if (r == 0)
			r = take_lock(blobs, root, wait_ms, err);
		if (r == 0)
			*ret_root = take_fd(&root);
		if (r <= 0)
			return r;
	}
	return err_set(err, ERR_BUSY, "%s: is removed by other processes all the time", blobs->path);
}

static int open_directories(struct blobs *blobs, root_open *reach, uint64_t wait_ms, struct err *err)
{
	_cleanup_close_ int root = -1;
	int r = lock_root(blobs, reach, wait_ms, &root, err);

	if (r < 0)
		return r;
	if (make_directory(root, "tmp") < 0 || make_directory(root, "blobs") < 0)
		return err_errno(err, "%s: cannot create the artifact store", blobs->path);
	blobs->temporary_fd = open_directory(root, "tmp");
	blobs->blobs_fd = open_directory(root, "blobs");
	if (blobs->temporary_fd < 0 || blobs->blobs_fd < 0 || fsync(root) < 0)
		return err_errno(err, "%s: cannot open the artifact store", blobs->path);
	return remove_temporaries(blobs, err);
}

static int blobs_begin(struct blobs *blobs, const char *path, root_open *reach, uint64_t wait_ms,
		       struct err *err)
{
	int r;

	*blobs = (struct blobs){ .lock_fd = -1, .temporary_fd = -1, .blobs_fd = -1 };
	blobs->path = strdup(path);
	BUG_ON(!blobs->path);
	r = open_directories(blobs, reach, wait_ms, err);
	if (r < 0)
		blobs_release(blobs);
	return r;
}

int blobs_open(struct blobs *blobs, const char *path, uint64_t wait_ms, struct err *err)
{
	return blobs_begin(blobs, path, make_root, wait_ms, err);
}

int blobs_open_abandoned(struct blobs *blobs, const char *path, struct err *err)
{
	return blobs_begin(blobs, path, open_root, 0, err);
}

void blobs_release(struct blobs *blobs)
{
	close_fd(&blobs->temporary_fd);
	close_fd(&blobs->blobs_fd);
	close_fd(&blobs->lock_fd);
	free_ptr(&blobs->path);
}

/* -- bodies ---------------------------------------------------------------------------------------------- */

static int open_prefix(const struct blobs *blobs, const char *name)
{
	return open_directory(blobs->blobs_fd, name);
}

/* A new directory must itself be on the disk before a body in it can be. */
static int make_prefix(const struct blobs *blobs, const char *name)
{
	int fd = open_prefix(blobs, name);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	if (make_directory(blobs->blobs_fd, name) < 0 || fsync(blobs->blobs_fd) < 0)
		return -1;
	return open_prefix(blobs, name);
}

int blob_keep(struct blob_writer *w, struct err *err)
{
	const struct blobs *blobs = w->blobs;
	struct blob_name name = name_of(&w->hash);
	_cleanup_close_ int prefix = make_prefix(blobs, name.directory);

	if (prefix < 0)
		return err_errno(err, "%s/blobs/%s: cannot be opened", blobs->path, name.directory);
	if (renameat(blobs->temporary_fd, w->name, prefix, name.file) < 0)
		return err_errno(err, "%s/blobs/%s/%s: cannot be put in place", blobs->path, name.directory,
				 name.file);
	close_fd(&w->fd);
	if (fsync(prefix) < 0)
		return err_errno(err, "%s/blobs/%s: cannot be flushed to the disk", blobs->path,
				 name.directory);
	return 0;
}

static int body_is_lost(const struct blobs *blobs, const struct blob_name *name, const char *how,
			struct err *err)
{
	return err_set(err, ERR_IO,
		       "%s/blobs/%s/%s: something other than mcpx has %s the artifact's body; store it again",
		       blobs->path, name->directory, name->file, how);
}

int blob_open(const struct blobs *blobs, const struct blob_hash *hash, uint64_t size, int *ret_fd,
	      struct err *err)
{
	struct blob_name name = name_of(hash);
	_cleanup_close_ int prefix = open_prefix(blobs, name.directory);
	_cleanup_close_ int fd =
		prefix < 0 ? -1 : openat(prefix, name.file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;

	if (fd < 0 && errno == ENOENT)
		return body_is_lost(blobs, &name, "removed", err);
	if (fd < 0 || fstat(fd, &status) < 0)
		return err_errno(err, "%s/blobs/%s/%s: cannot be opened", blobs->path, name.directory,
				 name.file);
	if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size != size)
		return body_is_lost(blobs, &name, "changed", err);
	*ret_fd = take_fd(&fd);
	return 0;
}

int blob_exists(const struct blobs *blobs, const struct blob_hash *hash, uint64_t size, struct err *err)
{
	struct blob_name name = name_of(hash);
	_cleanup_close_ int prefix = open_prefix(blobs, name.directory);
	struct stat status;

	if (prefix >= 0 && fstatat(prefix, name.file, &status, AT_SYMLINK_NOFOLLOW) == 0)
		return S_ISREG(status.st_mode) && (uint64_t)status.st_size == size;
	if (errno == ENOENT)
		return 0;
	return err_errno(err, "%s/blobs/%s/%s: cannot be looked at", blobs->path, name.directory, name.file);
}

int blob_remove(const struct blobs *blobs, const struct blob_hash *hash, struct err *err)
{
	struct blob_name name = name_of(hash);
	_cleanup_close_ int prefix = open_prefix(blobs, name.directory);

	if ((prefix < 0 || unlinkat(prefix, name.file, 0) < 0) && errno != ENOENT)
		return err_errno(err, "%s/blobs/%s/%s: cannot be removed", blobs->path, name.directory,
				 name.file);
	return 0;
}

/* Only the one spelling that name_of() writes is ours. */
static bool hash_of_file(uint8_t prefix, const char *file, struct blob_hash *ret_hash)
{
	ret_hash->bytes[0] = prefix;
	return hex_decode(ret_hash->bytes + 1, SHA256_BYTES - 1, str_of(file)) == 0 &&
	       strcmp(name_of(ret_hash).file, file) == 0;
}

static void list_directory(DIR *directory, uint8_t prefix, struct arena *arena, struct blob_hash **ret_hashes,
			   size_t *ret_count)
{
	struct blob_hash *hashes = NULL;
	size_t count = 0, room = 0;
	struct dirent *entry;

	while ((entry = readdir(directory)) != NULL) {
		struct blob_hash hash;

		if (!hash_of_file(prefix, entry->d_name, &hash))
			continue;
		if (count == room) {
			struct blob_hash *larger;

			room = room ? 2 * room : 16;
			larger = arena_array(arena, struct blob_hash, room);
			if (count)
				memcpy(larger, hashes, count * sizeof(*hashes));
			hashes = larger;
		}
		hashes[count++] = hash;
	}
	*ret_hashes = hashes;
	*ret_count = count;
}

int blob_list(const struct blobs *blobs, uint8_t prefix, struct arena *arena, struct blob_hash **ret_hashes,
	      size_t *ret_count, struct err *err)
{
	struct blob_name name = name_of(&(struct blob_hash){ { prefix } });
	int fd = open_prefix(blobs, name.directory);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);

	if (!directory) {
		close_fd(&fd);
		if (errno != ENOENT)
			return err_errno(err, "%s/blobs/%s: cannot be read", blobs->path, name.directory);
		*ret_hashes = NULL;
		*ret_count = 0;
		return 0;
	}
	list_directory(directory, prefix, arena, ret_hashes, ret_count);
	closedir(directory);
	return 0;
}

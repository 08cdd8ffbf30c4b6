#include "base/base.h"
#include "artifacts/upload_source.h"
#include "base/quote.h"
#include "base/units.h"
#include "text/base64.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* What is copied from a file in one read, and in one turn on the worker pool, which other work shares. */
enum { FILE_READ_BYTES = 128 * 1024, FILE_TURN_BYTES = 8 * 1024 * 1024 };

void upload_source_init(struct upload_source *source, enum upload_kind kind, const struct blobs *blobs,
			uint64_t max_bytes)
{
	*source = (struct upload_source){ .kind = kind, .max_bytes = max_bytes, .file = -1 };
	blob_writer_init(&source->writer, blobs);
}

static void drop_piece(struct upload_source *source)
{
	free((void *)source->piece.p);
	source->piece = str_make(NULL, 0);
}

void upload_source_release(struct upload_source *source)
{
	drop_piece(source);
	free_ptr(&source->path);
	close_fd(&source->file);
	blob_writer_release(&source->writer);
}

void upload_source_give(struct upload_source *source, struct str piece, bool last)
{
	BUG_ON(source->piece.p);
	source->piece = piece;
	source->last = last;
}

int upload_too_large(uint64_t max_bytes, struct err *err)
{
	char max[BYTE_SIZE_TEXT_MAX];

	byte_size_text(max, max_bytes);
	return err_set(err, ERR_TOO_LARGE,
		       "the artifact is larger than artifacts.maxBytes (%s); nothing of it was kept", max);
}

static int add_bytes(struct upload_source *source, struct str bytes, struct err *err)
{
	if (bytes.n > source->max_bytes - source->writer.size)
		return upload_too_large(source->max_bytes, err);
	return blob_writer_add(&source->writer, bytes, err);
}

/* -- pieces ---------------------------------------------------------------------------------------------- */

static int decode_piece(struct upload_source *source, struct err *err)
{
	char *bytes = (char *)source->piece.p;
	size_t n;
	int r = base64_decode_into(bytes, source->piece, &n, err);

	if (r < 0)
		return err_prefix(err, r, "the artifact's base64 text");
	source->piece.n = n;
	return 0;
}

static int run_piece(struct upload_source *source, struct err *err)
{
	int r = source->base64 ? decode_piece(source, err) : 0;

	if (r == 0)
		r = add_bytes(source, source->piece, err);
	drop_piece(source);
	return r;
}

/* -- files ----------------------------------------------------------------------------------------------- */

/* Without waiting for a writer, should it be a FIFO. */
static int open_file(struct upload_source *source, struct err *err)
{
	struct stat status;

	source->file = open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (source->file < 0)
		return err_errno(err, "%s: cannot be read", source->path);
	if (fstat(source->file, &status) < 0)
		return err_errno(err, "%s: cannot be read", source->path);
	if (!S_ISREG(status.st_mode))
		return err_set(err, ERR_INVALID, "%s: is not a regular file", source->path);
	if ((uint64_t)status.st_size > source->max_bytes)
		return upload_too_large(source->max_bytes, err);
	return 0;
}

static ssize_t read_some(int fd, char *out, size_t n)
{
	ssize_t got;

	do
		got = read(fd, out, n);
	while (got < 0 && errno == EINTR);
	return got;
}

static int copy_file(struct upload_source *source, struct err *err)
{
	_cleanup_free_ char *bytes = xmalloc(FILE_READ_BYTES);

	for (size_t copied = 0; copied < FILE_TURN_BYTES;) {
		ssize_t n = read_some(source->file, bytes, FILE_READ_BYTES);
		int r;

		if (n < 0)
			return err_errno(err, "%s: cannot be read", source->path);
		source->last = n == 0;
		if (source->last)
			return 0;
		r = add_bytes(source, str_make(bytes, (size_t)n), err);
		if (r < 0)
			return r;
		copied += (size_t)n;
	}
	return 0;
}

int upload_source_run(struct upload_source *source, struct err *err)
{
	int r = source->kind == UPLOAD_FILE && source->file < 0 ? open_file(source, err) : 0;

	if (r == 0 && !upload_source_has_file(source))
		r = blob_writer_open(&source->writer, err);
	if (r == 0)
		r = source->kind == UPLOAD_FILE ? copy_file(source, err) : run_piece(source, err);
	if (r < 0 || !source->last)
		return r;
	r = blob_writer_seal(&source->writer, err);
	source->sealed = r == 0;
	return r;
}

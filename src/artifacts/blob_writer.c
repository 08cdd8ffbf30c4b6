#include "base/base.h"
#include "artifacts/blobs.h"
#include "base/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/random.h>

/* Fetched once, because a fetch costs more than hashing a screenshot, and not before the first upload,
 * because it makes some two megabytes of libcrypto resident. */
static EVP_MD *sha256;
static pthread_once_t sha256_once = PTHREAD_ONCE_INIT;

static void fetch_sha256(void)
{
	sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

void blob_writer_init(struct blob_writer *w, const struct blobs *blobs)
{
	*w = (struct blob_writer){ .blobs = blobs, .fd = -1 };
}

/* A random name: uploads of one process must not meet, and nothing else writes here. */
static int name_temporary(struct blob_writer *w, struct err *err)
{
	uint8_t random[16];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return err_errno(err, "getrandom");
	hex_encode(w->name, random, sizeof(random));
	w->name[2 * sizeof(random)] = '\0';
	return 0;
}

static int digest_failed(struct err *err)
{
	return err_set(err, ERR_IO, "libcrypto failed to compute a SHA-256");
}

int blob_writer_open(struct blob_writer *w, struct err *err)
{
	int r = name_temporary(w, err);

	if (r < 0)
		return r;
	pthread_once(&sha256_once, fetch_sha256);
	if (!sha256)
		return err_set(err, ERR_UNSUPPORTED, "libcrypto offers no SHA-256; check openssl.cnf");
	w->digest = EVP_MD_CTX_new();
	if (!w->digest || EVP_DigestInit_ex2(w->digest, sha256, NULL) != 1)
		return digest_failed(err);
	w->fd = openat(w->blobs->temporary_fd, w->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (w->fd < 0)
		return err_errno(err, "%s/tmp/%s: cannot be created", w->blobs->path, w->name);
	return 0;
}

static void keep_head(struct blob_writer *w, struct str bytes)
{
	size_t n = size_min(sizeof(w->head) - w->head_n, bytes.n);

	memcpy(w->head + w->head_n, bytes.p, n);
	w->head_n += n;
}

static int write_all(const struct blob_writer *w, struct str bytes, struct err *err)
{
	while (bytes.n > 0) {
		ssize_t n = write(w->fd, bytes.p, bytes.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, "%s/tmp/%s: cannot be written", w->blobs->path, w->name);
		bytes = str_from(bytes, (size_t)n);
	}
	return 0;
}

int blob_writer_add(struct blob_writer *w, struct str bytes, struct err *err)
{
	int r;

	if (bytes.n == 0)
		return 0;
	if (EVP_DigestUpdate(w->digest, bytes.p, bytes.n) != 1)
		return digest_failed(err);
	r = write_all(w, bytes, err);
	if (r < 0)
		return r;
	keep_head(w, bytes);
	w->size += bytes.n;
	return 0;
}

int blob_writer_seal(struct blob_writer *w, struct err *err)
{
	unsigned n = SHA256_BYTES;

	if (EVP_DigestFinal_ex(w->digest, w->hash.bytes, &n) != 1 || n != SHA256_BYTES)
		return digest_failed(err);
	if (fsync(w->fd) < 0)
		return err_errno(err, "%s/tmp/%s: cannot be flushed to the disk", w->blobs->path, w->name);
	return 0;
}

/* blob_keep() closed the file of a body; one that is still open is unwanted. */
void blob_writer_release(struct blob_writer *w)
{
	EVP_MD_CTX_free(w->digest);
	w->digest = NULL;
	if (w->fd < 0)
		return;
	unlinkat(w->blobs->temporary_fd, w->name, 0);
	close_fd(&w->fd);
}

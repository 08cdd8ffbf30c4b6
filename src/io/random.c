#include "base/base.h"
#include "io/random.h"

#include <errno.h>
#include <sys/random.h>

void random_bytes(void *bytes, size_t n)
{
	char *at = bytes;

	while (n > 0) {
		ssize_t got = getrandom(at, n, 0);

		BUG_ON(got < 0 && errno != EINTR);
		if (got < 0)
			continue;
		at += got;
		n -= (size_t)got;
	}
}

uint64_t random_u64(void)
{
	uint64_t value;

	random_bytes(&value, sizeof(value));
	return value;
}

struct str random_id(char storage[ID_TEXT_MAX], const struct id_kind *kind)
{
	uint8_t bytes[ID_BYTES_MAX];

	random_bytes(bytes, kind->byte_count);
	return id_make(storage, kind, bytes);
}

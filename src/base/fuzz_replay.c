/* Stands in for libFuzzer: runs LLVMFuzzerTestOneInput() on every file named, and on every file in every
 * directory named. */
#include "base/base.h"
#include "base/buf.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_INPUT_MAX = 16 << 20 };

static unsigned replay_file(int directory, const char *name)
{
	_cleanup_close_ int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	_cleanup_buf_ struct buf input = { 0 };
	ssize_t n = 1;

	BUG_ON(fd < 0);
	buf_init(&input, FUZZ_INPUT_MAX);
	while (n > 0) {
		char *room = buf_reserve(&input, 65536);

		BUG_ON(!room);
		n = read(fd, room, 65536);
		BUG_ON(n < 0);
		buf_claim(&input, (size_t)n);
	}
	/* An exact allocation, so that AddressSanitizer sees a read past the end. */
	uint8_t *exact = xmalloc(input.n);

	if (input.n)
		memcpy(exact, input.p, input.n);
	LLVMFuzzerTestOneInput(exact, input.n);
	free(exact);
	return 1;
}

static unsigned replay_path(const char *path)
{
	DIR *dir = opendir(path);
	unsigned count = 0;
	struct dirent *entry;

	if (!dir)
		return replay_file(AT_FDCWD, path);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			count += replay_file(dirfd(dir), entry->d_name);
	closedir(dir);
	return count;
}

int main(int argc, char **argv)
{
	unsigned count = 0;

	for (int i = 1; i < argc; i++)
		count += replay_path(argv[i]);
	printf("%u inputs\n", count);
	return count ? 0 : 1;
}

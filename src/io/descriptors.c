#include "base/base.h"
#include "io/descriptors.h"

#include <sys/resource.h>

static uint64_t inherited;

void descriptors_raise(uint64_t most)
{
	struct rlimit limit;
	rlim_t soft;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	soft = limit.rlim_cur;
	limit.rlim_cur = limit.rlim_max < most ? limit.rlim_max : most;
	if (limit.rlim_cur > soft && setrlimit(RLIMIT_NOFILE, &limit) == 0)
		inherited = soft;
}

uint64_t descriptors_inherited(void)
{
	return inherited;
}

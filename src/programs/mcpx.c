/* mcpx - the command line. It links what a command needs to be typed, parsed and shown, and nothing of the
 * daemon. */
#include "base/base.h"
#include "cli/cli.h"
#include "io/standard_streams.h"

int main(int argc, char **argv)
{
	struct err err;

	if (standard_streams_open(&err) < 0) {
		fprintf(stderr, "mcpx: %s\n", err.message);
		return EXIT_FAILURE;
	}
	return cli_main(argc, argv, MCPX_VERSION);
}

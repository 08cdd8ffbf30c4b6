/* mcpx - the command line. It links what a command needs to be typed, parsed and shown, and nothing of the
 * daemon. */
#include "base/base.h"
#include "cli/cli.h"

int main(int argc, char **argv)
{
	return cli_main(argc, argv, MCPX_VERSION);
}

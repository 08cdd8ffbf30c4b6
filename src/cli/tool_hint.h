/* tool_hint.h - which tool was probably meant by a name that its server does not have. */
#ifndef CLI_TOOL_HINT_H
#define CLI_TOOL_HINT_H

#include "base/base.h"
#include "base/str.h"
#include "cli/cli.h"

/* "did you mean files.read_file?", or where the names are listed; from the arena. Empty when the tool is
 * listed or nothing is known. */
struct str tool_hint(struct cli *cli, struct str namespace, struct str tool);

#endif

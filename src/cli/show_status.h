/* show_status.h - what the daemon says of itself and of its servers, for people. */
#ifndef CLI_SHOW_STATUS_H
#define CLI_SHOW_STATUS_H

#include "base/base.h"
#include "base/buf.h"
#include "cli/cli.h"
#include "json/json.h"

/* The answers of the operations health, status and refresh. */
void show_health(struct cli *cli, const struct json *root, struct buf *out);
void show_status(struct cli *cli, const struct json *root, struct buf *out);
void show_refresh(struct cli *cli, const struct json *root, struct buf *out);

#endif

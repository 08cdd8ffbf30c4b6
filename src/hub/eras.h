/*
 * eras.h - which era each server was found to belong to, remembered on disk, so that a server made before
 * server/discover existed is not asked in vain at every start. Private to hub/. The file is
 * upstream-eras.json: an object from process id to "legacy" or "modern".
 */
#ifndef HUB_ERAS_H
#define HUB_ERAS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "mcp/revision.h"

struct hub_eras;

/* What `text` says; nothing when it is malformed. */
struct hub_eras *eras_new(struct str text, uint64_t seed);
void eras_free(struct hub_eras **eras);

/* The enum mcp_era, or -1. */
int eras_get(const struct hub_eras *eras, struct str process_id);
/* True when that is news. `era` -1 forgets. */
bool eras_set(struct hub_eras *eras, struct str process_id, int era);
int eras_write(const struct hub_eras *eras, struct buf *out);

#define ERAS_FILE "upstream-eras.json"
enum {
	ERAS_FILE_MAX = 1 << 20, /* bytes: some ten thousand servers */
};

#endif

/*
 * ready.h - waiting until the hub knows what its servers offer.
 */
#ifndef HUB_READY_H
#define HUB_READY_H

#include "base/base.h"
#include "base/list.h"
#include "base/str.h"
#include "io/loop.h"

struct hub;

/*
 * Waits until every server, or those that are named, has a snapshot or has failed to give one; with `fresh`,
 * until each was read again. Ends at the deadline with what there is.
 *
 * One server that hangs holds nobody up twice: who has failed counts as having failed while it is tried
 * again, and who was waited for in vain is not waited for that long again until its try has ended, but by
 * those who name it.
 */
struct hub_wait {
	/* names or namespaces, with commas, also with a tool ("files.read_file"); empty: all */
	struct str only;
	bool fresh;
	uint64_t deadline_ms;
};

struct hub_ready {
	struct hub *hub;
	struct hub_wait wait;
	struct list_node node;
	struct timer deadline;
	struct deferred later;
	void (*done)(struct hub_ready *ready);
	void *owner;
};
/* The text of `wait` must stay until the end. */
void hub_ready_start(struct hub_ready *ready, struct hub *hub, const struct hub_wait *wait,
		     void (*done)(struct hub_ready *ready), void *owner);
void hub_ready_cancel(struct hub_ready *ready);

#endif

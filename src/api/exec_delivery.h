/*
 * exec_delivery.h - the frames of a run on their way to whoever asked.
 *
 * Frames are taken as the run tells them and delivered in that order, each when the one before is done with:
 * media in emits and results may have to be stored first, the bytes of artifacts read, and the reader may be
 * slow. What waits is bounded by the run's own budget (exec.outputMax), in which also the shortest record
 * counts as some bytes. Private to the operation exec.
 */
#ifndef API_EXEC_DELIVERY_H
#define API_EXEC_DELIVERY_H

#include "api/exec_options.h"
#include "artifacts/media.h"
#include "artifacts/store.h"
#include "base/base.h"
#include "base/list.h"
#include "exec/frame.h"
#include "exec/report.h"
#include "exec/run.h"
#include "io/loop.h"

struct exec_delivery;

struct exec_delivery_events {
	/* One frame, with the value that is to be shown. False: it was not taken; exec_delivery_go_on() when
	 * it can be. */
	bool (*deliver)(struct exec_delivery *delivery, const struct exec_frame *frame, struct str value);
	/* The `end` frame was delivered. The last callback. */
	void (*ended)(struct exec_delivery *delivery);
};

struct exec_delivery {
	const struct exec_delivery_events *events;
	struct api *api;
	const struct exec_options *options;
	const struct exec_run *run;
	struct str session;	 /* of what is stored; set when the run has one */
	struct list_node frames; /* struct exec_parcel */
	struct deferred later;
	struct media_intercept media;
	struct artifact_read read;
	struct artifact_place place;
	bool busy;	   /* storing media, placing or reading an artifact */
	bool intercepting; /* media become links */
	struct buf links;  /* content blocks, with commas: what the run made, for callers that take links */
};

void exec_delivery_init(struct exec_delivery *delivery, struct api *api, const struct exec_options *options,
			bool intercepting, const struct exec_run *run,
			const struct exec_delivery_events *events);
/* Stops what runs and forgets what waits. */
void exec_delivery_release(struct exec_delivery *delivery);

/* Takes a copy. Nothing is delivered from within. */
void exec_delivery_take(struct exec_delivery *delivery, const struct exec_frame *frame);
void exec_delivery_go_on(struct exec_delivery *delivery);

#endif

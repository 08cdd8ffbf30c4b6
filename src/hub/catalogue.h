/*
 * catalogue.h - what all servers offer, as last seen.
 *
 * For each server there is a snapshot of its tools with every schema exactly as the server sent it. Snapshots
 * are kept on disk, one file per process definition, so that lists answer at once while servers start; they
 * are refreshed when a server starts, says that its tools changed, or when asked. A failed refresh keeps the
 * old snapshot and its age. One server's trouble, or one odd schema, never touches another tool.
 *
 * A snapshot is immutable and counted: whoever reads it across a turn of the loop holds a reference. All on
 * the loop thread.
 */
#ifndef HUB_CATALOGUE_H
#define HUB_CATALOGUE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"

/* One tool of one server. Everything points into the snapshot. */
struct catalogue_tool {
	struct str name;	/* the server's own; not unique when it `repeats` */
	struct str raw;		/* the Tool object, byte for byte */
	struct str description; /* decoded; empty when absent */
	struct str function;	/* its name in scripts, unique within the server */
	struct str full_name;	/* "<namespace>__<tool>"; as little unique as the name */
	/* What the MCP door lists: full_name, or when that is no name that every model's API takes (1 to 64
	 * of [A-Za-z0-9_-], unique, also among servers), a form of it that ends in a hash and stays the same
	 * as long as server and tool are called what they are; of one that `repeats`, as long as its Tool
	 * object is what it is. */
	struct str listed_name;
	/* An earlier tool of the server has the same name. Called by any of its own names, it is the server
	 * that decides which of them answers: all it hears is `name`. */
	bool repeats;
	bool read_only; /* annotations.readOnlyHint is true */
	/* not read_only, and annotations.destructiveHint is not false (the specification's default) */
	bool destructive;
};

struct catalogue_snapshot {
	unsigned users;
	struct arena arena;
	struct str namespace;
	struct catalogue_tool *tools;
	size_t count;
	struct str instructions; /* the server's own; empty when it gave none */
	uint64_t fetched_at;	 /* wall clock, ms */
	uint64_t hash;	 /* of all raw tools in order and the instructions: equal hashes, nothing changed */
	size_t skipped;	 /* entries that were no usable tool: no object, or without a name */
	size_t repeated; /* tools that repeat the name of an earlier one */
	struct str repeated_name; /* of the first of them */
	struct map names;	  /* every name by which a tool can be called -> struct catalogue_tool */
};

/* Builds a snapshot from the Tool objects that a server sent, in its order. Entries that are no object or
 * have no name are skipped and counted. Of tools with one name the first keeps it, and the others get names
 * of their own. Never fails: the result may be empty. */
struct catalogue_snapshot *catalogue_build(struct str namespace, const struct str *items, size_t count,
					   struct str instructions, uint64_t fetched_at, uint64_t seed);

struct catalogue_snapshot *catalogue_ref(struct catalogue_snapshot *snapshot);
void catalogue_unref(struct catalogue_snapshot **snapshot);

/* By the server's own name (first choice), the listed name, the full name or the function name; NULL when
 * none has it. */
const struct catalogue_tool *catalogue_find(const struct catalogue_snapshot *snapshot, struct str name);

/* The own name of a tool that may have been meant by one that none has; empty when none is near. */
struct str catalogue_nearest(const struct catalogue_snapshot *snapshot, struct str name);

/* -- on disk --------------------------------------------------------------------------------------------- */

/* The text of a cache file, and back. A file of another format version, or a damaged one, is ERR_INVALID, one
 * with more than `tools_max` tools ERR_TOO_LARGE; the caller simply ignores it. */
int catalogue_encode(const struct catalogue_snapshot *snapshot, struct buf *out);
int catalogue_decode(struct str text, struct str namespace, size_t tools_max, uint64_t seed,
		     struct catalogue_snapshot **ret_snapshot, struct err *err);

/* -- searching ------------------------------------------------------------------------------------------- */

struct catalogue_hit {
	const struct catalogue_snapshot *snapshot;
	const struct catalogue_tool *tool;
	unsigned score;
};

/*
 * Ranks the tools of the snapshots for the words of `query` (NFKC, case folded): exact name 100, prefix 60,
 * substring 40, function name 30, namespace 20, description 10, added over the words. Tools that match every
 * word come before tools that match some; ties in the order of servers and tools. An empty query gives every
 * tool, score 0. Returns the number of hits, at most `room`.
 */
size_t catalogue_search(const struct catalogue_snapshot *const *snapshots, size_t count, struct str query,
			struct catalogue_hit *hits, size_t room);

#endif

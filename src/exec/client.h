/*
 * client.h - the TypeScript that scripts call the servers with, generated from what the catalogue knows.
 *
 * Two things are generated. The client is a whole module: one object per namespace with one function per
 * tool, the helpers (call, emit, log, artifact, search, describe, ToolError, paths) and the catalogue they
 * look into. Its typed form is TypeScript for people and their editors; its plain form is the same as
 * JavaScript, which is what runs. The declarations are what a model reads before it writes a script.
 *
 * Schemas are somebody else's data: an odd one makes a type `unknown` and never more. Pure.
 */
#ifndef EXEC_CLIENT_H
#define EXEC_CLIENT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "hub/catalogue.h"

struct exec_catalogue {
	const struct catalogue_snapshot *const *snapshots;
	size_t count;
	/* The server's name in the configuration and a description of it, by snapshot; NULL: the namespace,
	 * and none. */
	const struct str *servers, *descriptions;
};

/* Whether `selection`, names with commas between them ("files", "files.read_text_file"), selects anything of
 * each of its names. An empty one selects all. ERR_NOT_FOUND names what is not there, and what is. */
int exec_selection_check(const struct exec_catalogue *catalogue, struct str selection, struct err *err);

/* The client module for the selected namespaces. `plain`: without types. */
void exec_client_write(struct buf *out, const struct exec_catalogue *catalogue, struct str selection,
		       bool plain);

/* Declarations of the selected namespaces and tools, with those of what they refer to. */
void exec_types_write(struct buf *out, const struct exec_catalogue *catalogue, struct str selection,
		      bool instructions);

#endif

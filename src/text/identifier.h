/*
 * identifier.h - names of servers and tools as identifiers of scripts.
 *
 * Every character outside [A-Za-z0-9_] becomes "_", a leading digit gets "_" in front, an empty name is "_".
 * A result that would be a reserved word or hide something a script needs gets "_" behind it: "my-server" is
 * my_server, "3d" is _3d, "delete" is delete_. Different names may become the same identifier; telling them
 * apart is the business of who holds all names. Pure.
 */
#ifndef TEXT_IDENTIFIER_H
#define TEXT_IDENTIFIER_H

#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"

enum identifier_use {
	/* A variable, also on globalThis: avoids the reserved words of ECMAScript 2024, our helpers (call,
	 * emit, ...) and the global names of the language and of the runtimes. */
	IDENTIFIER_NAMESPACE,
	/* A property, where reserved words are harmless: avoids only what the language itself looks up (then,
	 * toJSON, __proto__, ...) and so would call by accident. */
	IDENTIFIER_TOOL
};

/* The identifier for `name`, in the arena or `name` itself when that will do. */
struct str identifier_of(struct arena *arena, struct str name, enum identifier_use use);

/* Whether `text` is [A-Za-z_][A-Za-z0-9_]*, reserved or not. */
bool identifier_well_formed(struct str text);

/* Whether identifier_of() would put "_" behind it. */
bool identifier_reserved(struct str text, enum identifier_use use);

#endif

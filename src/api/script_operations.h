/*
 * script_operations.h - what scripts are written against: the catalogue as the generators of exec/client.h
 * take it.
 */
#ifndef API_SCRIPT_OPERATIONS_H
#define API_SCRIPT_OPERATIONS_H

#include "api/api.h"
#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

/*
 * The client in its plain form for the namespaces of `selection` (names with commas; empty: all). Valid until
 * the loop turns. ERR_NOT_FOUND: a namespace is not there; ERR_TOO_LARGE.
 */
int script_client(struct api *api, struct str selection, struct arena *arena, struct str *ret_text,
		  struct err *err);

#endif

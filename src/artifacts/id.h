/*
 * id.h - the kind of id that artifacts have: 128 random bits. Private to this room.
 */
#ifndef ARTIFACTS_ID_H
#define ARTIFACTS_ID_H

#include "base/ids.h"

enum { ARTIFACT_ID_BYTES = 16 };

extern const struct id_kind ARTIFACT_ID;

#endif

/*
 * name.h - names of artifacts. A name comes from a script or an upstream server, and neither is trusted with
 * a path.
 *
 * A name is mended, never refused: whoever is refused over a name has lost the file, and the name is
 * decoration. Pure.
 */
#ifndef ARTIFACTS_NAME_H
#define ARTIFACTS_NAME_H

#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"

/*
 * The last component of `raw` ("../../etc/passwd" is "passwd"), with A-Z a-z 0-9 . - _ + kept, a space made
 * "-" and every other character "_", without dots at either end, at most `max` bytes (>= ARTIFACT_NAME_LEAST)
 * of which the extension is kept. What is empty then is "artifact". The result is ASCII, never ".", "..",
 * hidden or empty.
 */
struct str artifact_name_clean(struct arena *arena, struct str raw, size_t max);
enum { ARTIFACT_NAME_LEAST = 16 };

/* The name to try after `number` collisions: "shot.png", "shot-1.png", "shot-2.png"; the stem gives way
 * when `max` is reached. */
struct str artifact_name_numbered(struct arena *arena, struct str clean, unsigned number, size_t max);

/* The part from the last dot on, dot included; empty when there is none or it is the first byte. */
struct str artifact_name_extension(struct str name);

#endif

/*
 * normal.h - comparing what looks the same: normalisation form KC and case folding (Unicode Standard Annex
 * 15).
 *
 * normal_nfkc() maps compatible spellings onto one ("ﬁ" to "fi", full-width "Ａ" to "A", composed and
 * decomposed "é" alike). normal_fold() also removes differences of case and invisible characters
 * (NFKC_Casefold, Unicode 15 section 3.13), for keys of searches and look-ups; its result is not for showing.
 * Both are idempotent, take time proportional to the text whatever it holds, and answer at once for ASCII.
 * Pure; any thread.
 */
#ifndef TEXT_NORMAL_H
#define TEXT_NORMAL_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* The longest text that is normalised at once. One character can become eighteen, of four bytes each while we
 * work. */
enum { NORMAL_INPUT_MAX = 1 << 20 };

/* Appends the normalised text. ERR_INVALID: `s` is not UTF-8; ERR_TOO_LARGE: over NORMAL_INPUT_MAX, or `out`
 * is full. */
int normal_nfkc(struct buf *out, struct str s, struct err *err);
int normal_fold(struct buf *out, struct str s, struct err *err);

#endif

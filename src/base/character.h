/*
 * character.h - what a byte of text is, in ASCII and whatever the locale.
 *
 * A byte may be given as a char or as an unsigned char: those beyond ASCII are nothing here. Pure; any
 * thread.
 */
#ifndef BASE_CHARACTER_H
#define BASE_CHARACTER_H

#include "base/base.h"

static inline bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool is_letter_or_digit(int c)
{
	return is_letter(c) || is_digit(c);
}

static inline char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* The value of a hexadecimal digit of either case, or -1. */
static inline int hex_value(int c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

#endif

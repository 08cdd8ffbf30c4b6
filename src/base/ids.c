#include "base/base.h"
#include "base/ids.h"
#include "base/character.h"
#include "base/err.h"

static const char hex_digits[] = "0123456789abcdef";

void hex_encode(char *out, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		out[2 * i] = hex_digits[bytes[i] >> 4];
		out[2 * i + 1] = hex_digits[bytes[i] & 15];
	}
}

int hex_decode(uint8_t *out, size_t n, struct str digits)
{
	if (digits.n % 2 != 0 || digits.n / 2 != n)
		return ERR_INVALID;
	for (size_t i = 0; i < digits.n; i++)
		if (hex_value(digits.p[i]) < 0)
			return ERR_INVALID;
	for (size_t i = 0; i < n; i++)
		out[i] = (uint8_t)(hex_value(digits.p[2 * i]) << 4 | hex_value(digits.p[2 * i + 1]));
	return 0;
}

static void id_kind_check(const struct id_kind *kind)
{
	BUG_ON(kind->prefix.n > ID_PREFIX_MAX);
	BUG_ON(kind->byte_count == 0 || kind->byte_count > ID_BYTES_MAX);
}

struct str id_make(char storage[ID_TEXT_MAX], const struct id_kind *kind, const uint8_t *random)
{
	size_t n = kind->prefix.n + 2 * kind->byte_count;

	id_kind_check(kind);
	if (kind->prefix.n)
		memcpy(storage, kind->prefix.p, kind->prefix.n);
	hex_encode(storage + kind->prefix.n, random, kind->byte_count);
	storage[n] = '\0';
	return str_make(storage, n);
}

bool id_valid(const struct id_kind *kind, struct str text)
{
	struct str digits = str_from(text, kind->prefix.n);

	id_kind_check(kind);
	if (!str_starts_with(text, kind->prefix) || digits.n != 2 * kind->byte_count)
		return false;
	for (size_t i = 0; i < digits.n; i++)
		if (!memchr(hex_digits, digits.p[i], sizeof(hex_digits) - 1))
			return false;
	return true;
}

bool secret_eq(struct str given, struct str secret)
{
	/* volatile: the compiler may not end the loop at the first difference. */
	volatile unsigned char difference = given.n != secret.n || secret.n == 0;

	for (size_t i = 0; i < given.n; i++) {
		unsigned char other = secret.n ? (unsigned char)secret.p[i % secret.n] : 0;

		difference = (unsigned char)(difference | ((unsigned char)given.p[i] ^ other));
	}
	return difference == 0;
}

/* Which keys mark secrets. A key is divided into words; a word counts by its end, so that "authtoken" is seen
 * as well as "auth_token" and "authToken". */
#include "base/base.h"
#include "base/log.h"

static const struct str secret_ends[] = {
	STR_INIT("token"),	   STR_INIT("secret"),	   STR_INIT("secrets"),	    STR_INIT("password"),
	STR_INIT("passwords"),	   STR_INIT("passwd"),	   STR_INIT("passphrase"),  STR_INIT("passphrases"),
	STR_INIT("authorization"), STR_INIT("credential"), STR_INIT("credentials"), STR_INIT("cookie"),
	STR_INIT("cookies"),	   STR_INIT("bearer"),	   STR_INIT("apikey"),	    STR_INIT("apikeys"),
	STR_INIT("privatekey"),	   STR_INIT("jwt"),
};

/* Words that make a secret of a "key" or "keys" behind them. */
static const struct str key_owners[] = {
	STR_INIT("api"), STR_INIT("access"), STR_INIT("private"), STR_INIT("signing"), STR_INIT("encryption"),
};

static bool lower(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Takes the next word off *rest: "HTTPToken-id" has HTTP, Token and id. False at the end. */
static bool next_word(struct str *rest, struct str *ret_word)
{
	size_t n = 0;

	while (rest->n > 0 && !lower(rest->p[0]) && !upper(rest->p[0]))
		*rest = str_from(*rest, 1);
	while (n < rest->n && upper(rest->p[n]))
		n++;
	if (n > 1 && n < rest->n && lower(rest->p[n]))
		n--; /* the last capital begins the next word */
	else
		while (n < rest->n && lower(rest->p[n]))
			n++;
	*ret_word = str_slice(*rest, 0, n);
	*rest = str_from(*rest, n);
	return n > 0;
}

static bool any_end(struct str word, const struct str *ends, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (word.n >= ends[i].n && str_eq_ignoring_case(str_from(word, word.n - ends[i].n), ends[i]))
			return true;
	return false;
}

static bool is_key(struct str word)
{
	return str_eq_ignoring_case(word, STR("key")) || str_eq_ignoring_case(word, STR("keys"));
}

bool log_key_is_secret(struct str key)
{
	struct str word, before = { NULL, 0 };

	for (; next_word(&key, &word); before = word) {
		if (any_end(word, secret_ends, ARRAY_LEN(secret_ends)))
			return true;
		if (is_key(word) && any_end(before, key_owners, ARRAY_LEN(key_owners)))
			return true;
	}
	return false;
}

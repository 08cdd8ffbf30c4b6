#include "base/base.h"
#include "json/json.h"

#include "json/number.h"

/* Objects are compared through their names in sorted order, so that neither many members nor many duplicates
 * take quadratic time. */

static int compare_names(const void *left, const void *right)
{
	const struct json *a = *(const struct json *const *)left, *b = *(const struct json *const *)right;
	int order = str_compare(json_str(a), json_str(b));

	return order ? order : (a > b) - (a < b);
}

/* Fills `names` with the names of the members, sorted; of duplicates only the last. Returns how many. */
static size_t sort_names(const struct json *object, const struct json **names)
{
	const struct json *key, *value;
	size_t n = 0, kept = 0;

	json_for_each_member(key, value, object)
		names[n++] = key;
	qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 0; i < n; i++)
		if (i + 1 == n || !str_eq(json_str(names[i]), json_str(names[i + 1])))
			names[kept++] = names[i];
	return kept;
}

bool json_has_duplicates(const struct json *object)
{
	size_t count = json_count(object);
	_cleanup_free_ const struct json **names = NULL;

	if (!json_is(object, JSON_OBJECT) || count < 2)
		return false;
	names = xmalloc(count * sizeof(*names));
	return sort_names(object, names) < count;
}

static bool equal_arrays(const struct json *a, const struct json *b)
{
	const struct json *x, *y = json_first(b);

	if (json_count(a) != json_count(b))
		return false;
	json_for_each(x, a) {
		if (!json_equal(x, y))
			return false;
		y = json_after(y);
	}
	return true;
}

static bool equal_objects(const struct json *a, const struct json *b)
{
	_cleanup_free_ const struct json **a_names = xmalloc(json_count(a) * sizeof(*a_names));
	_cleanup_free_ const struct json **b_names = xmalloc(json_count(b) * sizeof(*b_names));
	size_t count = sort_names(a, a_names);

	if (sort_names(b, b_names) != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!str_eq(json_str(a_names[i]), json_str(b_names[i])) ||
		    !json_equal(json_after(a_names[i]), json_after(b_names[i])))
			return false;
	return true;
}

bool json_equal(const struct json *a, const struct json *b)
{
	if (!a || !b)
		return a == b;
	if (json_type(a) != json_type(b))
		return false;
	switch (json_type(a)) {
	case JSON_NUMBER:
		return number_equal(json_number_text(a), json_number_text(b));
	case JSON_STRING:
		return str_eq(json_str(a), json_str(b));
	case JSON_ARRAY:
		return equal_arrays(a, b);
	case JSON_OBJECT:
		return equal_objects(a, b);
	default:
		return true;
	}
}

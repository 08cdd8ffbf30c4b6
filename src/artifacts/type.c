#include "base/base.h"
#include "artifacts/type.h"
#include "text/mime.h"

static bool says_something(struct str content_type)
{
	struct str essence = mime_essence(content_type);

	return mime_valid(content_type) && !str_eq_ignoring_case(essence, STR("application/octet-stream")) &&
	       !str_eq_ignoring_case(essence, STR("application/x-www-form-urlencoded"));
}

struct str artifact_type(const struct type_evidence *evidence)
{
	if (evidence->mime.n)
		return evidence->mime;
	if (says_something(evidence->content_type))
		return evidence->content_type;
	return mime_guess(evidence->name, evidence->head);
}

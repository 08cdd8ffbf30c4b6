/*
 * type.h - which media type an artifact gets. Pure.
 */
#ifndef ARTIFACTS_TYPE_H
#define ARTIFACTS_TYPE_H

#include "base/base.h"
#include "base/str.h"

struct type_evidence {
	struct str mime;	 /* chosen explicitly; empty: not */
	struct str content_type; /* of the transfer that brought the bytes; may be anything */
	struct str name;	 /* clean */
	struct str head;	 /* first bytes of the body */
};

/*
 * The explicit one, else the transfer's unless that says nothing, else by the name's extension, else by
 * content, else text/plain or application/octet-stream. A transfer says nothing with
 * application/octet-stream, with what is no media type, and with application/x-www-form-urlencoded, which
 * curl(1) claims of whatever it uploads. Always valid for a header field.
 */
struct str artifact_type(const struct type_evidence *evidence);

#endif

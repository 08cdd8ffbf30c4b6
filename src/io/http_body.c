#include "base/base.h"
#include "io/http_connection.h"

/* A body is taken off the input as it comes and moved on: into a buffer, to the handler piece by piece, or
 * nowhere. */

enum { BODY_RESERVE_MAX = 1024 * 1024 }; /* how much of a promised length is believed before it came */

void http_body_begin(struct http_body *body, const struct http_head *head)
{
	*body = (struct http_body){
		.chunked = head->chunked,
		.left = head->length,
		.complete = !head->chunked && head->length == 0,
		.wants_go_on = head->expect_continue,
	};
}

void http_body_release(struct http_body *body)
{
	buf_release(&body->collected);
}

bool http_body_wants_input(const struct http_body *body)
{
	switch (body->mode) {
	case BODY_COLLECT:
	case BODY_STREAM:
		return !body->complete && !body->paused;
	case BODY_DISCARD:
		return !body->complete;
	case BODY_UNCLAIMED:
	case BODY_REFUSED:
		break;
	}
	return false;
}

bool http_body_can_be_dropped(const struct http_connection *c)
{
	const struct http_body *body = &c->body;

	if (body->complete)
		return true;
	/* A peer that waits for 100 Continue may send the body or not: nobody could tell where the next
	 * request begins. */
	return !body->wants_go_on && !body->chunked && body->mode != BODY_REFUSED &&
	       body->left <= HTTP_DISCARD_MAX;
}

/* -- claiming -------------------------------------------------------------------------------------------- */

static void body_claim(struct http_connection *c, enum http_body_mode mode, uint64_t max)
{
	struct http_body *body = &c->body;
	char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

	BUG_ON(c->state != CONNECTION_REQUEST || c->answer == ANSWER_GIVEN || body->mode != BODY_UNCLAIMED);
	body->mode = mode;
	body->max = max;
	/* Nobody waits for leave to send what has arrived, or what will be refused. */
	if (body->wants_go_on && http_connection_unused(c).n == 0 && body->left <= max)
		http_output_send(c, &(struct iovec){ go_on, sizeof(go_on) - 1 }, 1, false);
	if (body->left <= max)
		body->wants_go_on = false;
	http_connection_watch(c);
	http_connection_wake(c);
}

void http_read_body(struct http_request *request, size_t max, http_body_done *done)
{
	struct http_connection *c = http_connection_of(request);

	c->body.done = done;
	buf_init(&c->body.collected, max);
	if (c->body.left <= max)
		buf_reserve(&c->body.collected, size_min(c->body.left, BODY_RESERVE_MAX));
	body_claim(c, BODY_COLLECT, max);
}

void http_stream_body(struct http_request *request, uint64_t max, http_body_data *data)
{
	struct http_connection *c = http_connection_of(request);

	c->body.data = data;
	body_claim(c, BODY_STREAM, max);
}

void http_pause_body(struct http_request *request)
{
	struct http_connection *c = http_connection_of(request);

	c->body.paused = true;
	http_connection_wake(c);
}

void http_resume_body(struct http_request *request)
{
	struct http_connection *c = http_connection_of(request);

	c->body.paused = false;
	http_connection_wake(c);
}

/* -- moving ---------------------------------------------------------------------------------------------- */

static enum http_chunk body_next(struct http_body *body, struct str *input, struct str *ret_part)
{
	if (body->chunked)
		return http_chunked_next(&body->decoder, input, ret_part);
	if (body->left == 0)
		return HTTP_CHUNK_END;
	if (input->n == 0)
		return HTTP_CHUNK_MORE;
	*ret_part = str_slice(*input, 0, body->left);
	*input = str_from(*input, ret_part->n);
	body->left -= ret_part->n;
	return HTTP_CHUNK_DATA;
}

static bool body_is_too_large(const struct http_body *body, size_t more)
{
	bool limited = body->mode == BODY_COLLECT || body->mode == BODY_STREAM;

	return limited && (body->left > body->max || more > body->max - body->taken);
}

static void refuse_size(struct http_connection *c)
{
	char text[sizeof(
		"The body of the request is longer than 18446744073709551615 bytes, the most that is taken "
		"here.")];

	snprintf(text, sizeof(text),
		 "The body of the request is longer than %zu bytes, the most that is taken here.",
		 c->body.max);
	http_answer_refuse(c, 413, text);
}

static void body_refuse(struct http_connection *c)
{
	enum http_body_mode mode = c->body.mode;

	c->body.mode = BODY_REFUSED;
	if (mode == BODY_STREAM)
		c->body.data(&c->request, str_make(NULL, 0), false, true);
	else
		refuse_size(c);
}

static void body_take(struct http_connection *c, struct str part)
{
	struct http_body *body = &c->body;

	body->taken += part.n;
	if (body->mode == BODY_COLLECT)
		BUG_ON(buf_append(&body->collected, part) < 0);
	else if (body->mode == BODY_STREAM)
		body->data(&c->request, part, false, false);
}

static void body_deliver_end(struct http_connection *c)
{
	struct http_body *body = &c->body;

	body->delivered = true;
	if (body->mode == BODY_COLLECT)
		body->done(&c->request, buf_str(&body->collected));
	else if (body->mode == BODY_STREAM)
		body->data(&c->request, str_make(NULL, 0), true, false);
}

/* A counted body of which more is promised than may come is refused before any of it is read. */
bool http_body_step(struct http_connection *c)
{
	struct http_body *body = &c->body;
	struct str part = { NULL, 0 };

	if (body->complete && !body->delivered && !body->paused && body->mode != BODY_UNCLAIMED) {
		body_deliver_end(c);
		return true;
	}
	if (!http_body_wants_input(body))
		return false;
	if (!body->chunked && body_is_too_large(body, 0)) {
		body_refuse(c);
		return true;
	}
	switch (body_next(body, &c->input, &part)) {
	case HTTP_CHUNK_DATA:
		if (body_is_too_large(body, part.n))
			body_refuse(c);
		else
			body_take(c, part);
		return true;
	case HTTP_CHUNK_END:
		body->complete = true;
		return true;
	case HTTP_CHUNK_BAD:
		http_answer_refuse(c, 400, http_chunked_problem(&body->decoder));
		return true;
	case HTTP_CHUNK_MORE:
		break;
	}
	return false;
}

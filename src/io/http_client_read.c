#include "base/base.h"
#include "io/http_client.h"

#include "io/http_client_private.h"

/* Reading answers: the head line by line, as strictly as the server reads requests, then the body in the
 * pieces in which it arrives. */

/* -- the head -------------------------------------------------------------------------------------------- */

static int bad_answer(struct http_client *client, const char *what, struct err *err)
{
	return err_set(err, ERR_PROTOCOL, "%s sent an answer that is not HTTP: %s", client->peer, what);
}

/* "HTTP/1.1 200 OK" */
static int take_status_line(struct http_client *client, struct str line, struct http_client_answer *answer,
			    struct err *err)
{
	uint64_t status;

	if (!str_starts_with(line, STR("HTTP/1.")) || line.n < 12 || line.p[8] != ' ' ||
	    (line.p[7] != '0' && line.p[7] != '1') || (line.n > 12 && line.p[12] != ' ') ||
	    str_to_u64(str_slice(line, 9, 3), &status) < 0 || status < 100 || status > 599)
		return bad_answer(client, "the status line is malformed", err);
	answer->status = (unsigned)status;
	client->keep_alive &= line.p[7] == '1';
	return 0;
}

static int take_field(struct http_client *client, struct str line, struct http_client_answer *answer,
		      struct err *err)
{
	const char *problem;

	if (answer->field_count == HTTP_CLIENT_FIELDS_MAX)
		return err_set(err, ERR_TOO_LARGE, "%s sent an answer with more than %d header fields",
			       client->peer, HTTP_CLIENT_FIELDS_MAX);
	problem = http_parse_field(line, &client->fields[answer->field_count]);
	if (problem)
		return bad_answer(client, "a header field is malformed", err);
	answer->field_count++;
	return 0;
}

static int receive_head(struct http_client *client, uint64_t deadline, struct err *err)
{
	size_t n, room = sizeof(client->head) - client->head_filled;
	int result;

	if (room == 0)
		return err_set(err, ERR_TOO_LARGE, "%s sent an answer whose head is longer than %d bytes",
			       client->peer, HTTP_CLIENT_HEAD_MAX);
	result = http_client_receive(client, client->head + client->head_filled, room, deadline, "answer", &n,
				     err);
	if (result < 0)
		return result;
	if (n == 0)
		return err_set(err, ERR_CLOSED, "%s closed the connection without an answer", client->peer);
	client->head_filled += n;
	return 0;
}

static int next_line(struct http_client *client, uint64_t deadline, struct str *ret_line, struct err *err)
{
	for (;;) {
		struct str bytes = str_make(client->head, client->head_filled);
		int result;

		switch (http_next_line(&client->lines, bytes, ret_line)) {
		case HTTP_LINE_WHOLE:
			return 0;
		case HTTP_LINE_BAD:
			return bad_answer(client, "a line does not end in CR LF", err);
		case HTTP_LINE_MORE:
			result = receive_head(client, deadline, err);
			if (result < 0)
				return result;
		}
	}
}

static int read_one_head(struct http_client *client, uint64_t deadline, struct http_client_answer *answer,
			 struct err *err)
{
	struct str line;
	int result = next_line(client, deadline, &line, err);

	*answer = (struct http_client_answer){ .fields = client->fields };
	if (result == 0)
		result = take_status_line(client, line, answer, err);
	while (result == 0) {
		result = next_line(client, deadline, &line, err);
		if (result == 0 && line.n == 0)
			return 0;
		if (result == 0)
			result = take_field(client, line, answer, err);
	}
	return result;
}

/* How many fields have that name: the two that frame the body must not contradict themselves. */
static size_t count_fields(const struct http_client_answer *answer, struct str name)
{
	size_t count = 0;

	for (size_t i = 0; i < answer->field_count; i++)
		count += str_eq_ignoring_case(answer->fields[i].name, name);
	return count;
}

/* RFC 9112 section 6.3. */
static int take_framing(struct http_client *client, struct str method,
			const struct http_client_answer *answer, struct err *err)
{
	struct str coding = http_client_field(answer, STR("transfer-encoding"));
	struct str length = http_client_field(answer, STR("content-length"));

	client->chunked = (struct http_chunked){ 0 };
	client->framing = FRAMING_NONE;
	if (str_eq(method, STR("HEAD")) || answer->status < 200 || answer->status == 204 ||
	    answer->status == 304)
		return 0;
	if (count_fields(answer, STR("transfer-encoding")) + count_fields(answer, STR("content-length")) > 1)
		return bad_answer(client, "its length is said twice", err);
	if (coding.p && !str_eq_ignoring_case(coding, STR("chunked")))
		return bad_answer(client, "its transfer coding is not chunked", err);
	if (length.p && str_to_u64(length, &client->body_left) < 0)
		return bad_answer(client, "its length is not a number", err);
	if (coding.p)
		client->framing = FRAMING_CHUNKED;
	else if (!length.p)
		client->framing = FRAMING_UNTIL_CLOSE;
	else if (client->body_left)
		client->framing = FRAMING_LENGTH;
	return 0;
}

/* Past a 1xx, what came behind it is the beginning of the next head. */
static void drop_head(struct http_client *client)
{
	size_t left = client->head_filled - client->lines.at;

	memmove(client->head, client->head + client->lines.at, left);
	client->head_filled = left;
	client->lines = (struct http_lines){ 0 };
}

void http_client_begin_answer(struct http_client *client)
{
	client->head_filled = 0;
	client->lines = (struct http_lines){ 0 };
}

int http_client_read_head(struct http_client *client, struct str method, enum http_client_until until,
			  struct http_client_answer *ret_answer, struct err *err)
{
	uint64_t deadline = http_client_deadline(client->limits.answer_ms);
	struct http_client_answer answer;
	int result;

	for (;;) {
		result = read_one_head(client, deadline, &answer, err);
		if (result < 0)
			return result;
		if (answer.status >= 200 || answer.status == 101)
			break;
		drop_head(client);
		if (until == HTTP_CLIENT_UNTIL_CONTINUE && answer.status == HTTP_CLIENT_CONTINUE) {
			ret_answer->status = answer.status;
			return 0;
		}
	}
	result = take_framing(client, method, &answer, err);
	if (result < 0)
		return result;
	client->input = str_make(client->head + client->lines.at, client->head_filled - client->lines.at);
	client->keep_alive &= !http_list_has(http_client_field(&answer, STR("connection")), STR("close"));
	*ret_answer = answer;
	return 0;
}

/* -- the body -------------------------------------------------------------------------------------------- */

static int fill_input(struct http_client *client, struct err *err)
{
	size_t n;
	int result = http_client_receive(client, client->room, sizeof(client->room),
					 http_client_deadline(client->limits.quiet_ms),
					 "send more of its answer", &n, err);

	if (result == 0)
		client->input = str_make(client->room, n);
	return result;
}

static int body_end(struct http_client *client)
{
	client->framing = FRAMING_NONE;
	return 0;
}

static int body_next_counted(struct http_client *client, size_t max, struct str *ret_part)
{
	*ret_part = str_slice(client->input, 0, size_min(max, client->body_left));
	client->input = str_from(client->input, ret_part->n);
	client->body_left -= ret_part->n;
	if (client->body_left == 0)
		body_end(client);
	return 1;
}

/* 1 for a part, 0 for the end, 2 when more input is needed. */
enum { BODY_NEEDS_INPUT = 2 };

static int body_next_chunked(struct http_client *client, size_t max, struct str *ret_part, struct err *err)
{
	struct str window = str_slice(client->input, 0, max);
	size_t before = window.n;
	enum http_chunk chunk = http_chunked_next(&client->chunked, &window, ret_part);

	client->input = str_from(client->input, before - window.n);
	switch (chunk) {
	case HTTP_CHUNK_DATA:
		return 1;
	case HTTP_CHUNK_END:
		return body_end(client);
	case HTTP_CHUNK_BAD:
		return bad_answer(client, http_chunked_problem(&client->chunked), err);
	case HTTP_CHUNK_MORE:
		break;
	}
	return BODY_NEEDS_INPUT;
}

static int body_next_part(struct http_client *client, size_t max, struct str *ret_part, struct err *err)
{
	if (client->input.n == 0)
		return BODY_NEEDS_INPUT;
	if (client->framing == FRAMING_CHUNKED)
		return body_next_chunked(client, max, ret_part, err);
	if (client->framing == FRAMING_LENGTH)
		return body_next_counted(client, max, ret_part);
	*ret_part = str_slice(client->input, 0, max);
	client->input = str_from(client->input, ret_part->n);
	return 1;
}

/* The next bytes of the body, at most `max`, as a view: 1; 0 at its end. */
static int body_next(struct http_client *client, size_t max, struct str *ret_part, struct err *err)
{
	while (client->framing != FRAMING_NONE) {
		int result = body_next_part(client, max, ret_part, err);

		if (result != BODY_NEEDS_INPUT)
			return result < 0 ? http_client_give_up(client, result) : result;
		if (client->input.n)
			continue;
		result = fill_input(client, err);
		if (result < 0)
			return http_client_give_up(client, result);
		if (client->input.n)
			continue;
		client->keep_alive = false;
		if (client->framing == FRAMING_UNTIL_CLOSE)
			return body_end(client);
		return http_client_give_up(client,
					   err_set(err, ERR_CLOSED,
						   "%s closed the connection in the middle of its answer",
						   client->peer));
	}
	return 0;
}

int http_client_read(struct http_client *client, char *room, size_t n, size_t *ret_n, struct err *err)
{
	struct str part = { NULL, 0 };
	int result = body_next(client, n, &part, err);

	if (result < 0)
		return result;
	if (part.n)
		memcpy(room, part.p, part.n);
	*ret_n = part.n;
	return 0;
}

int http_client_read_all(struct http_client *client, struct buf *body, struct err *err)
{
	struct str part;
	int result;

	while ((result = body_next(client, SIZE_MAX, &part, err)) > 0)
		if (buf_append(body, part) < 0)
			return http_client_give_up(client, err_set(err, ERR_TOO_LARGE,
								   "%s sent an answer of more than %zu bytes",
								   client->peer, body->max));
	return result;
}

/* -- lines and events ------------------------------------------------------------------------------------ */

struct body_lines {
	struct buf part; /* of a line whose end has not come */
	http_client_line *line;
	void *context;
};

static struct str without_cr(struct str line)
{
	return str_ends_with(line, STR("\r")) ? str_slice(line, 0, line.n - 1) : line;
}

/* Delivers the lines that end in `bytes`, keeps the rest. */
static int lines_feed(struct body_lines *lines, struct str bytes)
{
	size_t end;

	while ((end = str_find_char(bytes, '\n')) != STR_NONE) {
		struct str line = str_slice(bytes, 0, end);
		int result;

		if (lines->part.n || line.n > lines->part.max) {
			if (buf_append(&lines->part, line) < 0)
				return ERR_TOO_LARGE;
			line = buf_str(&lines->part);
		}
		result = lines->line(lines->context, without_cr(line));
		if (result)
			return result;
		lines->part.n = 0;
		bytes = str_from(bytes, end + 1);
	}
	return buf_append(&lines->part, bytes);
}

static int read_lines(struct http_client *client, struct body_lines *lines, struct err *err)
{
	struct str bytes;
	int result;

	while ((result = body_next(client, SIZE_MAX, &bytes, err)) > 0) {
		result = lines_feed(lines, bytes);
		if (buf_failed(&lines->part))
			err_set(err, ERR_TOO_LARGE, "%s sent a line of more than %zu bytes", client->peer,
				lines->part.max);
		if (result)
			return http_client_give_up(client, result);
	}
	if (result == 0 && lines->part.n)
		return lines->line(lines->context, without_cr(buf_str(&lines->part)));
	return result;
}

int http_client_read_lines(struct http_client *client, size_t line_max, http_client_line *line, void *context,
			   struct err *err)
{
	struct body_lines lines = { .line = line, .context = context };
	int result;

	buf_init(&lines.part, line_max);
	result = read_lines(client, &lines, err);
	buf_release(&lines.part);
	return result;
}

/* Delivers the events that end in `bytes`. */
static int events_feed(struct sse_reader *reader, struct str bytes, http_client_event *event, void *context,
		       struct err *err)
{
	struct sse_message message;
	int result;

	while ((result = sse_read(reader, &bytes, &message, err)) > 0) {
		result = event(context, &message);
		if (result)
			return result;
	}
	return result;
}

int http_client_read_events(struct http_client *client, size_t event_max, http_client_event *event,
			    void *context, struct err *err)
{
	struct sse_reader reader;
	struct str bytes;
	int result;

	sse_reader_init(&reader, event_max);
	while ((result = body_next(client, SIZE_MAX, &bytes, err)) > 0) {
		result = events_feed(&reader, bytes, event, context, err);
		if (result) {
			result = http_client_give_up(client, result);
			break;
		}
	}
	sse_reader_release(&reader);
	return result;
}

/* -- afterwards ------------------------------------------------------------------------------------------ */

bool http_client_reusable(const struct http_client *client)
{
	return client->connected && client->keep_alive && client->framing == FRAMING_NONE &&
	       client->input.n == 0;
}

int http_client_hand_over(struct http_client *client, int *ret_fd, struct buf *ret_read, struct err *err)
{
	if (buf_append(ret_read, client->input) < 0)
		return http_client_give_up(client, err_set(err, ERR_TOO_LARGE,
							   "%s sent more than %zu bytes behind its answer",
							   client->peer, ret_read->max));
	*ret_fd = take_fd(&client->fd);
	client->connected = false;
	return 0;
}

#include "base/base.h"
#include "io/http_connection.h"
#include "json/writer.h"

/* -- heads ----------------------------------------------------------------------------------------------- */

static struct str server_date(struct http_server *server)
{
	uint64_t second = loop_wall_ms() / 1000;

	if (second != server->date_second) {
		time_http(server->date, second * 1000);
		server->date_second = second;
	}
	return str_of(server->date);
}

static void head_add(struct buf *head, struct str name, struct str value)
{
	buf_append(head, name);
	buf_append(head, STR(": "));
	buf_append(head, value);
	buf_append(head, STR("\r\n"));
}

static void head_add_status(struct buf *head, unsigned status)
{
	if (status == 200)
		buf_append(head, STR("HTTP/1.1 200 OK\r\n"));
	else
		buf_printf(head, "HTTP/1.1 %u %s\r\n", status, http_status_phrase(status));
}

static void head_add_framing(struct http_connection *c, struct buf *head, int64_t length)
{
	char digits[24];
	int n;

	if (length >= 0) {
		n = snprintf(digits, sizeof(digits), "%lld", (long long)length);
		head_add(head, STR("Content-Length"), str_make(digits, (size_t)n));
	} else if (length == HTTP_LENGTH_UNKNOWN && c->minor == 1) {
		head_add(head, STR("Transfer-Encoding"), STR("chunked"));
	}
}

static void head_add_fields(struct buf *head, const struct http_field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		/* Our own mistake, and one that would let a peer write our headers. */
		BUG_ON(!http_is_token(fields[i].name) || !http_is_field_value(fields[i].value));
		head_add(head, fields[i].name, fields[i].value);
	}
}

/* What is streamed to an HTTP/1.0 peer ends with the connection. */
static void decide_close(struct http_connection *c, const struct http_answer *answer, int64_t length)
{
	c->close_after = c->close_after || answer->close || !c->keep_alive || c->server->draining ||
			 !http_body_can_be_dropped(c) || (length == HTTP_LENGTH_UNKNOWN && c->minor == 0);
}

struct str http_answer_head(struct http_connection *c, const struct http_answer *answer, int64_t length)
{
	struct buf *head = &c->server->head;

	BUG_ON(answer->status < 100 || answer->status > 999);
	decide_close(c, answer, length);
	buf_clear(head, SIZE_MAX);
	head_add_status(head, answer->status);
	head_add(head, STR("Date"), server_date(c->server));
	head_add_fields(head, &(struct http_field){ STR("Content-Type"), answer->content_type },
			answer->content_type.n ? 1 : 0);
	head_add_framing(c, head, length);
	/* Nobody shall guess that what a server or a script produced is a page to run in a browser. */
	buf_append(head, STR("X-Content-Type-Options: nosniff\r\n"));
	head_add_fields(head, answer->fields, answer->field_count);
	if (c->close_after)
		buf_append(head, STR("Connection: close\r\n"));
	else if (c->minor == 0)
		buf_append(head, STR("Connection: keep-alive\r\n"));
	buf_append(head, STR("\r\n"));
	BUG_ON(buf_failed(head));
	return buf_str(head);
}

/* -- whole answers --------------------------------------------------------------------------------------- */

static bool has_no_body(unsigned status)
{
	return status == 204 || status == 304;
}

static struct http_connection *begin_answer(struct http_request *request)
{
	struct http_connection *c = http_connection_of(request);

	BUG_ON(c->state != CONNECTION_REQUEST || c->answer != ANSWER_NONE);
	return c;
}

static struct str whole_head(struct http_connection *c, const struct http_answer *answer, size_t body_n)
{
	return http_answer_head(c, answer, has_no_body(answer->status) ? HTTP_LENGTH_NONE : (int64_t)body_n);
}

void http_respond(struct http_request *request, const struct http_answer *answer, struct str body)
{
	struct http_connection *c = begin_answer(request);
	struct str head = whole_head(c, answer, body.n);
	struct iovec parts[] = { { (char *)head.p, head.n }, { (char *)body.p, body.n } };
	bool head_only = c->head_only || has_no_body(answer->status) || body.n == 0;

	http_output_send(c, parts, head_only ? 1 : 2, false);
	http_connection_answered(c);
}

void http_respond_take(struct http_request *request, const struct http_answer *answer,
		       struct str body_storage)
{
	struct http_connection *c = begin_answer(request);

	if (c->head_only || has_no_body(answer->status) || body_storage.n == 0) {
		http_respond(request, answer, body_storage);
		free((char *)body_storage.p);
		return;
	}
	http_output_send_taken(c, whole_head(c, answer, body_storage.n), body_storage);
	http_connection_answered(c);
}

/* -- answers of the server's own ------------------------------------------------------------------------- */

static bool refuses_head(const struct http_connection *c)
{
	return c->state == CONNECTION_REQUEST ? c->head_only : c->parser && http_parser_is_head(c->parser);
}

void http_answer_refuse(struct http_connection *c, unsigned status, const char *problem)
{
	struct http_answer answer = { .status = status,
				      .content_type = STR("application/json"),
				      .close = true };
	bool head_only = refuses_head(c);
	_cleanup_buf_ struct buf body = { .max = HTTP_REFUSAL_MAX };
	struct str head;

	/* An answer that has begun cannot become another one. */
	if (c->state == CONNECTION_REQUEST && c->answer != ANSWER_NONE) {
		http_connection_drop(c);
		return;
	}
	http_connection_tell_gone(c);
	if (c->state == CONNECTION_CLOSED)
		return;
	c->state = CONNECTION_REQUEST;
	c->answer = ANSWER_GIVEN;
	c->must_linger = true;
	buf_append(&body, STR("{\"error\":"));
	json_quote(&body, str_of(problem));
	buf_append_char(&body, '}');
	BUG_ON(buf_failed(&body)); /* the problems are sentences of ours */
	head = http_answer_head(c, &answer, (int64_t)body.n);
	http_output_send(c, (struct iovec[]){ { (char *)head.p, head.n }, { body.p, body.n } },
			 head_only ? 1 : 2, false);
	http_connection_answered(c);
}

/* -- upgrades -------------------------------------------------------------------------------------------- */

int http_upgrade(struct http_request *request, struct str protocol, const struct http_field *fields,
		 size_t field_count, int *ret_fd, struct buf *ret_read)
{
	struct http_connection *c = begin_answer(request);
	struct buf *head = &c->server->head;

	buf_clear(head, SIZE_MAX);
	head_add_status(head, 101);
	head_add(head, STR("Date"), server_date(c->server));
	head_add(head, STR("Connection"), STR("Upgrade"));
	head_add_fields(head, &(struct http_field){ STR("Upgrade"), protocol }, 1);
	head_add_fields(head, fields, field_count);
	buf_append(head, STR("\r\n"));
	BUG_ON(buf_failed(head));
	http_output_send(c, &(struct iovec){ head->p, head->n }, 1, false);
	/* A peer that has left no room for 200 bytes does not take its answers. */
	if (c->broken || !http_output_empty(&c->output) ||
	    buf_append(ret_read, http_connection_unused(c)) < 0) {
		c->broken = true;
		http_connection_answered(c);
		return ERR_CLOSED;
	}
	http_connection_release_fd(c, ret_fd);
	return 0;
}

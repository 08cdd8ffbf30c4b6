#include "base/base.h"
#include "io/http_conditional.h"
#include "io/http_connection.h"

/* Answers from files: the request's conditions and range decide the status; the head goes out with MSG_MORE
 * and the bytes follow by sendfile(2), in turns, so that one large file does not keep the others waiting. */

enum { FILE_FIELDS_MAX = 4, RANGE_TEXT_MAX = 72 };

struct file_fields {
	struct http_field fields[FILE_FIELDS_MAX];
	size_t count;
	char range[RANGE_TEXT_MAX];
	char modified[TIME_TEXT_MAX];
};

static void add_field(struct file_fields *fields, struct str name, struct str value)
{
	BUG_ON(fields->count == FILE_FIELDS_MAX);
	fields->fields[fields->count++] = (struct http_field){ name, value };
}

static void add_content_range(struct file_fields *fields, const struct http_selected *selected, uint64_t size)
{
	int n;

	if (selected->status == 416)
		n = snprintf(fields->range, sizeof(fields->range), "bytes */%llu", (unsigned long long)size);
	else
		n = snprintf(fields->range, sizeof(fields->range), "bytes %llu-%llu/%llu",
			     (unsigned long long)selected->from,
			     (unsigned long long)(selected->from + selected->count - 1),
			     (unsigned long long)size);
	add_field(fields, STR("Content-Range"), str_make(fields->range, (size_t)n));
}

static void fill_fields(struct file_fields *fields, const struct http_file *file,
			const struct http_selected *selected)
{
	add_field(fields, STR("Accept-Ranges"), STR("bytes"));
	if (file->etag.n)
		add_field(fields, STR("ETag"), file->etag);
	if (file->modified_ms) {
		struct str date = time_http(fields->modified, file->modified_ms);

		add_field(fields, STR("Last-Modified"), date);
	}
	if (selected->status == 206 || selected->status == 416)
		add_content_range(fields, selected, file->size);
}

/* The handler's fields and ours together, in the request's arena. */
static void join_fields(struct http_request *request, const struct file_fields *ours,
			struct http_answer *answer)
{
	size_t count = answer->field_count + ours->count;
	struct http_field *all = arena_array(&request->arena, struct http_field, count);

	for (size_t i = 0; i < answer->field_count; i++)
		all[i] = answer->fields[i];
	for (size_t i = 0; i < ours->count; i++)
		all[answer->field_count + i] = ours->fields[i];
	answer->fields = all;
	answer->field_count = count;
}

static struct http_selected select_part(const struct http_request *request, const struct http_answer *answer,
					const struct http_file *file)
{
	struct http_validators validators = { .size = file->size,
					      .modified_ms = file->modified_ms,
					      .now_ms = loop_wall_ms(),
					      .etag = file->etag };

	/* Conditions are about the file; another status is not its plain answer. */
	if (answer->status != 200)
		return (struct http_selected){ .status = answer->status, .count = file->size };
	return http_select(request->method, request->fields, request->field_count, &validators);
}

void http_respond_file(struct http_request *request, const struct http_answer *answer,
		       const struct http_file *file)
{
	struct http_connection *c = http_connection_of(request);
	struct http_selected selected = select_part(request, answer, file);
	struct file_fields fields = { .count = 0 };
	struct http_answer full = *answer;
	bool sends = selected.count > 0 && !c->head_only;
	int fd = file->fd;
	struct str head;

	BUG_ON(c->state != CONNECTION_REQUEST || c->answer != ANSWER_NONE);
	fill_fields(&fields, file, &selected);
	join_fields(request, &fields, &full);
	full.status = selected.status;
	head = http_answer_head(c, &full,
				selected.status == 304 ? HTTP_LENGTH_NONE : (int64_t)selected.count);
	http_output_send(c, &(struct iovec){ (char *)head.p, head.n }, 1, sends);
	if (sends)
		http_output_send_file(c, fd, selected.from, selected.count);
	else
		close_fd(&fd);
	http_connection_answered(c);
}

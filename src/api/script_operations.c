/* Operations that generate: declarations for whoever writes a script, and the client that it calls the
 * servers with. */
#include "base/base.h"
#include "api/script_operations.h"
#include "exec/client.h"

static void take_catalogue(struct api *api, struct arena *arena, struct exec_catalogue *ret_catalogue)
{
	struct str *servers, *descriptions;
	size_t count;

	ret_catalogue->snapshots = hub_snapshots(api->hub, arena, &count);
	servers = arena_array(arena, struct str, count + 1);
	descriptions = arena_array(arena, struct str, count + 1);
	for (size_t i = 0; i < count; i++) {
		const struct hub_server *server =
			hub_server_find(api->hub, ret_catalogue->snapshots[i]->namespace, NULL);

		servers[i] = server ? server->name : ret_catalogue->snapshots[i]->namespace;
		if (server)
			descriptions[i] = server->description;
	}
	ret_catalogue->servers = servers;
	ret_catalogue->descriptions = descriptions;
	ret_catalogue->count = count;
}

/* What was selected, by namespaces: a server is known by its name as well, and one whose tools nobody knows
 * says why. A name that nothing has stays as it is. */
static int take_selection(struct api *api, struct str given, struct arena *arena, struct str *ret_selection,
			  struct err *err)
{
	_cleanup_buf_ struct buf selection = { .max = ARENA_INPUT_MAX };
	struct str word;

	/* A caller may name a hundred thousand: each is copied once. */
	for (bool first = true; given.p && str_split(&given, ',', &word); first = false) {
		const struct hub_server *server;
		size_t dot;

		word = str_trim(word);
		dot = str_find_char(word, '.');
		server = hub_server_find(api->hub, str_slice(word, 0, dot), NULL);
		if (server && hub_server_check_listed(server, err) < 0)
			return err->code;
		if (!first)
			buf_append_char(&selection, ',');
		if (server)
			buf_append(&selection, server->namespace);
		buf_append(&selection, !server ? word : dot == STR_NONE ? STR("") : str_from(word, dot));
	}
	if (buf_failed(&selection))
		return err_set(err, ERR_TOO_LARGE, "the names of what is selected are too long together");
	*ret_selection = arena_copy(arena, buf_str(&selection));
	return 0;
}

static int check_written(const struct buf *out, struct err *err)
{
	if (!buf_failed(out))
		return 0;
	return err_set(err, ERR_TOO_LARGE,
		       "the client is too long to be generated: choose fewer namespaces with ns");
}

/* -- types ----------------------------------------------------------------------------------------------- */

static void types_ready(struct hub_ready *ready)
{
	struct api_call *call = ready->owner;
	struct str selection = api_input_str(call, STR("ns"));
	struct exec_catalogue catalogue;
	struct json_writer w;
	struct buf out;
	struct err err;

	take_catalogue(call->api, call->arena, &catalogue);
	if (take_selection(call->api, selection, call->arena, &selection, &err) < 0 ||
	    exec_selection_check(&catalogue, selection, &err) < 0) {
		api_answer_error(call, &err);
		return;
	}
	api_writer_init(&w, &out);
	exec_types_write(&out, &catalogue, selection, api_input_bool(call, STR("instructions"), false));
	if (check_written(&out, &err) < 0) {
		buf_release(&out);
		api_answer_error(call, &err);
		return;
	}
	api_answer_text(call, STR("text/plain; charset=utf-8"), buf_take(&out));
}

void api_types(struct api_call *call)
{
	api_when_ready(call, types_ready);
}

/* -- the client ------------------------------------------------------------------------------------------ */

static int write_client(struct api *api, struct str selection, bool plain, struct arena *arena,
			struct buf *out, struct err *err)
{
	struct exec_catalogue catalogue;
	struct json_writer w;

	take_catalogue(api, arena, &catalogue);
	if (take_selection(api, selection, arena, &selection, err) < 0 ||
	    exec_selection_check(&catalogue, selection, err) < 0)
		return err->code;
	api_writer_init(&w, out);
	exec_client_write(out, &catalogue, selection, plain);
	if (check_written(out, err) == 0)
		return 0;
	buf_release(out);
	return err->code;
}

/* The plain client of everything is what every run wants, so it is made once for each state of the
 * catalogue. */
int script_client(struct api *api, struct str selection, struct arena *arena, struct str *ret_text,
		  struct err *err)
{
	struct buf out;
	int r;

	if (!selection.n && api->client.n && api->client_generation == api->hub->generation) {
		*ret_text = buf_str(&api->client);
		return 0;
	}
	r = write_client(api, selection, true, arena, &out, err);
	if (r < 0)
		return r;
	if (selection.n) {
		*ret_text = arena_copy(arena, buf_str(&out));
		buf_release(&out);
		return 0;
	}
	buf_release(&api->client);
	api->client = out;
	api->client_generation = api->hub->generation;
	*ret_text = buf_str(&api->client);
	return 0;
}

static void answer_client(struct api_call *call, bool plain)
{
	struct str selection = api_input_str(call, STR("ns")), text;
	struct json_writer w;
	struct buf out;
	struct err err;
	int r;

	if (plain) {
		r = script_client(call->api, selection, call->arena, &text, &err);
		api_writer_init(&w, &out);
		if (r == 0)
			buf_append(&out, text);
	} else {
		r = write_client(call->api, selection, false, call->arena, &out, &err);
	}
	if (r < 0)
		api_answer_error(call, &err);
	else
		api_answer_text(call,
				plain ? STR("text/javascript; charset=utf-8")
				      : STR("application/typescript; charset=utf-8"),
				buf_take(&out));
}

static void client_ready(struct hub_ready *ready)
{
	struct api_call *call = ready->owner;

	answer_client(call, api_input_bool(call, STR("plain"), false));
}

void api_client(struct api_call *call)
{
	api_when_ready(call, client_ready);
}

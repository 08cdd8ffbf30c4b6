/* A client fed with random lines by its server. The first byte says how it opens; a line of the input is a
 * line of the server. */
#include "base/base.h"
#include "mcp/client.h"

#include "base/fuzz_expand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz {
	struct mcp_transport transport;
	struct mcp_client client;
	struct mcp_open open;
	struct mcp_request calls[2];
	struct mcp_listing listing;
	unsigned running;
};

/* What leaves us is always one line of JSON. */
static int fuzz_send(struct mcp_transport *transport, struct str line)
{
	(void)transport;
	BUG_ON(str_find_char(line, '\n') != line.n - 1);
	BUG_ON(json_check(line, NULL, NULL) != 0);
	return 0;
}

/* What is handed over is JSON, and relayed as such. */
static void fuzz_answered(struct mcp_request *request, const struct mcp_answer *answer)
{
	struct fuzz *fuzz = request->owner;

	fuzz->running--;
	BUG_ON(answer->code == 0 && json_check(answer->result, NULL, NULL) != 0);
	BUG_ON(answer->code != 0 && answer->err.message[0] == '\0');
}

static void fuzz_progressed(struct mcp_request *request, const struct mcp_progress *progress,
			    struct str params)
{
	(void)request;
	BUG_ON(json_check(params, NULL, NULL) != 0 || json_check(progress->progress, NULL, NULL) != 0);
}

static void fuzz_listed(struct mcp_listing *listing, const struct err *err)
{
	struct fuzz *fuzz = listing->owner;

	fuzz->running--;
	for (size_t i = 0; !err && i < listing->count; i++)
		BUG_ON(json_check(listing->items[i], NULL, NULL) != 0);
}

static bool fuzz_request(struct mcp_client *client, enum mcp_method method,
			 const struct jsonrpc_message *message)
{
	if (method != MCP_ROOTS_LIST)
		return false;
	mcp_client_answer(client, message->id, STR("{\"roots\":[]}"));
	return true;
}

static void fuzz_opened(struct mcp_open *open, const struct err *err)
{
	const struct mcp_patience patience = { 1000, 1000, { 0 }, { 0 } };
	const struct mcp_listing_limits limits = { 3, 10, 1000, patience };
	const struct mcp_tool_call call = { STR("t"), STR("{}"), STR("{\"a\":1}"), MCP_LOG_DEBUG };
	struct fuzz *fuzz = open->owner;

	if (err)
		return;
	fuzz->running = 3;
	mcp_tool_call_start(&fuzz->calls[0], &fuzz->client, &call, &patience, fuzz_progressed, fuzz_answered,
			    fuzz);
	mcp_tool_call_start(&fuzz->calls[1], &fuzz->client, &call, &patience, NULL, fuzz_answered, fuzz);
	mcp_listing_start(&fuzz->listing, &fuzz->client, MCP_TOOLS_LIST, &limits, fuzz_listed, fuzz);
}

static void fuzz_open(struct fuzz *fuzz, uint8_t how)
{
	const struct mcp_open_options options = {
		.order = (enum mcp_open_order)(how % 4),
		.legacy_revision = MCP_LATEST_LEGACY,
		.client_info = STR("{\"name\":\"f\",\"version\":\"1\"}"),
		.capabilities = STR("{}"),
		.probe_ms = 1000,
		.open_ms = 1000,
	};

	mcp_open_start(&fuzz->open, &fuzz->client, &options, fuzz_opened, fuzz);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct mcp_client_limits limits = {
		.message_max = 4096, .depth_max = 32, .requests_max = 10, .batch_max = 10, .noise_keep = 20
	};
	static const struct mcp_client_events events = { .request = fuzz_request };
	static struct loop *loop;
	struct fuzz fuzz = { .transport = { .send = fuzz_send } };
	_cleanup_buf_ struct buf expanded = { 0 };
	struct str text = fuzz_expand(&expanded, str_make((const char *)data, size)), line;
	uint8_t how = size ? (uint8_t)text.p[0] : 0;

	if (!loop)
		BUG_ON(loop_new(&loop, NULL) < 0);
	mcp_client_init(&fuzz.client, loop, &fuzz.transport, &limits, &events, NULL);
	fuzz_open(&fuzz, how);
	text = str_from(text, 1);
	while (str_split(&text, '\n', &line))
		mcp_client_receive(&fuzz.client, line, (how & 4) && !text.n);
	mcp_client_closed(&fuzz.client, NULL);
	BUG_ON(fuzz.running > 0);
	mcp_open_cancel(&fuzz.open);
	mcp_listing_release(&fuzz.listing);
	mcp_client_release(&fuzz.client);
	return 0;
}

/*
 * client_fixture.h - the client against a scripted server: what was sent is compared line by line, and lines
 * are fed back.
 */
#ifndef MCP_CLIENT_FIXTURE_H
#define MCP_CLIENT_FIXTURE_H

#include "base/base.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "mcp/client.h"

#define HEAD "{\"jsonrpc\":\"2.0\","

struct rig {
	struct loop *loop;
	struct mcp_transport transport;
	struct mcp_client client;
	struct buf sent; /* lines not yet looked at */
	int send_code;	 /* what the transport answers */

	/* the last answer */
	unsigned answers;
	int code;
	enum mcp_outcome outcome;
	char text[2048]; /* the result or the error's message */
	char type[64];
	int64_t error_code;

	unsigned progressed;
	char progress[256];
	unsigned notifications, cancelled_requests;
	char noted[256];
	bool take_requests;
	bool running;

	unsigned opens;
	int open_code;
	char open_text[ERR_MESSAGE_MAX];
};

extern const struct mcp_client_limits rig_limits;

int rig_setup(void **state);
int rig_teardown(void **state);
#define RIGGED(test) cmocka_unit_test_setup_teardown(test, rig_setup, rig_teardown)

struct rig *rig_of(struct mcp_client *client);
void copy_text(char *out, size_t size, struct str s);
/* The next line that was sent; NULL: nothing more was. */
void expect_sent(struct rig *rig, const char *line);
/* Runs the loop until a callback has come. */
void run(struct rig *rig);
void feed(struct rig *rig, const char *line);

/* -- opening --------------------------------------------------------------------------------------------- */

#define CLIENT_INFO "{\"name\":\"t\",\"version\":\"1\"}"
#define MODERN_META                                                                                          \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/"   \
	"clientInfo\":" CLIENT_INFO ",\"io.modelcontextprotocol/clientCapabilities\":{}"
#define DISCOVER(id) HEAD "\"id\":" id ",\"method\":\"server/discover\",\"params\":{" MODERN_META "}}}"
#define INITIALIZE(id)                                                                                        \
	HEAD "\"id\":" id                                                                                     \
	     ",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}," \
	     "\"clientInfo\":" CLIENT_INFO "}}"
#define INITIALIZED HEAD "\"method\":\"notifications/initialized\"}"
#define INITIALIZE_RESULT                                                                                                    \
	"\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{\"listChanged\":true},\"logging\":{}}," \
	"\"serverInfo\":{\"name\":\"srv\",\"version\":\"2\",\"title\":\"T\"},\"instructions\":\"be\\nkind\"}}"
#define DISCOVER_RESULT                                                                                              \
	"\"result\":{\"resultType\":\"complete\",\"supportedVersions\":[\"2027-01-01\",\"2026-07-28\"],"             \
	"\"capabilities\":{\"tools\":{},\"resources\":{\"subscribe\":true}},\"ttlMs\":0,\"cacheScope\":\"private\"," \
	"\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"new\",\"version\":\"3\"}}}}"

void start_open(struct rig *rig, struct mcp_open *open, enum mcp_open_order order, uint64_t probe_ms,
		uint64_t open_ms);
void open_legacy(struct rig *rig);
void open_modern(struct rig *rig);

/* -- requests -------------------------------------------------------------------------------------------- */

extern const struct mcp_patience patient;

/* Keep what came in the rig. */
void rig_answered(struct mcp_request *request, const struct mcp_answer *answer);
void rig_progressed(struct mcp_request *request, const struct mcp_progress *progress, struct str params);
void call_tool(struct rig *rig, struct mcp_request *request, const char *name, const char *arguments,
	       bool progress);
void call_tool_within(struct rig *rig, struct mcp_request *request, uint64_t ms);

#endif

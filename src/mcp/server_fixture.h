/*
 * server_fixture.h - a session by scripted exchanges over the stdio transport: a line goes in, the expected
 * bytes come out. The handler is one with a few tools of its own.
 */
#ifndef MCP_SERVER_FIXTURE_H
#define MCP_SERVER_FIXTURE_H

#include "base/base.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "mcp/stdio_server.h"

#define HEAD "{\"jsonrpc\":\"2.0\","
#define INFO "{\"name\":\"srv\",\"version\":\"1\"}"
#define META                                                                                                 \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                             \
	"\"io.modelcontextprotocol/clientCapabilities\":{}"
#define SERVER_META "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":" INFO "}"
#define TEXT(words) "{\"content\":[{\"type\":\"text\",\"text\":\"" words "\"}]}"

struct rig {
	struct mcp_server server;
	struct mcp_stdio_server stdio;
	struct buf sent;
	struct mcp_server_call *held[4];
	unsigned held_count, cancelled, opened, closed, levels;
	char reason[64];
	char seen[512]; /* what the handler saw of the last call */
};

extern const struct mcp_handler rig_handler;

int rig_setup(void **state);
int rig_teardown(void **state);
#define RIGGED(test) cmocka_unit_test_setup_teardown(test, rig_setup, rig_teardown)

/* A line arrives. */
void send_line(struct rig *rig, const char *line);
/* The next line that was sent; NULL: nothing more was. */
void expect(struct rig *rig, const char *line);
/* A line arrives, and just one is sent, or none. */
void exchange(struct rig *rig, const char *in, const char *out);
/* The handshake of a legacy peer. */
void open_session(struct rig *rig, const char *initialize);

#define INITIALIZE(version)                                                                                  \
	HEAD "\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"" version                 \
	     "\",\"capabilities\":{\"roots\":{}},"                                                           \
	     "\"clientInfo\":{\"name\":\"cli\",\"version\":\"9\"}}}"
#define INITIALIZE_RESULT(version)                                                                           \
	HEAD "\"id\":0,\"result\":{\"protocolVersion\":\"" version                                           \
	     "\",\"capabilities\":{\"tools\":{\"listChanged\":true},"                                        \
	     "\"logging\":{}},\"serverInfo\":" INFO "}}"
#define INITIALIZED HEAD "\"method\":\"notifications/initialized\"}"
#define CALL(id, name) HEAD "\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"}}"
#define MODERN_CALL(id, name)                                                                                \
	HEAD "\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"," META "}}}"

#endif

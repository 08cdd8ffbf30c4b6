/* door_private.h - what the files of the door share. */
#ifndef API_DOOR_PRIVATE_H
#define API_DOOR_PRIVATE_H

#include "api/api.h"
#include "base/base.h"

/* Whether the door shows the server's tools under their own names. */
bool door_passes_through(const struct api_door *door, const struct hub_server *server);

/* Makes door->tools of what is known now, unless that is how it was made last. What the list cannot be is in
 * door->names_err. */
void door_make_list(struct api_door *door);

/* Whether the name means one thing: ERR_EXISTS names the two servers that both show a tool by it. */
int door_check_name(const struct api_door *door, struct str name, struct err *err);

/* Writes door->server.instructions: ours, and those of the servers whose tools the door shows. */
void door_describe(struct api_door *door);

/* What a client reads beside tools: struct mcp_handler's functions. */
void door_resources_list(struct mcp_server_call *call);
void door_resource_templates_list(struct mcp_server_call *call);
void door_resources_read(struct mcp_server_call *call);

#endif

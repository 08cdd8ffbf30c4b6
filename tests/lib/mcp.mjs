// MCP clients that we did not write: the official SDK, over stdio and over Streamable HTTP.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ProgressNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { mcpx } from './scratch.mjs';

async function connect(scratch, transport, capabilities) {
	const client = new Client({ name: 'mcpx-tests', version: '1.0.0' }, { capabilities });
	await client.connect(transport);
	scratch.atEnd(() => client.close());
	return client;
}

// A client of `mcpx ARGS...`, such as ['serve'].
export function stdioClient(scratch, args, { env = {}, cwd = scratch.home, capabilities = {} } = {}) {
	const transport = new StdioClientTransport({
		command: mcpx,
		args,
		cwd,
		env: { ...scratch.env, ...env },
		stderr: 'pipe',
	});
	return connect(scratch, transport, capabilities);
}

// A client of an HTTP endpoint, such as `${daemon.url}/mcp`.
export function httpClient(scratch, url, { headers = {}, capabilities = {}, reconnectionOptions } = {}) {
	return connect(scratch, new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers }, reconnectionOptions }), capabilities);
}

// Calls a tool and tells `step` of all its progress: { progress, message }. The SDK's own `onprogress` forgets its listener with the answer, and
// so what it reads in one piece with that, which on a busy machine is any of it.
export function callWithProgress(client, request, step) {
	client.setNotificationHandler(ProgressNotificationSchema, ({ params }) => step(params));
	return client.callTool({ ...request, _meta: { progressToken: 'steps' } });
}

// The MCP endpoint over HTTP, as the official SDK and as the wire see it: modes, progress, cancellation, lost streams, headers.
import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { startDaemon, untilCalls, untilWarm } from '../lib/daemon.mjs';
import { events, post, request, rpcAnswer } from '../lib/http.mjs';
import { callWithProgress, httpClient } from '../lib/mcp.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';

const quick = { MCPX_PROTO_STREAM_AFTER: '5ms', MCPX_PROTO_RETRY: '10ms' };

async function endpoint(t, { mcpServers = { scripted: scriptedServer() }, env = {}, ...more } = {}) {
	const scratch = newScratch(t);
	const daemon = await startDaemon(scratch, { config: { mcpServers }, tcp: true, env: { ...quick, ...env }, ...more });
	return { scratch, daemon, url: `${daemon.url}/mcp` };
}

const text = (result) => result.content[0].text;

// How a mode calls a tool of the server `scripted`.
const modes = {
	'code-mode': {
		env: {},
		request: (tool, args) => ({ name: 'mcpx_call', arguments: { server: 'scripted', tool, args } }),
		lists: ['mcpx_call', 'mcpx_exec', 'mcpx_search', 'mcpx_types', 'mcpx_namespaces'],
		hides: ['echo', 'scripted__echo'],
	},
	full: {
		env: { MCPX_SERVE_MODE: 'full' },
		request: (tool, args) => ({ name: `scripted__${tool}`, arguments: args }),
		lists: ['scripted__echo', 'scripted__sleep'],
		hides: ['mcpx_call', 'echo'],
	},
	passthrough: {
		env: { MCPX_SERVE_MODE: 'full', MCPX_MCP_PASSTHROUGH: 'scripted' },
		request: (tool, args) => ({ name: tool, arguments: args }),
		lists: ['echo', 'sleep'],
		hides: ['mcpx_call', 'scripted__echo'],
	},
};

for (const [name, mode] of Object.entries(modes))
	test(`mode ${name}: tools are listed and called, with progress, at once, and given up`, async (t) => {
		const { daemon, url, scratch } = await endpoint(t, { env: mode.env });
		const client = await httpClient(scratch, url);
		const { tools } = await client.listTools();
		const names = tools.map((tool) => tool.name);
		for (const listed of mode.lists) assert.ok(names.includes(listed), listed);
		for (const hidden of mode.hides) assert.ok(!names.includes(hidden), hidden);
		for (const tool of tools) assert.equal(tool.inputSchema.type, 'object');
		const call = (tool, args, options) => client.callTool(mode.request(tool, args), undefined, options);

		assert.equal(text(await call('echo', { text: 'h\u00e9llo' })), 'h\u00e9llo');
		assert.equal((await call('fail', {})).isError, true);

		const seen = [];
		const done = await callWithProgress(client, mode.request('progress', { steps: 3, ms: 100 }), ({ progress }) => seen.push(progress));
		assert.equal(text(done), '3 steps');
		assert.deepEqual(seen, [1, 2, 3]);

		// Slow calls hold up nobody.
		const stop = new AbortController();
		const slow = [1, 2].map(() => call('sleep', { ms: 600_000 }, { signal: stop.signal }));
		const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => call('echo', { text: `${i}` })));
		assert.deepEqual(answers.map(text), answers.map((_, i) => `${i}`));
		stop.abort('enough');
		for (const given of slow) await assert.rejects(given, /enough/);

		// A cancelled call ends at the server, which is free again.
		const giveUp = new AbortController();
		const given = call('sleep', { ms: 600_000 }, { signal: giveUp.signal });
		await untilCalls(daemon.port, 1);
		giveUp.abort('enough');
		await assert.rejects(given, /enough/);
		await untilCalls(daemon.port, 0);
		assert.equal(text(await call('echo', { text: 'after' })), 'after');
	});

test('what a client says beside the arguments reaches the server, whichever way the call goes', async (t) => {
	const _meta = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'example.com/note': { n: 1 } };
	for (const [env, request] of [
		[{}, { name: 'mcpx_call', arguments: { server: 'scripted', tool: 'beside', args: {} } }],
		[{ MCPX_SERVE_MODE: 'full' }, { name: 'scripted__beside', arguments: {} }],
	]) {
		const { url, scratch } = await endpoint(t, { env });
		const client = await httpClient(scratch, url);
		const { progressToken, ...rest } = JSON.parse(text(await client.callTool({ ...request, _meta })));
		assert.deepEqual(rest, _meta, request.name);
	}
});

test('the tools of the facade take what their schemas say', async (t) => {
	const { url, scratch } = await endpoint(t);
	const client = await httpClient(scratch, url);
	const { tools } = await client.listTools();
	const inputs = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties)]));
	assert.deepEqual(inputs.mcpx_namespaces, []);
	assert.deepEqual(inputs.mcpx_status, []);
	assert.deepEqual(inputs.mcpx_call, ['namespace', 'tool', 'arguments', 'timeoutMs', 'links']);
	assert.deepEqual(inputs.mcpx_search, ['query', 'limit']);
	assert.deepEqual(inputs.mcpx_types.slice(0, 1), ['namespaces']);
	assert.deepEqual(inputs.mcpx_exec, ['source', 'options', 'timeoutSec']);
	assert.deepEqual(tools.find(({ name }) => name === 'mcpx_call').inputSchema.required, ['namespace', 'tool']);
	assert.deepEqual(tools.find(({ name }) => name === 'mcpx_types').inputSchema.properties.namespaces.items, { type: 'string' });
	for (const { name, annotations } of tools) assert.deepEqual(Object.keys(annotations), ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'], name);

	const call = async (name, args) => text(await client.callTool({ name, arguments: args }));
	assert.equal(await call('mcpx_call', { namespace: 'scripted', tool: 'echo', arguments: { text: 'x' } }), 'x');
	assert.equal(JSON.parse(await call('mcpx_search', { query: 'echo', limit: 1 }))[0].tool, 'echo');
	assert.match(await call('mcpx_types', { namespaces: ['scripted'] }), /scripted/);
	assert.equal(JSON.parse(await call('mcpx_namespaces', {}))[0].namespace, 'scripted');
	assert.equal(JSON.parse(await call('mcpx_status', {})).servers[0].name, 'scripted');
	assert.match(await call('mcpx_call', { namespace: 'scripted', tool: 7 }), /"tool" must be a string, and is 7/);
	const link = (await client.callTool({ name: 'mcpx_call', arguments: { namespace: 'scripted', tool: 'image', links: true } })).content[0];
	assert.equal(link.type, 'resource_link');
	assert.equal(JSON.parse(await call('mcpx_artifacts', {})).artifacts[0].uri, link.uri);
	assert.equal(JSON.parse(await call('mcpx_artifact_delete', { id: link.uri.split('/').pop() })).deleted, link.uri.split('/').pop());
	const run = await client.callTool({ name: 'mcpx_exec', arguments: { source: "await artifact('a.txt', 'hello'); return (await scripted.echo({ text: 'y' })).length" } });
	assert.deepEqual(run.content.map(({ type }) => type), ['text', 'resource_link']);
	assert.equal(text(run).trim(), '1');
	assert.match(run.content[1].uri, /^mcpx:\/\/artifacts\/art-[0-9a-f]{32}$/);
});

test('a name that models cannot take has a short form, and both are called', async (t) => {
	const long = `the_${'very_'.repeat(20)}long_tool`;
	const odd = 'odd name/with.dots';
	const server = scriptedServer({ tools: [long, odd].map((name) => ({ name, inputSchema: { type: 'object' } })) });
	const listed = [];
	for (let start = 0; start < 2; start++) {
		const { url, scratch } = await endpoint(t, { mcpServers: { scripted: server }, env: { MCPX_SERVE_MODE: 'full' } });
		const client = await httpClient(scratch, url);
		const names = (await client.listTools()).tools.map(({ name }) => name);
		assert.equal(new Set(names).size, names.length);
		for (const name of names) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
		assert.ok(names.every((name) => name.startsWith('scripted__')));
		listed.push(names);
		// The scripted server knows its tools by their own names only, and answers these with their arguments.
		const short = names.find((name) => name.startsWith('scripted__the_very_'));
		for (const name of [short, `scripted__${long}`]) {
			assert.equal(text(await client.callTool({ name, arguments: { a: 1 } })), '{"a":1}', name);
		}
	}
	assert.deepEqual(listed[0], listed[1], 'the same after a restart');
});

test('a name that nobody has is an error that says so', async (t) => {
	const { url, scratch } = await endpoint(t);
	const client = await httpClient(scratch, url);
	await assert.rejects(client.callTool({ name: 'nobody', arguments: {} }), (error) => error.code === -32602 && /unknown tool: nobody/.test(error.message));
	const wrong = await client.callTool({ name: 'mcpx_call', arguments: { tool: 'echo' } });
	assert.equal(wrong.isError, true);
	assert.match(text(wrong), /"namespace" is missing/);
});

// A way to the daemon that breaks when it is told to.
async function breakable(t, port) {
	const open = new Set();
	const state = { connections: 0, breaks: 0 };
	const server = net.createServer((near) => {
		const far = net.connect(port, '127.0.0.1');
		state.connections++;
		for (const socket of [near, far]) {
			open.add(socket);
			socket.on('error', () => {});
			socket.on('close', () => {
				open.delete(socket);
				near.destroy();
				far.destroy();
			});
		}
		near.pipe(far);
		far.pipe(near);
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => {
		for (const socket of open) socket.destroy();
		server.close();
	});
	state.port = server.address().port;
	state.cut = () => {
		state.breaks++;
		for (const socket of open) socket.destroy();
	};
	return state;
}

const reconnectionOptions = { initialReconnectionDelay: 10, maxReconnectionDelay: 50, reconnectionDelayGrowFactor: 1, maxRetries: 20 };

test('a client whose connection breaks during a call gets the answer, once', async (t) => {
	const { daemon, scratch } = await endpoint(t, { env: { MCPX_SERVE_MODE: 'full' } });
	const way = await breakable(t, daemon.port);
	const client = await httpClient(scratch, `http://127.0.0.1:${way.port}/mcp`, { reconnectionOptions });
	client.onerror = () => {};
	assert.equal(client.transport.protocolVersion, '2025-11-25');
	let token;
	const cut = new Promise((resolve) => {
		token = (id) => resolve(id);
	});
	const asked = client.callTool({ name: 'scripted__sleep', arguments: { ms: 500 } }, undefined, { onresumptiontoken: (id) => token(id) });
	assert.match(await cut, /^post-\d+-\d+$/);
	way.cut();
	assert.equal(text(await asked), 'slept 500 ms');
	assert.equal(way.breaks, 1);

	// Progress that came while nobody listened comes, too; and a second break harms no more than the first.
	const seen = [];
	const stepping = callWithProgress(client, { name: 'scripted__progress', arguments: { steps: 8, ms: 60 } }, ({ progress }) => {
		seen.push(progress);
		if (progress === 2 || progress === 5) way.cut();
	});
	assert.equal(text(await stepping), '8 steps');
	assert.deepEqual(seen, [1, 2, 3, 4, 5, 6, 7, 8]);
	assert.equal(way.breaks, 3);
});

const json = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

async function legacySession(port, protocolVersion) {
	const hello = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo: { name: 'wire', version: '1' } } };
	const opened = await post(port, '/mcp', hello, { headers: json });
	assert.equal(opened.json.result.protocolVersion, protocolVersion);
	const headers = { ...json, 'mcp-session-id': opened.headers['mcp-session-id'], 'mcp-protocol-version': protocolVersion };
	assert.equal((await post(port, '/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }, { headers })).status, 202);
	return headers;
}

test('a stream begins with an id in 2025-11-25 only, and what is kept has a bound', async (t) => {
	const { daemon } = await endpoint(t, { env: { MCPX_SERVE_MODE: 'full', MCPX_PROTO_REPLAY_EVENTS: '2', MCPX_PROTO_REPLAY_BYTES: '4KiB' } });
	const call = (id, name, args) => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: `scripted__${name}`, arguments: args, _meta: { progressToken: 't' } } });
	for (const version of ['2025-03-26', '2025-06-18', '2025-11-25']) {
		const headers = await legacySession(daemon.port, version);
		const all = [];
		for await (const event of await events(daemon.port, '/mcp', { method: 'POST', headers, body: call(1, 'progress', { steps: 3, ms: 20 }) })) all.push(event);
		const messages = all.filter(({ data }) => data).map(({ data }) => JSON.parse(data));
		assert.equal(messages.length, 4);
		assert.equal(messages.at(-1).id, 1);
		assert.ok(all.filter(({ data }) => data).every(({ id }) => /^post-1-\d+$/.test(id)));
		assert.equal(all.some(({ data, id }) => !data && id), version === '2025-11-25');
		// Two events are kept: the answer and the progress before it.
		const again = [];
		for await (const event of await events(daemon.port, '/mcp', { headers: { ...headers, 'last-event-id': all.find(({ data }) => data).id } })) again.push(event);
		assert.deepEqual(again.map(({ id }) => id), all.slice(-2).map(({ id }) => id));
		const foreign = await request(daemon.port, 'GET', '/mcp', { headers: { ...headers, 'last-event-id': 'post-99-1' } });
		assert.equal(foreign.status, 400);
		assert.match(foreign.json.error.message, /not kept any more/);
	}
});

const meta = (version = '2026-07-28') => ({ 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientCapabilities': {} });

test('headers repeat what the body says, also what the tool of a server over stdio asks for', async (t) => {
	const routed = {
		name: 'routed',
		inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, size: { type: 'object', properties: { width: { type: 'integer', 'x-mcp-header': 'Width' } } } } },
	};
	// Another of its name, which asks for none.
	const plain = { name: 'routed', title: 'plain', inputSchema: { type: 'object', properties: { region: { type: 'string' } } } };
	for (const [env, name] of [
		[{ MCPX_SERVE_MODE: 'full' }, 'scripted__routed'],
		[{ MCPX_SERVE_MODE: 'full', MCPX_MCP_PASSTHROUGH: 'scripted' }, 'routed'],
	]) {
		const { daemon } = await endpoint(t, { mcpServers: { scripted: scriptedServer({ tools: [routed, plain] }) }, env });
		const modern = (method, params, headers) => post(daemon.port, '/mcp', { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta() } }, { headers: { ...json, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...headers } });
		const { tools } = (await modern('tools/list', {})).json.result;
		assert.deepEqual(tools.find((tool) => tool.name === name).inputSchema, routed.inputSchema);
		const call = (args, headers) => modern('tools/call', { name, arguments: args }, { 'mcp-name': name, ...headers });
		const args = { region: 'us-west1', size: { width: 42 } };
		const agreed = { 'mcp-param-region': 'us-west1', 'mcp-param-width': '42.0' };
		assert.equal((await call(args, agreed)).status, 200);
		assert.equal((await call({ region: '\u4e16' }, { 'mcp-param-region': '=?base64?5LiW?=' })).status, 200);
		assert.equal((await call({ region: null }, {})).status, 200);
		const twin = tools.find(({ title }) => title === 'plain').name;
		assert.equal((await modern('tools/call', { name: twin, arguments: args }, { 'mcp-name': twin })).status, 200);
		for (const [given, headers, problem] of [
			[args, {}, /Mcp-Param-Region is missing/],
			[args, { ...agreed, 'mcp-param-width': '43' }, /Mcp-Param-Width does not say what the body says/],
			[{}, { 'mcp-param-region': 'x' }, /stands for an argument that the body does not have/],
			[{ region: 'x' }, { 'mcp-param-region': '=?base64?!?=' }, /malformed Base64/],
			[args, { ...agreed, 'mcp-name': 'other' }, /the header Mcp-Name is "other"/],
			[args, { ...agreed, 'mcp-method': 'tools/list' }, /the header Mcp-Method is "tools\/list"/],
			[args, { ...agreed, 'mcp-protocol-version': '2025-11-25' }, /the header MCP-Protocol-Version is "2025-11-25"/],
		]) {
			const answer = await call(given, headers);
			assert.equal(answer.status, 400, String(problem));
			assert.equal(answer.json.error.code, -32020);
			assert.match(answer.json.error.message, problem);
		}
	}
});

test('a modern client that goes away cancels, and can take up nothing', async (t) => {
	const { daemon } = await endpoint(t, { env: { MCPX_SERVE_MODE: 'full', MCPX_TRANSPORT_SSE_KEEP_ALIVE: '10ms' } });
	await untilWarm(daemon.port);
	const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'scripted__sleep', arguments: { ms: 600_000 }, _meta: meta() } });
	const stream = await events(daemon.port, '/mcp', { method: 'POST', headers: { ...json, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'scripted__sleep' }, body });
	assert.equal(stream.status, 200);
	await untilCalls(daemon.port, 1);
	stream.close();
	await untilCalls(daemon.port, 0);
	const resumed = await request(daemon.port, 'GET', '/mcp', { headers: { accept: 'text/event-stream', 'mcp-protocol-version': '2026-07-28', 'last-event-id': 'post-1-1' } });
	assert.equal(resumed.status, 400);
});

test('one depth of JSON for everyone outside', async (t) => {
	const { daemon } = await endpoint(t, { env: { MCPX_JSON_MAX_DEPTH: '16', MCPX_SERVE_MODE: 'full' } });
	const deep = (n) => `${'['.repeat(n)}${']'.repeat(n)}`;
	const v1 = (n) => post(daemon.port, '/v1/call', `{"server":"scripted","tool":"echo","args":{"x":${deep(n)}}}`);
	assert.equal((await v1(14)).status, 200);
	const refused = await v1(15);
	assert.equal(refused.status, 400);
	assert.match(refused.json.error, /more than 16 levels of nested arrays and objects/);
	const headers = await legacySession(daemon.port, '2025-11-25');
	const mcp = (n) => post(daemon.port, '/mcp', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"scripted__echo","arguments":{"x":${deep(n)}}}}`, { headers });
	assert.ok(rpcAnswer(await mcp(13)).result);
	assert.match(rpcAnswer(await mcp(14)).error.message, /more than 16 levels/);
	// What a server answers is read under the same limit.
	const answered = (depth) => post(daemon.port, '/v1/call', { server: 'scripted', tool: 'nested', args: { depth } });
	assert.equal((await answered(13)).status, 200);
	const unread = await answered(14);
	assert.equal(unread.status, 502);
	assert.match(unread.json.error, /more than 16 levels/);
	assert.equal((await v1(1)).status, 200, 'and harms no other call');
});

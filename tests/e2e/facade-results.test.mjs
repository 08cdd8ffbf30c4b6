// What a model gets back: results that fit its context, links that lead somewhere, and errors that it can read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDaemon } from '../lib/daemon.mjs';
import { get, post, request, rpcAnswer } from '../lib/http.mjs';
import { httpClient, stdioClient } from '../lib/mcp.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';

async function endpoint(t, { mcpServers = { scripted: scriptedServer() }, env = {} } = {}) {
	const scratch = newScratch(t);
	const config = scratch.writeConfig({ mcpServers });
	const daemon = await startDaemon(scratch, { config, tcp: true, env });
	return { scratch, config, daemon, url: `${daemon.url}/mcp` };
}

const call = (client, tool, args = {}, more = {}) => client.callTool({ name: 'mcpx_call', arguments: { namespace: 'scripted', tool, arguments: args, ...more } });
const put = async (daemon, name, body, mime) => (await request(daemon.socket, 'POST', `/v1/artifacts?name=${name}${mime ? `&mime=${encodeURIComponent(mime)}` : ''}`, { body })).json;

test('artifacts are resources: listed, read as what they are, and in parts', async (t) => {
	const { daemon, scratch, url } = await endpoint(t, { env: { MCPX_MCP_RESOURCE_MAX: '4KiB' } });
	const client = await httpClient(scratch, url);
	assert.deepEqual(client.getServerCapabilities().resources, {});
	assert.deepEqual((await client.listResources()).resources, []);
	const { resourceTemplates } = await client.listResourceTemplates();
	assert.deepEqual(resourceTemplates.map(({ uriTemplate }) => uriTemplate), ['mcpx://artifacts/{id}{?offset}']);

	const text = await put(daemon, 'note.txt', 'h\u00e9llo');
	const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);
	const image = await put(daemon, 'dot.png', bytes, 'image/png');
	const empty = await put(daemon, 'empty.txt', '');
	const listed = (await client.listResources()).resources;
	assert.deepEqual(listed.map(({ uri }) => uri).sort(), [text.uri, image.uri, empty.uri].sort());
	assert.deepEqual(listed.find(({ uri }) => uri === image.uri), { uri: image.uri, name: 'dot.png', mimeType: 'image/png', size: 6 });
	assert.deepEqual((await client.readResource({ uri: text.uri })).contents, [{ uri: text.uri, mimeType: text.mime, text: 'h\u00e9llo' }]);
	assert.deepEqual((await client.readResource({ uri: image.uri })).contents, [{ uri: image.uri, mimeType: 'image/png', blob: bytes.toString('base64') }]);
	assert.deepEqual((await client.readResource({ uri: empty.uri })).contents, [{ uri: empty.uri, mimeType: empty.mime, text: '' }]);

	// Text that is too long comes from its beginning, and each part says what the next is called.
	const story = '\u6f22'.repeat(3000);
	const long = await put(daemon, 'long.txt', story);
	let whole = '';
	for (let uri = long.uri, parts = 0; uri; parts++) {
		assert.ok(parts < 4);
		const { contents } = await client.readResource({ uri });
		whole += contents[0].text;
		uri = contents[1]?.uri;
		if (parts === 0) assert.match(contents[1].text, new RegExp(`the bytes from 0 to 4094 of 9000 \\(mcp.resourceMax\\). Read ${long.uri.replaceAll('/', '.')}.offset=4095`));
	}
	assert.equal(whole, story);

	// A part of an image is no image.
	const large = await put(daemon, 'large.png', Buffer.alloc(5000, 7), 'image/png');
	await assert.rejects(client.readResource({ uri: large.uri }), /this artifact has [^ ]+, and one answer at most 4KiB \(mcp.resourceMax\): read mcpx:[^ ]+\?offset=0 and on/);
	const [part, rest] = (await client.readResource({ uri: `${large.uri}?offset=0` })).contents;
	const [last, none] = (await client.readResource({ uri: rest.uri })).contents;
	assert.deepEqual(Buffer.concat([part, last].map(({ blob }) => Buffer.from(blob, 'base64'))), Buffer.alloc(5000, 7));
	assert.equal(none, undefined);

	const unknown = `mcpx://artifacts/art-${'0'.repeat(32)}`;
	for (const uri of [unknown, 'mcpx://artifacts/', 'mcpx://artifacts/x', 'mcpx://scripted/x', 'file:///etc/passwd', '', `${text.uri}?range=1`, `${text.uri}?offset=-1`])
		await assert.rejects(client.readResource({ uri }), (error) => error.code === -32002 && error.data.uri === uri, uri);
	await assert.rejects(client.readResource({ uri: `${text.uri}?offset=6` }), (error) => error.code === -32602 && /behind the artifact's end/.test(error.message));

	const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
	const modern = (uri) =>
		post(daemon.port, '/mcp', { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri, _meta: meta } }, { headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'resources/read', 'mcp-name': uri } });
	const read = (await modern(text.uri)).json.result;
	assert.equal(read.contents[0].text, 'h\u00e9llo');
	assert.deepEqual([read.resultType, typeof read.ttlMs, read.cacheScope], ['complete', 'number', 'private']);
	assert.equal((await modern(unknown)).json.error.code, -32602);
});

test('without a store there is nothing to read, and nothing breaks', async (t) => {
	const { scratch, url } = await endpoint(t, { env: { MCPX_ARTIFACTS_ENABLED: 'false', MCPX_MCP_TEXT_MAX: '4KiB' } });
	const client = await httpClient(scratch, url);
	assert.deepEqual((await client.listResources()).resources, []);
	await assert.rejects(client.readResource({ uri: 'mcpx://artifacts/x' }), /artifacts are switched off/);
	const lost = await call(client, 'big', { bytes: 5000 });
	assert.deepEqual(lost.content.map(({ text }) => text.length > 4096 || text), ['x'.repeat(4096), '[mcpx: these are the first 4096 of 5000 bytes (mcp.textMax). The rest is lost, since it could not be stored: artifacts are switched off (artifacts.enabled). Ask for less.]']);
	assert.equal((await call(client, 'image')).content[0].type, 'image');
});

test('a link that a script returns can be read by the client that ran it', async (t) => {
	const { scratch, config } = await endpoint(t);
	const client = await stdioClient(scratch, ['--config', config, 'serve']);
	const { content } = await client.callTool({ name: 'mcpx_exec', arguments: { source: "return await artifact('a.csv', 'a,b')" } });
	const link = content.find(({ type }) => type === 'resource_link');
	assert.equal((await client.readResource({ uri: link.uri })).contents[0].text, 'a,b');
});

test('media come to a model as links, unless it asks for them or knows no links', async (t) => {
	const { scratch, daemon, url } = await endpoint(t);
	const client = await httpClient(scratch, url);
	const [link] = (await call(client, 'image')).content;
	assert.equal(link.type, 'resource_link');
	assert.match((await client.readResource({ uri: link.uri })).contents[0].blob, /^iVBOR/);
	assert.equal((await call(client, 'image', {}, { links: false })).content[0].type, 'image');

	const accept = { accept: 'application/json, text/event-stream' };
	for (const [version, type] of [['2024-11-05', 'image'], ['2025-03-26', 'image'], ['2025-06-18', 'resource_link'], ['2025-11-25', 'resource_link']]) {
		const hello = await post(daemon.port, '/mcp', { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'w', version: '1' } } }, { headers: accept });
		const headers = { ...accept, 'mcp-session-id': hello.headers['mcp-session-id'] };
		const { result } = rpcAnswer(await post(daemon.port, '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'mcpx_call', arguments: { namespace: 'scripted', tool: 'image' } } }, { headers }));
		assert.equal(result.content[0].type, type, version);
	}
	// Whoever asks over HTTP gets what the server sent.
	assert.equal((await post(daemon.socket, '/v1/call', { server: 'scripted', tool: 'image' })).json.result.content[0].type, 'image');
});

test('what is too long for a model is kept whole, and shown from its beginning', async (t) => {
	const { scratch, daemon, config } = await endpoint(t);
	// Over stdio the official SDK ends the connection at a message of 10 MiB.
	const client = await stdioClient(scratch, ['--config', config, 'serve']);
	const kept = async ({ content }, size, name, mime) => {
		assert.equal(content[0].text.length, 256 << 10);
		assert.match(content[1].text, new RegExp(`the first 262144 of ${size} bytes \\(mcp.textMax\\). All of it is the artifact art-\\w+: read the resource mcpx://artifacts/art-\\w+\\?offset=262144`));
		assert.deepEqual([content[2].type, content[2].name, content[2].mimeType, content[2].size], ['resource_link', name, mime, size]);
		const whole = (await get(daemon.socket, `/v1/artifacts/${content[2].uri.split('/').at(-1)}`)).text;
		assert.equal(whole.slice(0, 100), content[0].text.slice(0, 100));
		assert.equal(Buffer.byteLength(whole), size);
		return whole;
	};
	const printed = await client.callTool({ name: 'mcpx_exec', arguments: { source: "for (let i = 0; i < 12; i++) console.log('x'.repeat(1 << 20)); return 'done'" } });
	assert.match(await kept(printed, printed.content[2].size, 'output.txt', 'text/plain'), /\ndone\n?$/);
	assert.ok(printed.content[2].size >= 12 << 20);

	await kept(await call(client, 'big', { bytes: 3 << 20 }), 3 << 20, 'result.txt', 'text/plain');
	const failed = await call(client, 'fail', { text: 'f'.repeat(1 << 20) });
	assert.equal(failed.isError, true);
	await kept(failed, 1 << 20, 'result.txt', 'text/plain');
	const structured = await call(client, 'structured', { value: 'v'.repeat(1 << 20) });
	assert.equal(JSON.parse(await kept(structured, structured.content[2].size, 'result.json', 'application/json')).structuredContent.value.length, 1 << 20);
	assert.equal((await call(client, 'big', { bytes: 3 << 20 }, { links: false })).content[0].text.length, 3 << 20);
	assert.equal((await client.callTool({ name: 'mcpx_health', arguments: {} })).structuredContent.status, 'ok');

	// In mode full a result is the server's, whatever its size.
	const full = await stdioClient(scratch, ['--config', config, 'serve', '--mode', 'full']);
	assert.equal((await full.callTool({ name: 'scripted__big', arguments: { bytes: 3 << 20 } })).content[0].text.length, 3 << 20);
	assert.equal((await full.callTool({ name: 'scripted__image', arguments: {} })).content[0].type, 'image');
});

test('answers of other tools are kept as well', async (t) => {
	const tools = Array.from({ length: 50 }, (_, i) => ({ name: `t${i}`, description: 'd'.repeat(1000), inputSchema: { type: 'object' } }));
	const { scratch, url } = await endpoint(t, { mcpServers: { scripted: scriptedServer({ tools }) }, env: { MCPX_MCP_TEXT_MAX: '4KiB' } });
	const client = await httpClient(scratch, url);
	for (const [name, kept, ends] of [['mcpx_tools', 'tools.json', ']'], ['mcpx_types', 'types.txt', '\n']]) {
		const { content, structuredContent } = await client.callTool({ name, arguments: {} });
		assert.equal(structuredContent, undefined);
		assert.equal(content[2].name, kept);
		const { contents } = await client.readResource({ uri: content[2].uri });
		assert.ok(contents[0].text.startsWith(content[0].text));
		assert.ok(contents[0].text.endsWith(ends));
	}
});

test('a model reads what it did wrong, where the protocol has no error to tell', async (t) => {
	const { scratch, daemon, url } = await endpoint(t, { mcpServers: { scripted: scriptedServer(), broken: { command: 'false' } } });
	const client = await httpClient(scratch, url);
	const facade = (args) => client.callTool({ name: 'mcpx_call', arguments: args });
	for (const [args, problem, outcome] of [
		[{ namespace: 'nobody', tool: 'x' }, /no server is called "nobody"; there are: scripted, broken/, 'not-sent'],
		[{ namespace: 'scripted', tool: 'nothing' }, /nothing/, undefined],
		[{ namespace: 'broken', tool: 'x' }, /broken/, 'not-sent'],
		[{ namespace: 'scripted', tool: 'error', arguments: { text: 'it says no' } }, /it says no/, 'answered'],
		[{ namespace: 'scripted', tool: 'exit', arguments: { status: 3 } }, /scripted/, 'unknown'],
	]) {
		const { isError, content, structuredContent } = await facade(args);
		assert.equal(isError, true, JSON.stringify(args));
		assert.match(content[0].text, problem);
		assert.equal(structuredContent.error, content[0].text);
		if (outcome) assert.equal(structuredContent.outcome, outcome, JSON.stringify(args));
	}
	assert.deepEqual((await facade({ namespace: 'scripted', tool: 'error' })).structuredContent.upstream, { code: -32042, message: 'refused', data: { seen: true } });
	await assert.rejects(client.callTool({ name: 'nobody', arguments: {} }), (error) => error.code === -32602);

	// What passes through is what the server said: an error of the protocol.
	await startFull(t, scratch, daemon);
});

async function startFull(t, scratch) {
	const full = await stdioClient(scratch, ['--config', scratch.path('config.json'), 'serve', '--mode', 'full', '--passthrough', 'scripted']);
	await assert.rejects(full.callTool({ name: 'error', arguments: { text: 'it says no' } }), (error) => /it says no/.test(error.message) && error.data.seen);
	await assert.rejects(full.callTool({ name: 'broken__x', arguments: {} }), (error) => error.code === -32603);
}

test('who asked for progress hears what a script does, and that it still runs', async (t) => {
	const { scratch, url } = await endpoint(t, { env: { MCPX_TRANSPORT_SSE_KEEP_ALIVE: '20ms' } });
	const client = await httpClient(scratch, url);
	const go = scratch.path('go');
	const heard = [];
	const pause = 'await new Promise((resolve) => setTimeout(resolve, 30));';
	const source = `log.info('counted {n}', { n: 3 }); ${pause} await scripted.echo({ text: 'x' }); ${pause}
		{ const { existsSync } = await import('node:fs'); while (!existsSync(${JSON.stringify(go)})) ${pause} } return 'done'`;
	const onprogress = ({ progress, message }) => {
		heard.push({ progress, message });
		// It has told all that it does when it says several times in a row that it runs.
		if (heard.slice(-3).every((step) => step.message === 'still running') && heard.some((step) => step.message === 'scripted.echo')) scratch.write('go', '');
	};
	const { content } = await client.callTool({ name: 'mcpx_exec', arguments: { source } }, undefined, { onprogress });
	assert.match(content[0].text, /\ndone\n$/);
	assert.deepEqual(heard.map(({ progress }) => progress), heard.map((_, i) => i + 1));
	const messages = heard.map(({ message }) => message).filter((message) => message !== 'still running');
	assert.deepEqual(messages, ['counted 3', 'scripted.echo']);
});

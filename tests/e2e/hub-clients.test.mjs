// The official SDK as the client, over both transports, and official servers behind the hub.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoggingMessageNotificationSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { run } from '../lib/command.mjs';
import { startDaemon } from '../lib/daemon.mjs';
import { callWithProgress, httpClient, stdioClient } from '../lib/mcp.mjs';
import { conformanceServer, everythingServer, filesystemServer, scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';

// A client for each way in, in mode `full`, of one daemon.
async function bothWays(t, serversIn) {
	const scratch = newScratch(t);
	const mcpServers = serversIn(scratch);
	const daemon = await startDaemon(scratch, { config: { mcpServers }, tcp: true, env: { MCPX_SERVE_MODE: 'full' } });
	return {
		scratch,
		clients: {
			stdio: await stdioClient(scratch, ['--config', scratch.path('config.json'), 'serve', '--mode', 'full']),
			http: await httpClient(scratch, `${daemon.url}/mcp`),
		},
	};
}

async function everyTool(mcp) {
	const tools = [];
	for (let cursor, page; page === undefined || cursor; cursor = page.nextCursor) {
		page = await mcp.listTools(cursor ? { cursor } : {});
		tools.push(...page.tools);
	}
	return tools;
}

const soon = (ms, promise, what) => {
	let timer;
	const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`${what}: not within ${ms} ms`)), ms)));
	return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

test('official servers through the hub, for the official client', async (t) => {
	const { scratch, clients } = await bothWays(t, (home) => {
		home.write('served/note.txt', 'a note\n');
		return { everything: everythingServer(), files: filesystemServer(home.path('served')) };
	});
	const file = scratch.path('served/note.txt');
	for (const [way, mcp] of Object.entries(clients)) {
		const names = (await everyTool(mcp)).map(({ name }) => name);
		assert.ok(names.includes('everything__echo') && names.includes('files__read_text_file'), `${way}: ${names}`);
		await mcp.ping();
		assert.equal((await mcp.callTool({ name: 'everything__echo', arguments: { message: 'hello' } })).content[0].text, 'Echo: hello');
		const sum = await mcp.callTool({ name: 'everything__get-sum', arguments: { a: 2, b: 40 } });
		assert.match(sum.content[0].text, /42/);
		const image = await mcp.callTool({ name: 'everything__get-tiny-image', arguments: {} });
		assert.ok(image.content.some(({ type, data }) => type === 'image' && data.length > 100));
		assert.match((await mcp.callTool({ name: 'files__read_text_file', arguments: { path: file } })).content[0].text, /a note/);
		const refused = await mcp.callTool({ name: 'files__read_text_file', arguments: { path: '/etc/passwd' } });
		assert.equal(refused.isError, true);
		const steps = [];
		await callWithProgress(mcp, { name: 'everything__trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 } }, ({ progress }) => steps.push(progress));
		assert.deepEqual(steps, [1, 2, 3], way);
		const abort = new AbortController();
		const cut = mcp.callTool({ name: 'everything__trigger-long-running-operation', arguments: { duration: 600, steps: 2 } }, undefined, { signal: abort.signal });
		setTimeout(() => abort.abort('enough'), 50);
		await assert.rejects(cut, /enough|abort/i);
	}
});

test('a change of tools reaches every client', async (t) => {
	const { clients } = await bothWays(t, () => ({ one: scriptedServer() }));
	const hasLate = async (mcp) => (await everyTool(mcp)).some(({ name }) => name === 'one__late');
	const heard = [];
	for (const [way, mcp] of Object.entries(clients)) {
		assert.ok(!(await hasLate(mcp)));
		// The hub's own first reading of the servers may be news, too: what counts is a word after which the tool is there.
		const found = new Promise((resolve, reject) => {
			mcp.setNotificationHandler(ToolListChangedNotificationSchema, () => hasLate(mcp).then((is) => is && resolve(), reject));
		});
		heard.push(() => soon(10_000, found, `notifications/tools/list_changed over ${way}`));
	}
	await clients.stdio.callTool({ name: 'one__announce', arguments: {} });
	for (const wait of heard) await wait();
	for (const mcp of Object.values(clients)) assert.equal((await mcp.callTool({ name: 'one__late', arguments: {} })).content[0].text, 'late');
});

test('log messages of a server reach who called it, from the level that it asked for', async (t) => {
	const { scratch, clients } = await bothWays(t, () => ({ one: conformanceServer() }));
	const heard = { stdio: [], http: [] };
	for (const [way, mcp] of Object.entries(clients)) {
		assert.ok(mcp.getServerCapabilities().logging, way);
		mcp.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => heard[way].push(params));
	}
	const three = ['Tool execution started', 'Tool processing data', 'Tool execution completed'];
	await clients.http.setLoggingLevel('debug');
	await clients.http.callTool({ name: 'one__test_tool_with_logging', arguments: {} });
	assert.deepEqual(heard.http.map(({ data }) => data), three);
	assert.deepEqual(heard.stdio, [], 'what was logged for one client came to another');
	await clients.http.setLoggingLevel('error');
	await clients.http.callTool({ name: 'one__test_tool_with_logging', arguments: {} });
	assert.equal(heard.http.length, 3);
	// Somebody else's "error" takes nothing from who never asked.
	await clients.stdio.callTool({ name: 'one__test_tool_with_logging', arguments: {} });
	assert.deepEqual(heard.stdio.map(({ level, data }) => [level, data]), three.map((data) => ['info', data]));
	assert.equal((await run(scratch, ['--config', scratch.path('config.json'), 'call', 'one.test_simple_text'])).status, 0);
});

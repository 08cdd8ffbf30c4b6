// What the configuration says, while it is edited, and while part of it is broken.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpClient } from '../lib/mcp.mjs';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { startDaemon } from '../lib/daemon.mjs';
import { get, post, request } from '../lib/http.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';
import { until } from '../lib/wait.mjs';

const call = (daemon, server, tool, args = {}) => post(daemon.socket, '/v1/call', { server, tool, args });
const pidOf = async (daemon, server) => (await call(daemon, server, 'pid')).json.result?.content[0].text;
const statusOf = async (daemon, name) => (await get(daemon.socket, '/v1/status')).json.servers.find((server) => server.name === name);

const quick = { MCPX_DAEMON_REAP_INTERVAL: '100ms' };

test('edits of the file take effect by themselves, and a broken one keeps what was and says so', async (t) => {
	const scratch = newScratch(t);
	const daemon = await startDaemon(scratch, {
		config: { mcpServers: { kept: scriptedServer(), changed: scriptedServer(), removed: scriptedServer() } },
		tcp: true,
		env: { ...quick, MCPX_SERVE_MODE: 'full' },
	});
	const mcp = await httpClient(scratch, `${daemon.url}/mcp`);
	let told = 0;
	mcp.setNotificationHandler(ToolListChangedNotificationSchema, () => void told++);
	const before = { kept: await pidOf(daemon, 'kept'), changed: await pidOf(daemon, 'changed') };

	scratch.writeConfig({
		mcpServers: { kept: scriptedServer(), changed: scriptedServer({ name: 'other' }), added: scriptedServer({ tools: [{ name: 'extra', inputSchema: { type: 'object' } }] }) },
	});
	await until(async () => (await statusOf(daemon, 'added')) && !(await statusOf(daemon, 'removed')), 'the added server');
	assert.equal(await pidOf(daemon, 'kept'), before.kept, 'what did not change keeps its process');
	assert.notEqual(await pidOf(daemon, 'changed'), before.changed);
	const gone = await call(daemon, 'removed', 'pid');
	assert.equal(gone.status, 400);
	assert.match(gone.json.error, /no server is called "removed"; there are: kept, changed, added/);
	// A client that was connected all the while is told, and sees what there is now.
	await until(() => told > 0, 'a word to the client');
	const names = (await mcp.listTools()).tools.map(({ name }) => name);
	assert.ok(names.includes('added__extra') && names.includes('kept__echo'));
	assert.ok(!names.some((name) => name.startsWith('removed__')));

	scratch.write('config.json', '{ "mcpServers": { "kept": {} ');
	await until(() => /config\.refused.*config\.json:1:\d+/.test(daemon.log), 'a line of the log');
	assert.equal(await pidOf(daemon, 'kept'), before.kept);
	assert.equal((await call(daemon, 'added', 'echo', { text: 'still' })).status, 200);

	scratch.writeConfig({ mcpServers: { kept: scriptedServer() } });
	await until(async () => !(await statusOf(daemon, 'added')), 'the mended file');
	assert.equal(await pidOf(daemon, 'kept'), before.kept);
});

test('one entry that is broken, mended and broken again leaves the others alone', async (t) => {
	const scratch = newScratch(t);
	const good = scriptedServer();
	const daemon = await startDaemon(scratch, { config: { mcpServers: { good, bad: { ...good, mcpx: { mode: 1 } } } } });
	const reload = async (bad) => {
		scratch.writeConfig({ mcpServers: { good, bad } });
		return post(daemon.socket, '/v1/refresh');
	};
	const pid = await pidOf(daemon, 'good');
	assert.match((await call(daemon, 'bad', 'pid')).json.error, /unknown key "mode"/);
	assert.equal((await reload(scriptedServer({ name: 'mended' }))).status, 200);
	assert.match(await pidOf(daemon, 'bad'), /^\d+$/);
	await reload({ ...good, env: { TOKEN: '${NOBODY_SETS_THIS}' } });
	assert.match((await call(daemon, 'bad', 'pid')).json.error, /NOBODY_SETS_THIS/);
	assert.equal(await pidOf(daemon, 'good'), pid);
});

test('a tool that needs another server comes and goes with it', async (t) => {
	const scratch = newScratch(t);
	const needy = { ...scriptedServer(), mcpx: { preconditions: { pid: { requiresServer: 'other' }, 'ec*': { requiresSecret: 'NOBODY_SETS_THIS' } } } };
	const daemon = await startDaemon(scratch, { config: { mcpServers: { needy, other: scriptedServer({ name: 'other' }) } } });
	const listed = async () => (await get(daemon.socket, '/v1/tools?ns=needy')).json.map(({ tool }) => tool);
	assert.match(await pidOf(daemon, 'needy'), /^\d+$/);
	assert.deepEqual((await listed()).filter((tool) => ['pid', 'echo'].includes(tool)), ['pid']);
	scratch.writeConfig({ mcpServers: { needy, other: { ...scriptedServer(), disabled: true } } });
	await post(daemon.socket, '/v1/refresh');
	const hidden = await call(daemon, 'needy', 'pid');
	assert.deepEqual([hidden.status, hidden.json.error], [400, 'needy: the tool "pid" is hidden by the configuration (tools, excludeTools, preconditions)']);
	assert.ok(!(await listed()).includes('pid'));
	const off = await call(daemon, 'other', 'pid');
	assert.equal(off.status, 400);
	assert.match(off.json.error, /^the server "other" is switched off \(disabled, enabled or default in .*config\.json:\d+\)$/);
});

test('hot settings reach running servers, and their processes stay', async (t) => {
	const scratch = newScratch(t);
	const daemon = await startDaemon(scratch, { config: { mcpServers: { one: scriptedServer(), two: scriptedServer() } }, env: quick });
	const set = (path, value) => request(daemon.socket, 'PUT', `/v1/settings/${path}`, { body: { value } });
	const pid = await pidOf(daemon, 'one');
	assert.equal((await set('pool.callTimeout', '200ms')).json.applied, true);
	const late = await call(daemon, 'one', 'sleep', { ms: 60_000 });
	assert.match(late.json.error, /no answer and no progress within 200 ms \(pool\.callTimeout\)/);
	assert.equal((await set('pool.callTimeout', '10m')).json.applied, true);
	assert.equal((await set('pool.max', '2')).json.applied, true);
	assert.equal(await pidOf(daemon, 'one'), pid, 'the process that both servers share stays');
	assert.equal(await pidOf(daemon, 'two'), pid);
	assert.equal((await set('pool.idleTimeout', '100ms')).json.applied, true);
	await until(async () => (await statusOf(daemon, 'one')).live === 0, 'the end of what is idle');
	// The file is one of the layers, and as hot.
	scratch.writeConfig({ logging: { level: 'debug' }, mcpServers: { one: scriptedServer(), two: scriptedServer() } });
	await post(daemon.socket, '/v1/refresh');
	assert.equal((await get(daemon.socket, '/v1/settings/logging.level')).json.value, 'debug');
});

test('servers that fail, hang or say odd things hide nobody', async (t) => {
	const scratch = newScratch(t);
	const odd = [
		{ name: 'toplevel', inputSchema: { oneOf: [{ type: 'object' }, { type: 'string' }] } },
		{ name: 'untyped', inputSchema: {} },
		{ name: 'refs', inputSchema: { type: 'object', $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } }, properties: { a: { $ref: '#/$defs/node' } } } },
		{ name: 'schemaless' },
		{ name: 'a name with blanks', inputSchema: { type: 'object', 'x-unknown': { kept: [1, 2.5, null] } } },
		17,
		{ description: 'no name' },
	];
	const daemon = await startDaemon(scratch, {
		config: {
			mcpServers: {
				missing: { command: 'no-such-program-anywhere' },
				failing: scriptedServer({ startFail: 3 }),
				hanging: { ...scriptedServer({ startMs: 600_000 }), mcpx: { startTimeout: '3s' } },
				noisy: scriptedServer({ noise: ['Listening on port 8080', '{"level":"info"}'] }),
				odd: scriptedServer({ tools: odd }),
				plain: scriptedServer({ name: 'plain' }),
			},
		},
		tcp: true,
		env: { MCPX_SERVE_MODE: 'full' },
	});
	const mcp = await httpClient(scratch, `${daemon.url}/mcp`);
	const names = [];
	for (let cursor, page; page === undefined || cursor; cursor = page.nextCursor) {
		page = await mcp.listTools(cursor ? { cursor } : {});
		names.push(...page.tools.map(({ name }) => name));
	}
	for (const name of ['noisy__echo', 'odd__echo', 'odd__refs', 'plain__echo']) assert.ok(names.includes(name), `${name} is missing`);
	// On /v1 each schema is as its server wrote it.
	const known = new Map((await get(daemon.socket, '/v1/tools?ns=odd')).json.map(({ tool, inputSchema }) => [tool, inputSchema]));
	for (const { name, inputSchema } of odd.slice(0, 5)) assert.deepEqual(known.get(name), inputSchema, name);
	assert.ok(!known.has(undefined) && known.has('echo'));
	for (const name of ['noisy', 'odd', 'plain']) assert.equal((await call(daemon, name, 'echo', { text: 'here' })).json.result.content[0].text, 'here');
	// Who is missing, and why, is said.
	await until(async () => (await statusOf(daemon, 'hanging')).lastError, 'the end of the hanging start');
	const status = Object.fromEntries((await get(daemon.socket, '/v1/status')).json.servers.map((server) => [server.name, server]));
	assert.match(status.missing.lastError, /no-such-program-anywhere/);
	assert.match(status.failing.lastError, /exited with code 3 before it was ready; its stderr ends: scripted server: told to fail/);
	assert.match(status.hanging.lastError, /no answer to the handshake within 3s \(pool\.startTimeout\)/);
	assert.equal(status.odd.skippedTools, 2);
	assert.match(status.noisy.instances[0].noiseFirst, /Listening on port 8080/);
});

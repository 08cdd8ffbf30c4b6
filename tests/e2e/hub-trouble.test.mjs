// Servers that break what they should keep: the calls end at once with the reason, and the next ones are served.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { run, runJson } from '../lib/command.mjs';
import { startDaemon } from '../lib/daemon.mjs';
import { get, post } from '../lib/http.mjs';
import { httpClient } from '../lib/mcp.mjs';
import { scriptedServer, smallServer } from '../lib/servers.mjs';
import { newScratch, root } from '../lib/scratch.mjs';

const node = path.join(root, 'node_modules/.bin/node');

const call = (daemon, server, tool, args = {}) => post(daemon.socket, '/v1/call', { server, tool, args });
const textOf = (answer) => answer.json.result.content[0].text;
const statusOf = async (daemon) => (await get(daemon.socket, '/v1/status')).json;

test('a line without end fails its call and those beside it at once, and the next call gets another process', async (t) => {
	const scratch = newScratch(t);
	const env = { MCPX_POOL_LINE_MAX: '1MiB', MCPX_POOL_CLOSE_GRACE: '300ms' };
	const daemon = await startDaemon(scratch, { config: { mcpServers: { one: scriptedServer() } }, env });
	let pid = textOf(await call(daemon, 'one', 'pid'));
	for (const named of [true, false]) {
		const beside = call(daemon, 'one', 'sleep', { ms: 600_000 });
		const answer = await call(daemon, 'one', 'flood', { bytes: 3 << 20, named });
		assert.equal(answer.status, 413, answer.text);
		assert.match(answer.json.error, /^one\.flood: tools\/call: the server.* longer than 1048576 bytes \(pool\.lineMax\)$/);
		const next = textOf(await call(daemon, 'one', 'pid'));
		assert.notEqual(next, pid);
		pid = next;
		assert.match((await beside).json.error, /one\.sleep: .*\(pool\.lineMax\)/);
	}
});

test('an answer over the maximum is dropped in little memory, and its server lives on', async (t) => {
	const scratch = newScratch(t);
	// The grace is also how long such a line may take to end.
	const env = { MCPX_POOL_LINE_MAX: '1MiB', MCPX_POOL_CLOSE_GRACE: '1m' };
	const daemon = await startDaemon(scratch, { config: { mcpServers: { one: scriptedServer() } }, env });
	const pid = textOf(await call(daemon, 'one', 'pid'));
	const answer = await call(daemon, 'one', 'big', { bytes: 100 << 20 });
	assert.equal(answer.status, 413, answer.text);
	assert.equal(answer.json.error, "one.big: tools/call: the server's answer is longer than 1048576 bytes (pool.lineMax)");
	assert.equal(textOf(await call(daemon, 'one', 'pid')), pid);
	const [instance] = (await statusOf(daemon)).servers[0].instances;
	assert.deepEqual(instance.warnings, ['1 of its messages were longer than 1048576 bytes (pool.lineMax) and were dropped']);
});

test('only the call whose wait ran out says so by its exit status', async (t) => {
	const scratch = newScratch(t);
	scratch.env.MCPX_CONFIG = scratch.writeConfig({ mcpServers: { slow: { ...scriptedServer({ startMs: 600_000 }), mcpx: { startTimeout: '500ms' } }, well: smallServer() } });
	const env = { MCPX_DAEMON_WARM: 'false', MCPX_POOL_BACKOFF_STEP: '30s' };
	const daemon = await startDaemon(scratch, { env });
	const cause = 'server slow did not start: no answer to the handshake within 500ms (pool.startTimeout); it wrote nothing to stderr';
	const first = await call(daemon, 'slow', 'echo');
	assert.deepEqual([first.status, first.json.error], [504, cause]);
	const second = await call(daemon, 'slow', 'echo');
	assert.equal(second.status, 503, second.text);
	assert.match(second.json.error, /^1 failed start, next try in [\d.]+m?s: server slow did not start: no answer to the handshake/);
	const third = await run(scratch, ['call', 'slow.echo']);
	assert.equal(third.status, 1);
	assert.ok(third.stderr.startsWith('mcpx: 1 failed start, next try in ') && third.stderr.endsWith(`s: ${cause}\n`), third.stderr);
	// It holds up nobody else, and no list.
	const began = performance.now();
	assert.equal((await run(scratch, ['call', 'well.ping'])).status, 0);
	const listed = await run(scratch, ['ls']);
	assert.equal(listed.status, 0);
	assert.match(listed.stdout, /well/);
	assert.ok(performance.now() - began < 20_000);
});

const has = (command) => spawnSync(command, ['--version']).status === 0;

test('a start that fails is told with its cause, and the status has all that the server wrote', async (t) => {
	const scratch = newScratch(t);
	const frames = Array.from({ length: 20 }, (_, i) => `def f${i}(): f${i + 1}()`).join('\n');
	scratch.write('server.py', `${frames}\ndef f20():\n    raise ValueError('the key is missing')\nf0()\n`);
	const mcpServers = {
		node: { command: node, args: ['/nowhere/of/that/name/server.js'], env: { FORCE_COLOR: '1' } },
		...(has('python3') && { python: { command: 'python3', args: [`${scratch.home}/server.py`] } }),
		shell: { command: 'sh', args: ['-c', 'echo starting >&2; no-such-program --flag'] },
	};
	const causes = {
		node: /its stderr (says|ends): (.*\n)*Error: Cannot find module '\/nowhere\/of\/that\/name\/server\.js'\n(.*\n)*.*Node\.js v\d/,
		python: /its stderr ends: (.*\n)*ValueError: the key is missing$/,
		shell: /its stderr ends: starting\nsh: 1: no-such-program: not found$/,
	};
	scratch.env.MCPX_CONFIG = scratch.writeConfig({ mcpServers });
	const daemon = await startDaemon(scratch, { env: { MCPX_DAEMON_WARM: 'false', MCPX_POOL_BACKOFF_STEP: '30s' } });
	for (const name of Object.keys(mcpServers)) {
		const answer = await call(daemon, name, 'any');
		assert.equal(answer.status, 502, answer.text);
		assert.match(answer.json.error, causes[name]);
	}
	const { servers } = await runJson(scratch, ['status', '--json']);
	const words = Object.fromEntries(servers.map(({ name, lastStderr }) => [name, lastStderr]));
	assert.match(words.node, /^node:internal.*\n(.*\n)*Error: Cannot find module (.*\n)*.*Node\.js v\d/);
	assert.doesNotMatch(words.node, /\x1b/);
	assert.match(words.shell, /^starting\n/);
	const shown = (await run(scratch, ['status'])).stdout;
	assert.match(shown, /Error: Cannot find module '\/nowhere/);
	for (const line of words.node.split('\n')) assert.ok(shown.includes(line.trim()), `${line}\n${shown}`);
	if (words.python) for (const line of words.python.split('\n')) assert.ok(shown.includes(line.trim()), `${line}\n${shown}`);
});

test('a server that another program has switched off is not started, and is shown as off', async (t) => {
	const scratch = newScratch(t);
	const mcpServers = { well: smallServer(), off: { ...scriptedServer({ startFail: 3 }), disabled: true } };
	scratch.env.MCPX_CONFIG = scratch.writeConfig({ mcpServers });
	const daemon = await startDaemon(scratch);
	assert.equal(textOf(await call(daemon, 'well', 'ping')), 'pong');
	const answer = await call(daemon, 'off', 'echo');
	assert.equal(answer.status, 400);
	assert.match(answer.json.error, /^the server "off" is switched off \(disabled, enabled or default in .*config\.json:\d+\)$/);
	assert.deepEqual((await statusOf(daemon)).servers.map(({ name }) => name), ['well']);
	assert.match((await run(scratch, ['servers', 'list'])).stdout, /^off .* off\b/m);
});

test('a server that fails is tried until it comes, which clients are told, and holds nobody up meanwhile', async (t) => {
	const scratch = newScratch(t);
	const late = scriptedServer();
	scratch.env.MCPX_CONFIG = scratch.writeConfig({
		mcpServers: {
			late: { command: 'sh', args: ['-c', `[ -e "${scratch.path('come')}" ] || exit 7; exec "$@"`, 'late', late.command, ...late.args] },
			hanging: scriptedServer({ startMs: 600_000 }),
			well: smallServer(),
		},
	});
	const env = { MCPX_SERVE_MODE: 'full', MCPX_POOL_BACKOFF_STEP: '50ms', MCPX_POOL_BACKOFF_MAX: '200ms', MCPX_POOL_START_TIMEOUT: '300s', MCPX_MCP_LIST_WAIT: '2s', MCPX_CATALOG_WAIT: '2s' };
	const daemon = await startDaemon(scratch, { tcp: true, env });
	const mcp = await httpClient(scratch, `${daemon.url}/mcp`);
	let told = 0;
	mcp.setNotificationHandler(ToolListChangedNotificationSchema, () => void told++);
	const names = async () => (await mcp.listTools()).tools.map(({ name }) => name);
	// The first to ask waits for the one that hangs, as long as mcp.listWait says (2 s here); nobody after that does.
	assert.ok((await names()).includes('well__ping'));
	const began = performance.now();
	for (let i = 0; i < 20; i++) {
		assert.ok((await names()).includes('well__ping'));
		assert.equal(textOf(await call(daemon, 'well', 'ping')), 'pong');
	}
	assert.ok(performance.now() - began < 20 * 2000, 'each list waited for the server that hangs');
	assert.match((await run(scratch, ['ls'])).stdout, /^well\b/m);
	let status;
	do status = (await statusOf(daemon)).servers.find(({ name }) => name === 'late');
	while (!/^server late exited with code 7 before it was ready/.test(status.lastError));
	assert.equal(status.tools, undefined);
	const before = told;
	scratch.write('come', '');
	while (told === before) await new Promise((resolve) => setTimeout(resolve, 10));
	assert.ok((await names()).includes('late__echo'));
	assert.equal(textOf(await call(daemon, 'late', 'echo', { text: 'here' })), 'here');
	assert.equal((await statusOf(daemon)).servers.find(({ name }) => name === 'late').lastError, undefined);
});

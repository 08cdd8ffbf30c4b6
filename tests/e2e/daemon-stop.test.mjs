// How the daemon stops: what runs may end, what does not end is answered for, and nothing is left.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';
import { start } from '../lib/command.mjs';
import { assertNothingLeft, startDaemon, untilCalls, untilStatus, untilWarm } from '../lib/daemon.mjs';
import { exchange, get, post, rpcAnswer } from '../lib/http.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { mcpx, newScratch } from '../lib/scratch.mjs';
import { until } from '../lib/wait.mjs';

const forever = 600_000;
const quick = { MCPX_HTTP_SHUTDOWN_GRACE: '200ms' };
const patient = { MCPX_HTTP_SHUTDOWN_GRACE: '10m' };

async function daemonWith(t, env = {}) {
	const scratch = newScratch(t);
	const config = scratch.writeConfig({ mcpServers: { scripted: scriptedServer() } });
	scratch.env.MCPX_CONFIG = config;
	const daemon = await startDaemon(scratch, { config, env });
	await untilWarm(daemon.socket);
	return { scratch, daemon, at: daemon.socket };
}

const sleep = (at, ms) => post(at, '/v1/call', { server: 'scripted', tool: 'sleep', args: { ms } });

const scriptRuns = (at) => untilStatus(at, ({ runs }) => runs > 0);

async function assertStopped(scratch, daemon) {
	const { status, stderr } = await daemon.child.finished;
	assert.equal(status, 0, stderr);
	await assertNothingLeft(scratch);
}

const rpc = (at, headers, message) =>
	post(at, '/mcp', { jsonrpc: '2.0', ...message }, { headers: { accept: 'application/json, text/event-stream', ...headers } });

// A legacy session over HTTP: call(name, args) sends one request.
async function mcpSession(at) {
	const clientInfo = { name: 'test', version: '1' };
	const opened = await rpc(at, {}, { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
	const headers = { 'mcp-session-id': opened.headers['mcp-session-id'], 'mcp-protocol-version': '2025-11-25' };
	await rpc(at, headers, { method: 'notifications/initialized' });
	return (name, args) => rpc(at, headers, { id: 1, method: 'tools/call', params: { name, arguments: args } });
}

// `mcpx serve`, with what it answered by id.
function serve(scratch, ...args) {
	const child = start(scratch, mcpx, ['serve', ...args], { stdin: null });
	const line = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
	line({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } } });
	line({ method: 'notifications/initialized' });
	return {
		ready: once(child.stdout, 'data'),
		call: (id, name, args_) => line({ id, method: 'tools/call', params: { name, arguments: args_ } }),
		async answers() {
			child.stdin.end();
			const { stdout } = await child.finished;
			return new Map(stdout.trim().split('\n').map((text) => JSON.parse(text)).map((message) => [message.id, message]));
		},
	};
}

const script = 'console.log("begun"); await new Promise((resolve) => setTimeout(resolve, 600000))';

test('what ends within the grace is answered as ever, over every door', async (t) => {
	const { scratch, daemon, at } = await daemonWith(t, patient);
	const mcp = await mcpSession(at);
	const served = serve(scratch, '--mode', 'full');
	await served.ready;
	served.call(1, 'scripted__sleep', { ms: 1000 });
	const answers = [sleep(at, 1000), mcp('mcpx_call', { server: 'scripted', tool: 'sleep', args: { ms: 1000 } })];
	await untilCalls(at, 3);
	daemon.child.kill('SIGTERM');
	const [v1, mcpCall] = await Promise.all(answers);
	assert.equal(v1.json.result.content[0].text, 'slept 1000 ms');
	assert.equal(rpcAnswer(mcpCall).result.content[0].text, 'slept 1000 ms');
	assert.equal((await served.answers()).get(1).result.content[0].text, 'slept 1000 ms');
	await assertStopped(scratch, daemon);
});

test('a call that outlives the grace is answered with an error, over every door', async (t) => {
	const { scratch, daemon, at } = await daemonWith(t, quick);
	const mcp = await mcpSession(at);
	const served = serve(scratch, '--mode', 'full');
	await served.ready;
	served.call(1, 'scripted__sleep', { ms: forever });
	const answers = [sleep(at, forever), mcp('mcpx_call', { server: 'scripted', tool: 'sleep', args: { ms: forever } })];
	await untilCalls(at, 3);
	daemon.child.kill('SIGTERM');
	const [v1, mcpCall] = await Promise.all(answers);
	assert.equal(v1.status, 502);
	assert.match(v1.json.error, /shutting down/);
	assert.equal(v1.json.outcome, 'unknown');
	const { result } = rpcAnswer(mcpCall);
	assert.equal(result.isError, true);
	assert.match(result.content[0].text, /shutting down/);
	assert.match((await served.answers()).get(1).error.message, /shutting down/);
	await assertStopped(scratch, daemon);
});

test('a script that outlives the grace is stopped, and its frames say so', async (t) => {
	const { scratch, daemon, at } = await daemonWith(t, quick);
	const served = serve(scratch);
	const stream = post(at, '/v1/exec', { source: script, options: { output: 'stream' } }, { headers: { accept: 'application/x-ndjson' } });
	const document = post(at, '/v1/exec', { source: script });
	served.call(1, 'mcpx_exec', { source: script });
	await untilStatus(at, ({ runs }) => runs === 3);
	await until(() => scratch.processes().filter(({ command }) => /\/(deno run|node --no-warnings)/.test(command) && !command.includes('mcpx-supervisor')).length >= 3);
	daemon.child.kill('SIGTERM');
	const frames = (await stream).text.trim().split('\n').map((text) => JSON.parse(text));
	assert.equal(frames.at(-1).type, 'end', JSON.stringify(frames));
	assert.match(JSON.stringify(frames.at(-2)), /was stopped: the daemon is shutting down/);
	const { status, text } = await document;
	assert.equal(status, 200);
	assert.match(text, /was stopped: the daemon is shutting down/);
	const answer = (await served.answers()).get(1);
	assert.equal(answer.result.isError, true);
	assert.match(answer.result.content[0].text, /was stopped: the daemon is shutting down/);
	await assertStopped(scratch, daemon);
});

test('a script may make its calls within the grace, when nobody else may', async (t) => {
	const { scratch, daemon, at } = await daemonWith(t, patient);
	const go = scratch.path('go');
	const source = `
		while (!(await Deno.stat(${JSON.stringify(go)}).catch(() => null))) await new Promise((resolve) => setTimeout(resolve, 10));
		return (await scripted.echo({ text: "in the grace" }))`;
	const run = post(at, '/v1/exec', { source });
	await scriptRuns(at);
	daemon.child.kill('SIGTERM');
	await until(async () => (await get(at, '/v1/health')).status === 503);
	assert.deepEqual((await get(at, '/v1/health', { headers: { 'x-mcpx-run': '0123456789abcdef' } })).json, { error: 'the daemon is shutting down' });
	scratch.write('go', '');
	assert.equal((await run).json.result, 'in the grace');
	await assertStopped(scratch, daemon);
});

test('a script that has not begun lets nobody in', async (t) => {
	const scratch = newScratch(t);
	const config = { mcpServers: { scripted: scriptedServer({ startMs: forever }) } };
	const daemon = await startDaemon(scratch, { config, env: { ...patient, MCPX_CATALOG_WAIT: '10m' } });
	const run = post(daemon.socket, '/v1/exec', { source: 'return 1' });
	await scriptRuns(daemon.socket);
	daemon.child.kill('SIGTERM');
	await until(async () => (await get(daemon.socket, '/v1/health')).status === 503, 'a refusal');
	daemon.child.kill('SIGINT');
	assert.match((await run).json.error, /the daemon is shutting down: the script did not begin/);
	await assertStopped(scratch, daemon);
});

test('a request that is still being sent is refused at the end of the grace', async (t) => {
	const { scratch, daemon, at } = await daemonWith(t, quick);
	const head = (route) =>
		`POST ${route} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: 1000\r\n\r\nsome of it`;
	const answers = ['/v1/artifacts', '/v1/call', '/mcp'].map((route) => exchange(at, head(route)));
	await untilStatus(at, ({ connections }) => connections === 4); // with the one that asks
	daemon.child.kill('SIGTERM');
	for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1\.1 503 .*\r\n\r\n\{"error":"The server is shutting down\."\}$/s);
	await assertStopped(scratch, daemon);
});

test('a second signal cuts the grace short', async (t) => {
	const { scratch, daemon, at } = await daemonWith(t, patient);
	const call = sleep(at, forever);
	const run = post(at, '/v1/exec', { source: script });
	await untilCalls(at);
	await scriptRuns(at);
	daemon.child.kill('SIGTERM');
	await until(async () => (await get(at, '/v1/health')).status === 503);
	daemon.child.kill('SIGINT');
	assert.match((await call).json.error, /shutting down/);
	assert.match((await run).text, /shutting down/);
	await assertStopped(scratch, daemon);
});

test('a third does not wait for those who do not read their answers', async (t) => {
	const { scratch, daemon, at } = await daemonWith(t, { ...patient, MCPX_HTTP_LINGER: '10m', MCPX_HTTP_WRITE_TIMEOUT: '10m' });
	const socket = net.connect(at);
	scratch.atEnd(() => socket.destroy());
	const body = JSON.stringify({ server: 'scripted', tool: 'big', args: { bytes: 8_000_000 } });
	socket.pause();
	socket.write(`POST /v1/call HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
	await once(socket, 'readable');
	daemon.child.kill('SIGTERM');
	await until(() => !fs.existsSync(at) || get(at, '/v1/health').then(() => false, () => true));
	daemon.child.kill('SIGTERM');
	await until(() => scratch.processes().length === 1);
	assert.ok(daemon.running());
	daemon.child.kill('SIGTERM');
	await assertStopped(scratch, daemon);
});

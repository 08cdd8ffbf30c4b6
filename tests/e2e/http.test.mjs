// The daemon's front door under hostile, careless and slow peers.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { startDaemon, untilCalls, untilStatus, untilWarm } from '../lib/daemon.mjs';
import { exchange, get, post } from '../lib/http.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch, programs } from '../lib/scratch.mjs';
import { until } from '../lib/wait.mjs';

const many = 1000;
// What a sanitizer adds to memory says nothing about ours.
const sanitized = fs.readFileSync(path.join(programs, 'mcpx-daemon')).includes('__asan_init');

async function daemonWith(t, { env = {}, tcp = false } = {}) {
	const scratch = newScratch(t);
	const daemon = await startDaemon(scratch, { config: { mcpServers: { scripted: scriptedServer() } }, env, tcp });
	return { scratch, daemon, at: daemon.socket, port: daemon.port };
}

function connect(t, address) {
	const socket = typeof address === 'string' ? net.connect(address) : net.connect(address, '127.0.0.1');
	socket.text = '';
	socket.setEncoding('latin1');
	socket.on('data', (data) => {
		socket.text += data;
	});
	socket.on('error', () => {}); // a reset is an end like others
	socket.ended = new Promise((resolve) => socket.on('close', resolve));
	t.after(() => socket.destroy());
	return socket;
}

const status = async (at) => (await get(at, '/v1/status')).json;
const holders = async (at) => (await status(at)).servers[0].instances.reduce((sum, { holders: n }) => sum + n, 0);
const postText = (route, value, version = '1.1') => {
	const body = JSON.stringify(value);
	return `POST ${route} HTTP/${version}\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};
const callText = (tool, args, version) => postText('/v1/call', { server: 'scripted', tool, args }, version);

// A request that packaged servers take, and ours must not; `get` stands for the route of a harmless one.
const first = 'GET /v1/health HTTP/1.1\r\nHost: localhost\r\n';
const posted = 'POST /v1/refresh HTTP/1.1\r\nHost: localhost\r\n';
const refusals = [
	['two different Content-Length', `${posted}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 400],
	['two equal Content-Length', `${posted}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`, 400],
	['Content-Length with a sign', `${posted}Content-Length: +3\r\n\r\n{ }`, 400],
	['Content-Length and chunked together', `${posted}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
	['Transfer-Encoding: xchunked', `${posted}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 501],
	['Transfer-Encoding: VT chunked', `${posted}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`, 400],
	['a blank in front of a colon', `${first}X : y\r\n\r\n`, 400],
	['a folded line', `${first}X: y\r\n z\r\n\r\n`, 400],
	['NUL in a value', `${first}X: a\0b\r\n\r\n`, 400],
	['no Host', 'GET /v1/health HTTP/1.1\r\n\r\n', 400],
	['two Hosts', `${first}Host: localhost\r\n\r\n`, 400],
	['HTTP/1.9', 'GET /v1/health HTTP/1.9\r\nHost: localhost\r\n\r\n', 505],
	['HTTP/2.0', 'GET /v1/health HTTP/2.0\r\nHost: localhost\r\n\r\n', 505],
	['a header of 64 kB', `${first}X: ${'y'.repeat(65536)}\r\n\r\n`, 431],
	['1,000 header fields', `${first}${'X: y\r\n'.repeat(1000)}\r\n`, 431],
	['bare LF', 'GET /v1/health HTTP/1.1\nHost: localhost\n\n', 400],
];

test('what two programs could read in two ways is refused, and nothing behind it is read', async (t) => {
	const { at, port } = await daemonWith(t, { tcp: true });
	for (const address of [at, port]) {
		for (const [name, bytes, expected] of refusals) {
			const answer = await exchange(address, `${bytes}${first}\r\n`);
			assert.match(answer, new RegExp(`^HTTP/1\\.1 ${expected} `), name);
			assert.equal(answer.match(/^HTTP\/1\.1 \d/gm).length, 1, `${name}: one answer`);
			assert.equal(typeof JSON.parse(answer.split('\r\n\r\n')[1]).error, 'string', name);
		}
	}
	assert.equal((await get(at, '/v1/health')).status, 200);
});

test('pipelined requests are answered in order, also behind a half-closed connection', async (t) => {
	const { at } = await daemonWith(t);
	const socket = connect(t, at);
	socket.end(Array.from({ length: 40 }, (_, i) => callText('echo', { text: `number ${i}.` })).join(''));
	await socket.ended;
	assert.deepEqual([...socket.text.matchAll(/number (\d+)\./g)].map(([, number]) => Number(number)), [...Array(40).keys()]);
});

test('a peer that has sent all it had to send gets its answer', async (t) => {
	const { at, port } = await daemonWith(t, { tcp: true });
	for (const [address, version] of [[at, '1.1'], [at, '1.0'], [port, '1.1']]) {
		const socket = connect(t, address);
		socket.end(callText('sleep', { ms: 300 }, version));
		await socket.ended;
		assert.match(socket.text, /slept 300 ms/, `${address} ${version}`);
	}
});

test('a peer that goes away ends its call and its script, over any socket', async (t) => {
	const { at, port, scratch } = await daemonWith(t, { tcp: true });
	await untilWarm(at);
	for (const address of [at, port]) {
		const caller = connect(t, address);
		caller.write(callText('sleep', { ms: 600_000 }));
		await untilCalls(at, 1);
		caller.destroy();
		await untilCalls(at, 0);
		for (const output of ['stream', 'structured']) {
			const reader = connect(t, address);
			reader.write(postText('/v1/exec', { source: 'console.log("begun"); await new Promise((done) => setTimeout(done, 600000))', options: { output } }));
			await until(() => scratch.processes().some(({ command }) => command.includes('deno run')));
			reader.destroy();
			await until(() => !scratch.processes().some(({ command }) => command.includes('deno run')));
			await untilStatus(at, ({ runs }) => runs === 0);
		}
	}
});

test('100 Continue is sent to who waits for it, unless the body would be refused', async (t) => {
	const { at } = await daemonWith(t, { env: { MCPX_ARTIFACTS_MAX_BYTES: '1000' } });
	const head = (length) => `POST /v1/artifacts?name=x HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;
	const socket = connect(t, at);
	socket.write(head(5));
	await once(socket, 'data');
	assert.equal(socket.text, 'HTTP/1.1 100 Continue\r\n\r\n');
	socket.end('hello');
	await socket.ended;
	assert.match(socket.text, /\r\n\r\nHTTP\/1\.1 201 /);
	assert.match(await exchange(at, head(1001)), /^HTTP\/1\.1 413 /);
});

test('a body that trickles is not waited for', async (t) => {
	const { at } = await daemonWith(t, { env: { MCPX_HTTP_BODY_TIMEOUT: '400ms', MCPX_HTTP_BODY_RATE: '1MiB' } });
	const sockets = ['/v1/artifacts', '/v1/call'].map((route) => {
		const socket = connect(t, at);
		socket.write(`POST ${route} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n`);
		return socket;
	});
	const trickle = setInterval(() => sockets.forEach((socket) => socket.writable && socket.write('x')), 20);
	await Promise.all(sockets.map(({ ended }) => ended));
	clearInterval(trickle);
	for (const { text } of sockets) assert.match(text, /^HTTP\/1\.1 408 .*"The body of the request did not arrive in time\."/s);
});

test('a peer that reads nothing is dropped, and others do not wait for it', async (t) => {
	const { at } = await daemonWith(t, { env: { MCPX_HTTP_WRITE_TIMEOUT: '300ms' } });
	const socket = connect(t, at);
	socket.pause();
	socket.write(callText('big', { bytes: 8_000_000 }));
	await until(async () => (await holders(at)) === 0 && (await status(at)).connections === 1);
	assert.equal((await get(at, '/v1/health')).status, 200);
	socket.resume();
	await socket.ended;
	assert.ok(socket.text.length < 8_000_000);
});

test('a daemon that is out of descriptors serves who is there, and the others later', async (t) => {
	const { at, daemon } = await daemonWith(t);
	const kept = connect(t, at);
	kept.write(`${first}\r\n`);
	await once(kept, 'data');
	const limit = (n) => execFileSync('prlimit', ['--pid', String(daemon.pid), `--nofile=${n}:`]);
	const before = execFileSync('prlimit', ['--pid', String(daemon.pid), '--nofile', '--noheadings', '--raw', '--output', 'SOFT']).toString().trim();
	limit(3); // none beyond the standard ones
	const waiting = connect(t, at);
	waiting.write(`${first}\r\n`);
	const pauses = async () => {
		kept.text = '';
		kept.write('GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n');
		await until(() => /\r\n\r\n\{.*\}$/s.test(kept.text));
		return JSON.parse(kept.text.split('\r\n\r\n')[1]).acceptPauses;
	};
	await until(async () => (await pauses()) > 1);
	assert.equal(waiting.text, '');
	limit(before);
	await until(() => waiting.text.startsWith('HTTP/1.1 200 '));
});

test(`${many} half-sent requests end by the time-out while calls go on`, async (t) => {
	const { at } = await daemonWith(t, { env: { MCPX_HTTP_READ_HEADER_TIMEOUT: '2s' } });
	const heads = ['G', 'GET /v1/health HTTP/1.1\r\nHo', `${first}X: y`, `${first}\r`];
	const sockets = Array.from({ length: many }, () => connect(t, at));
	sockets.forEach((socket, i) => socket.write(heads[i % heads.length]));
	let left = many;
	let calls = 0;
	for (const socket of sockets) void socket.ended.then(() => left--);
	await until(async () => (await status(at)).connections > many);
	while (left) {
		const answer = await post(at, '/v1/call', { server: 'scripted', tool: 'echo', args: { text: 'on' } });
		assert.equal(answer.json.result.content[0].text, 'on');
		calls++;
	}
	assert.ok(calls > 0);
	for (const { text } of sockets) assert.match(text, /^HTTP\/1\.1 408 /);
	assert.equal((await status(at)).connections, 1);
});

test(`${many} idle streams cost little, hear what happens, and are gone when their readers are`, async (t) => {
	const { at, daemon } = await daemonWith(t, { env: { MCPX_PROTO_STREAM_MAX: '10' } });
	const memory = () => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))[1]) * 1024;
	const accept = { accept: 'application/json, text/event-stream' };
	const clientInfo = { name: 'test', version: '1' };
	const openSession = async () => {
		const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
		const opened = await post(at, '/mcp', { jsonrpc: '2.0', id: 0, method: 'initialize', params }, { headers: accept });
		const headers = { ...accept, 'mcp-session-id': opened.headers['mcp-session-id'], 'mcp-protocol-version': '2025-11-25' };
		assert.equal((await post(at, '/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }, { headers })).status, 202);
		return opened.headers['mcp-session-id'];
	};
	await post(at, '/v1/call', { server: 'scripted', tool: 'echo', args: { text: 'on' } });
	await until(async () => (await status(at)).servers[0].tools > 0);
	const sessions = [];
	for (let i = 0; i < many / 10; i++) sessions.push(await openSession());
	const before = memory();
	const sockets = [];
	for (let i = 0; i < many; i++) {
		const socket = connect(t, at);
		socket.write(`GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${sessions[i % sessions.length]}\r\nMcp-Protocol-Version: 2025-11-25\r\n\r\n`);
		await once(socket, 'data');
		assert.match(socket.text, /^HTTP\/1\.1 200 /);
		sockets.push(socket);
	}
	const each = (memory() - before) / many;
	t.diagnostic(`${Math.round(each)} bytes of resident memory for each stream`);
	if (!sanitized) assert.ok(each <= 4096, `${each} bytes for each`);
	// One stream of each session hears of it.
	for (const socket of sockets) socket.text = '';
	await post(at, '/v1/call', { server: 'scripted', tool: 'announce', args: {} });
	await until(() => sockets.filter(({ text }) => text.includes('notifications/tools/list_changed')).length === sessions.length);
	for (const socket of sockets) socket.destroy();
	await until(async () => (await status(at)).connections === 1);
});

test('what a burst of clients took goes back to the system, whatever stays', { skip: sanitized }, async (t) => {
	const { at, daemon } = await daemonWith(t, { env: { MCPX_DAEMON_REAP_INTERVAL: '100ms' } });
	const memory = () => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))[1]) * 1024;
	await post(at, '/v1/call', { server: 'scripted', tool: 'echo', args: { text: 'on' } });
	const before = memory();
	// The last ones stay, and lie above the others in the daemon's memory.
	const stay = 10;
	const sockets = Array.from({ length: many + stay }, () => connect(t, at));
	for (const socket of sockets) socket.write(`${first}X: ${'y'.repeat(8000)}`);
	await until(async () => (await status(at)).connections > many + stay);
	const taken = memory() - before;
	t.diagnostic(`${taken} bytes were taken`);
	assert.ok(taken > many * 8000);
	for (const socket of sockets.slice(0, many)) socket.destroy();
	await until(async () => (await status(at)).connections <= stay + 1);
	await until(() => memory() - before < taken / 4, 'most of it is given back');
});

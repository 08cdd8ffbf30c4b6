// Whether the daemon keeps its size: each kind of work alone, again and again, and what it has left in the daemon: memory, descriptors, processes.
// Beginnings (caches, the first of everything) are over after one round of each kind; of the rounds that follow, a row shows the one with the least growth.
// Exits 1 when one misses its bar.
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { start, run } from '../tests/lib/command.mjs';
import { startDaemon } from '../tests/lib/daemon.mjs';
import { get } from '../tests/lib/http.mjs';
import { scriptedServer } from '../tests/lib/servers.mjs';
import { newScratch, root } from '../tests/lib/scratch.mjs';
import { until } from '../tests/lib/wait.mjs';

const rounds = 3;
const width = 4; // of the work at once
const bytesBar = 2; // of memory, for each time: what is kept takes more
const ends = [];
const scratch = newScratch({ after: (end) => ends.push(end) });
const echo = { command: path.join(root, 'build/bench/bench/echo_server') };
let daemon;
const mcpServers = {
	echo,
	own: { ...echo, mcpx: { scope: 'session', max: 16, idleTimeout: '50ms' } },
	scripted: scriptedServer(),
};
scratch.env.MCPX_CONFIG = scratch.writeConfig({ mcpServers });
const quick = {
	MCPX_SERVE_MODE: 'full',
	MCPX_SCRIPT_RUNTIME: 'node',
	MCPX_DAEMON_REAP_INTERVAL: '20ms',
	MCPX_POOL_BACKOFF_STEP: '10ms',
	MCPX_PROTO_SESSION_IDLE: '200ms',
	MCPX_ARTIFACTS_GC_INTERVAL: '1s',
	MCPX_CATALOG_KEEP_FILES: '10',
	MCPX_DB_CACHE: '64KiB', // is full soon
	LD_PRELOAD: path.join(root, 'build/bench/bench/heap_watch.so'),
	HEAP_WATCH: scratch.path('heap'),
	GLIBC_TUNABLES: 'glibc.malloc.tcache_count=0', // what a thread keeps for its next turn would count as in use
};

// A connection that is kept, so that node has little to do with what is measured.
const agent = new http.Agent({ keepAlive: true });

function ask(method, target, body, headers = {}) {
	return new Promise((resolve, reject) => {
		const sent = Buffer.isBuffer(body) ? body : JSON.stringify(body);
		const fields = { host: 'localhost', 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
		const message = http.request({ socketPath: daemon.socket, agent, method, path: target, headers: fields });
		message.on('error', reject);
		message.on('response', (response) => {
			let text = '';
			response.on('data', (data) => (text += data));
			response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
		});
		message.end(sent);
	});
}

async function ok(answer) {
	const { status, text } = await answer;
	if (status >= 300) throw new Error(`${status}: ${text}`);
	return text;
}

const call = (server, tool, args = {}, more = {}) => ask('POST', '/v1/call', { server, tool, args, ...more });

// Sends a request and goes away: after `ms`, or at the first bytes of an answer.
function leave(method, target, headers, body, ms) {
	return new Promise((resolve) => {
		const socket = net.connect(daemon.socket);
		const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
		socket.on('error', () => {});
		socket.on('close', resolve);
		if (ms === undefined) socket.on('data', () => socket.destroy());
		else setTimeout(() => socket.destroy(), ms);
		socket.write(`${method} ${target} HTTP/1.1\r\nHost: localhost\r\n${fields.join('')}Content-Length: ${body.length}\r\n\r\n${body}`);
	});
}

const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const hello = (i) => ({
	jsonrpc: '2.0',
	id: 0,
	method: 'initialize',
	params: { protocolVersion: revisions[i % revisions.length], capabilities: {}, clientInfo: { name: 'soak', version: '1' } },
});

// Opens a session, uses it, and gives the headers of its requests.
async function session(i) {
	const opened = await ask('POST', '/mcp', hello(i));
	const headers = { 'mcp-session-id': opened.headers['mcp-session-id'] };
	await ok(ask('POST', '/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }, headers));
	const params = { name: i % 8 ? 'echo__echo' : 'own__echo', arguments: { text: 'hello' } };
	await ok(ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers));
	return headers;
}

async function serve(i) {
	const child = start(scratch, path.join(root, 'build/bin/mcpx'), ['serve'], { stdin: null });
	child.stdin.write(`${JSON.stringify(hello(i))}\n`);
	await until(() => child.text.stdout.includes('\n'), 'the answer to initialize');
	if (i % 2) child.kill('SIGKILL');
	else child.stdin.end();
	await child.finished;
}

async function store(ttl, i) {
	return JSON.parse(await ok(ask('POST', `/v1/artifacts?name=soak-${i % 3}.txt&ttl=${ttl}`, Buffer.from(`artifact ${i}`))));
}

async function configure(i) {
	const name = `added${i}`;
	scratch.writeConfig({ mcpServers: { ...mcpServers, [name]: { ...echo, args: [name] } } });
	await ok(call(name, 'echo', { text: 'hello' }));
}

const refused = [
	() => call('nobody', 'echo'),
	() => call('echo', 'nothing'),
	() => ask('GET', '/v1/nothing'),
	() => ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'mcp-session-id': 'nobody' }),
	() => ask('PUT', '/v1/settings/pool.max', { value: 'many' }),
	() => leave('POST', '/v1/call', { 'Transfer-Encoding': 'chunked' }, 'x'),
	() => leave('GET', '/v1/health', { Host: 'elsewhere' }, ''),
];

// [kind of work, how often in a round, the work; how many at once]
const kinds = [
	['calls', 1000, () => ok(call('echo', 'echo', { text: 'hello' }))],
	['calls that fail', 400, (i) => call('scripted', i % 2 ? 'fail' : 'error')],
	['calls that time out', 200, () => call('scripted', 'sleep', { ms: 60_000 }, { timeoutMs: 2 })],
	['calls whose caller goes away', 200, () => leave('POST', '/v1/call', {}, '{"server":"scripted","tool":"sleep","args":{"ms":60000}}', 2)],
	['calls of large arguments', 20, () => ok(call('echo', 'echo', { text: 'x'.repeat(2 << 20) }))],
	['servers that crash', 40, () => call('scripted', 'exit')],
	['sessions, ended', 300, async (i) => ok(ask('DELETE', '/mcp', undefined, await session(i)))],
	['sessions, left to their time-out', 300, session],
	['sessions, with streams that are cut', 200, async (i) => leave('GET', '/mcp', { Accept: 'text/event-stream', ...(await session(i)) }, '', i % 5)],
	['clients of mcpx serve', 60, serve],
	['runs of mcpx exec', 12, (i) => run(scratch, ['exec', i % 2 ? 'return await echo.echo({ text: "hello" })' : 'throw new Error("no")'])],
	['artifacts, read and deleted', 200, async (i) => {
		const { id } = await store('1h', i);
		await ok(ask('GET', `/v1/artifacts/${id}`));
		await ok(ask('DELETE', `/v1/artifacts/${id}`));
	}],
	['artifacts that expire', 200, (i) => store('1s', i)],
	['servers added and removed', 30, configure, 1],
	['settings, set and unset', 200, async (i) => ok(ask(...(i % 2 ? ['DELETE', '/v1/settings/pool.max'] : ['PUT', '/v1/settings/pool.max', { value: '8' }]))), 1],
	['refreshes', 8, () => ok(ask('POST', '/v1/refresh')), 1],
	['searches', 400, (i) => ok(ask('GET', `/v1/search?q=echo+${i}`))],
	['requests that are refused', 280, (i) => refused[i % refused.length]()],
];

const childrenOf = (pid) => fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);

function size() {
	return {
		bytes: Number(fs.readFileSync(quick.HEAP_WATCH, 'utf8')),
		descriptors: fs.readdirSync(`/proc/${daemon.pid}/fd`).length,
		children: childrenOf(daemon.pid).length,
	};
}

// Its size once nothing is on its way any more: no session, no artifact that is about to expire, and as many bytes as a moment ago.
async function settled() {
	await ok(call('scripted', 'echo')); // it runs, whatever was done to it
	agent.destroy();
	const status = async () => (await get(daemon.socket, '/v1/status')).json;
	await until(async () => (await status()).sessions === 0, 'the end of all sessions');
	await until(async () => (await status()).artifacts.count === 0, 'the end of all artifacts');
	let last;
	await until(async () => {
		const before = last;
		await new Promise((resolve) => setTimeout(resolve, 150));
		last = size();
		return before && Object.keys(last).every((what) => last[what] === before[what]);
	}, 'a size that stays');
	return last;
}

async function work(cycle, first, times, atOnce) {
	let next = first;
	const one = async () => {
		while (next < first + times) await cycle(next++);
	};
	await Promise.all(Array.from({ length: atOnce }, one));
}

let missed = false;
try {
	daemon = await startDaemon(scratch, { config: scratch.env.MCPX_CONFIG, env: quick });
	await ok(ask('POST', '/v1/refresh'));
	console.log(`${'left behind, by one'.padEnd(36)} ${'of'.padStart(6)} ${'bytes'.padStart(8)} ${'descriptors'.padStart(12)} ${'processes'.padStart(10)}   bar ${bytesBar}, 0, 0`);
	for (const [, times, cycle, atOnce = width] of kinds) await work(cycle, 0, times, atOnce);
	for (const [name, times, cycle, atOnce = width] of kinds) {
		const sizes = [await settled()];
		for (let round = 1; round <= rounds; round++) {
			await work(cycle, round * times, times, atOnce);
			sizes.push(await settled());
		}
		const least = (what) => Math.max(0, Math.min(...sizes.slice(1).map((now, i) => now[what] - sizes[i][what]))) / times;
		const [bytes, descriptors, children] = ['bytes', 'descriptors', 'children'].map(least);
		const held = bytes <= bytesBar && descriptors === 0 && children === 0;
		missed ||= !held;
		console.log(`${name.padEnd(36)} ${String(times * rounds).padStart(6)} ${bytes.toFixed(1).padStart(8)} ${descriptors.toFixed(2).padStart(12)} ${children.toFixed(2).padStart(10)}${held ? '' : '   MISSED'}`);
	}
	const resident = /^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))[1];
	console.log(`memory of the daemon after all that: ${(resident / 1024).toFixed(1)} MiB`);
} finally {
	for (const end of ends) await end();
}
process.exit(missed ? 1 : 0);

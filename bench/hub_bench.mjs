// What a call costs that goes through the daemon to a server and back, beside the same server on bare pipes, and what the daemon needs for it. The server
// is bench/echo_server.c, the callers are bench/load_calls.c: neither is the slow part. Exits 1 when a figure misses its bar.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { startDaemon } from '../tests/lib/daemon.mjs';
import { post } from '../tests/lib/http.mjs';
import { mcpx, newScratch, root } from '../tests/lib/scratch.mjs';

const built = path.join(root, 'build/bench/bench');
const echo = path.join(built, 'echo_server');
const ends = [];
const scratch = newScratch({ after: (end) => ends.push(end) });

const load = (...words) =>
	execFileSync(path.join(built, 'load_calls'), words.map(String), { encoding: 'utf8', maxBuffer: 1 << 20 })
		.trim()
		.split(' ')
		.map(Number);

const rpc = (name, args) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
const v1 = (tool, args) => JSON.stringify({ server: 'echo', tool, args });
const json = 'Content-Type: application/json';

// A call of the 2026-07-28 protocol stands for itself: no session has to be opened.
function mcp(name, args) {
	const _meta = {
		'io.modelcontextprotocol/protocolVersion': '2026-07-28',
		'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
		'io.modelcontextprotocol/clientCapabilities': {},
	};
	return [
		JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta } }),
		json,
		'Accept: application/json, text/event-stream',
		'MCP-Protocol-Version: 2026-07-28',
		'Mcp-Method: tools/call',
		`Mcp-Name: ${name}`,
	];
}

// From the start of the daemon to its first answer of a server, in milliseconds; the least of some.
async function startToAnswer(config) {
	let least = Infinity;
	for (let i = 0; i < 10; i++) {
		const began = performance.now();
		const child = spawn(mcpx, ['--config', config, 'daemon'], { cwd: scratch.home, env: scratch.env, stdio: 'ignore' });
		const socket = () => fs.existsSync(scratch.state) && fs.readdirSync(scratch.state).find((name) => name.endsWith('.sock'));
		for (let answered = false; !answered; ) {
			const name = socket();
			answered = name && (await post(path.join(scratch.state, name), '/v1/call', { server: 'echo', tool: 'echo', args: { text: 'x' } }).then(({ status }) => status === 200, () => false));
			if (!answered) await new Promise((resolve) => setTimeout(resolve, 1));
		}
		least = Math.min(least, performance.now() - began);
		child.kill('SIGTERM');
		await new Promise((resolve) => child.once('close', resolve));
	}
	return least;
}

const residentKiB = (pid) => Number(/^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);

let missed = false;
const row = (name, figure, unit, bar) => {
	const held = bar === undefined || figure <= bar;
	missed ||= !held;
	console.log(`${name.padEnd(48)} ${figure.toFixed(1).padStart(9)} ${unit}${bar === undefined ? '' : `   bar ${bar}${held ? '' : '  MISSED'}`}`);
};

try {
	const config = scratch.writeConfig({ mcpServers: { echo: { command: echo } } });
	row('start of the daemon to the first answer', await startToAnswer(config), 'ms', 60);
	const daemon = await startDaemon(scratch, { config, env: { MCPX_SERVE_MODE: 'full' } });
	load('http', daemon.socket, '/v1/call', 1, 1000, v1('echo', { text: 'hello' }), json);
	row('memory of the daemon after 1,000 calls', residentKiB(daemon.pid) / 1024, 'MiB', 12);

	const bare = load('pipes', echo, 20_000, rpc('echo', { text: 'hello' }));
	const call = load('http', daemon.socket, '/v1/call', 1, 20_000, v1('echo', { text: 'hello' }), json);
	const door = load('http', daemon.socket, '/mcp', 1, 20_000, ...mcp('echo__echo', { text: 'hello' }));
	row('p50 of a call, the server on bare pipes', bare[0], 'us');
	row('p50 of a call, POST /v1/call', call[0], 'us');
	row('p50 of a call, POST /mcp', door[0], 'us');
	row('p99 of a call, POST /mcp', door[1], 'us');
	row('calls in a second, 16 callers, POST /v1/call', load('http', daemon.socket, '/v1/call', 16, 80_000, v1('echo', { text: 'hello' }), json)[2], '/s');
	row('calls in a second, 16 callers, POST /mcp', load('http', daemon.socket, '/mcp', 16, 80_000, ...mcp('echo__echo', { text: 'hello' }))[2], '/s');

	const bareBig = load('pipes', echo, 200, rpc('blob', { bytes: 1 << 20 }));
	const doorBig = load('http', daemon.socket, '/mcp', 1, 200, ...mcp('echo__blob', { bytes: 1 << 20 }));
	row('p50 of an answer of 1 MiB, the server on bare pipes', bareBig[0], 'us');
	row('p50 of an answer of 1 MiB, POST /mcp', doorBig[0], 'us');
} finally {
	for (const end of ends) await end();
}
process.exit(missed ? 1 : 0);

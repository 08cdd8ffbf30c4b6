// A daemon in the foreground, stopped when the test ends.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { start } from './command.mjs';
import { mcpx, processesAfter } from './scratch.mjs';
import { get } from './http.mjs';
import { until } from './wait.mjs';

// How long a daemon may take to answer, and to end. Under sanitizers both are slow.
const patience = 30_000;

// A port that was free a moment ago.
export async function freePort() {
	const server = net.createServer().listen(0, '127.0.0.1');
	await new Promise((resolve) => server.once('listening', resolve));
	const { port } = server.address();
	await new Promise((resolve) => server.close(resolve));
	return port;
}

class Daemon {
	constructor(scratch, child, port) {
		Object.assign(this, { scratch, child, port, pid: child.pid, socket: null });
	}

	get log() {
		return this.child.text.stderr;
	}

	// Its address over TCP, when it has one.
	get url() {
		return `http://127.0.0.1:${this.port}`;
	}

	running() {
		return this.child.exitCode === null && this.child.signalCode === null;
	}

	// Ends it as a service manager would, and says how it ended.
	async stop(signal = 'SIGTERM') {
		if (this.running()) this.child.kill(signal);
		const timer = setTimeout(() => this.child.kill('SIGKILL'), patience);
		const result = await this.child.finished;
		clearTimeout(timer);
		return result;
	}

	// Kills it without a chance to clean up. What came from it must be gone soon after.
	async kill() {
		this.child.kill('SIGKILL');
		await this.child.finished;
	}
}

// startDaemon(scratch, options): resolves once the daemon answers.
//   config   a configuration object, or the path of a file; none: no configuration file
//   tcp      listen on a loopback port as well, without a token
//   args     further arguments of `mcpx daemon`
//   env      further environment
//   stderr   a descriptor, in place of one whose bytes are kept as .log
export async function startDaemon(scratch, { config, tcp = false, args = [], env = {}, stderr } = {}) {
	const file = typeof config === 'object' ? scratch.writeConfig(config) : config;
	const port = tcp ? await freePort() : null;
	const words = [
		...(file ? ['--config', file] : []),
		'daemon',
		...(tcp ? ['--daemon-tcp', '--daemon-port', String(port), '--daemon-auth', 'none'] : []),
		...args,
	];
	const child = start(scratch, mcpx, words, { env, stderr });
	const daemon = new Daemon(scratch, child, port);
	scratch.atEnd(() => daemon.stop());
	const deadline = Date.now() + patience;
	for (;;) {
		if (!daemon.running()) throw new Error(`the daemon ended with ${child.exitCode ?? child.signalCode}:\n${daemon.log}`);
		if (Date.now() > deadline) throw new Error(`the daemon does not answer after ${patience} ms:\n${daemon.log}`);
		const socket = findSocket(scratch);
		if (socket && (await answers(socket))) {
			daemon.socket = socket;
			return daemon;
		}
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

function findSocket(scratch) {
	const name = fs.existsSync(scratch.state) && fs.readdirSync(scratch.state).find((entry) => entry.endsWith('.sock'));
	return name ? path.join(scratch.state, name) : null;
}

async function answers(socket) {
	try {
		return (await get(socket, '/v1/health')).status === 200;
	} catch {
		return false;
	}
}

// Waits for something that `look` sees in the status of the daemon at that address.
export const untilStatus = (at, look) => until(async () => look((await get(at, '/v1/status')).json), String(look));

// The daemon holds a server, too, while it reads its list. From here on nobody does but callers.
export const untilWarm = (at) => untilStatus(at, ({ servers }) => servers.every(({ tools, instances }) => tools > 0 && instances.every(({ holders }) => holders === 0)));

// So many calls are at the first server.
export const untilCalls = (at, count = 1) => untilStatus(at, ({ servers }) => servers[0].instances.reduce((sum, { holders }) => sum + holders, 0) === count);

// After an orderly stop nothing is left: no process, socket, lock, info or temporary file.
export async function assertNothingLeft(scratch, { within = 1000 } = {}) {
	assert.deepEqual(await processesAfter(scratch, within), [], 'processes are left');
	assert.deepEqual(scratch.files(/\.(sock|pid|tmp)$|daemon-\w+\.json$/), [], 'files are left');
}

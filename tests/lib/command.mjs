// Running mcpx as a user does, with everything it wrote kept.
import { spawn } from 'node:child_process';
import { mcpx } from './scratch.mjs';

// No command of a test takes this long; one that does is killed, and its result says so.
const patience = 60_000;

// Starts a program in the scratch home. The child has `.text.stdout` and `.text.stderr`, what it wrote so far, and
// `.finished`, a promise of { status, signal, stdout, stderr, ms }. `stderr` may be a descriptor that the test reads, or not.
export function start(scratch, command, args = [], { env = {}, cwd = scratch.home, stdin = '', stderr = 'pipe' } = {}) {
	const began = performance.now();
	const child = spawn(command, args, { cwd, env: { ...scratch.env, ...env }, stdio: ['pipe', 'pipe', stderr] });
	const text = { stdout: '', stderr: '' };
	child.text = text;
	for (const stream of stderr === 'pipe' ? ['stdout', 'stderr'] : ['stdout']) {
		child[stream].setEncoding('utf8');
		child[stream].on('data', (data) => {
			text[stream] += data;
		});
	}
	child.stdin.on('error', () => {}); // a program may end without reading all of it
	if (stdin !== null) child.stdin.end(stdin);
	child.finished = new Promise((resolve, reject) => {
		child.on('error', reject);
		child.on('close', (status, signal) => resolve({ status, signal, ...text, ms: performance.now() - began }));
	});
	return child;
}

// Runs `mcpx ARGS...` to its end.
export async function run(scratch, args, { timeout = patience, ...options } = {}) {
	const child = start(scratch, mcpx, args, options);
	const timer = setTimeout(() => child.kill('SIGKILL'), timeout);
	const result = await child.finished;
	clearTimeout(timer);
	if (result.signal === 'SIGKILL') result.stderr += `\n[killed by the test after ${timeout} ms]`;
	return result;
}

// Runs it and parses its output; throws with everything it said when it fails.
export async function runJson(scratch, args, options) {
	const result = await run(scratch, args, options);
	if (result.status !== 0) throw new Error(`mcpx ${args.join(' ')} ended with ${result.status}:\n${result.stderr}${result.stdout}`);
	return JSON.parse(result.stdout);
}

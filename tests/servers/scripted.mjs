#!/usr/bin/env node
// An MCP server over stdio, written against the wire and not against an SDK, that behaves as its one argument says (JSON):
//   name       what it calls itself                             tools      further tools, listed as they are; they
//                                                                         give their arguments back as JSON
//   startMs    wait that long before reading                    startFail  exit with that status at once, saying so on stderr
//   noise      lines that are no JSON, before every answer      stubborn   ignore the end of stdin and SIGTERM
//   forks      start that many children that outlive it         revision   the newest protocol revision it knows
//   instructions  what it says of itself
// Its tools: echo {text}, env {name}, sleep {ms}, fail {text}, error {text}, exit {status}, big {bytes}, flood {bytes, named} (without the end of the line), image {}, progress {steps, ms},
// pid {}, beside {} (gives back what came beside the arguments), structured {value}, nested {depth}, announce {} (adds the tool `late` and says that the list changed).
import { spawn } from 'node:child_process';
import readline from 'node:readline';

const options = JSON.parse(process.argv[2] ?? '{}');
const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const newest = options.revision ?? revisions.at(-1);
// A PNG of one pixel.
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

if (options.startFail !== undefined) {
	process.stderr.write('scripted server: told to fail\n');
	process.exit(options.startFail);
}
for (let i = 0; i < (options.forks ?? 0); i++) spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref();
if (options.stubborn) {
	process.on('SIGTERM', () => {});
	setInterval(() => {}, 60_000);
}
if (options.startMs) await new Promise((resolve) => setTimeout(resolve, options.startMs));

const send = (message) => {
	for (const line of options.noise ?? []) process.stdout.write(`${line}\n`);
	process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
};
const object = (properties = {}) => ({ type: 'object', properties });
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const waits = new Map();

async function wait(id, ms) {
	await new Promise((resolve) => {
		const timer = setTimeout(resolve, ms);
		waits.set(id, () => {
			clearTimeout(timer);
			resolve();
		});
	});
	return waits.delete(id);
}

let late = false;
const tools = {
	echo: [object({ text: { type: 'string' } }), ({ text: value = '' }) => text(value)],
	env: [object({ name: { type: 'string' } }), ({ name }) => text(process.env[name] ?? '')],
	sleep: [
		object({ ms: { type: 'integer' } }),
		async ({ ms }, { id }) => {
			await wait(id, ms);
			return text(`slept ${ms} ms`);
		},
	],
	fail: [object({ text: { type: 'string' } }), ({ text: value = 'failed' }) => ({ ...text(value), isError: true })],
	error: [
		object({ text: { type: 'string' } }),
		({ text: message = 'refused' }) => {
			throw Object.assign(new Error(message), { code: -32042, data: { seen: true } });
		},
	],
	exit: [object({ status: { type: 'integer' } }), ({ status = 1 }) => process.exit(status)],
	big: [object({ bytes: { type: 'integer' } }), ({ bytes }) => text('x'.repeat(bytes))],
	flood: [
		object({ bytes: { type: 'integer' }, named: { type: 'boolean' } }),
		({ bytes, named }, { id }) => {
			process.stdout.write(`${named ? `{"jsonrpc":"2.0","id":${id},"result":"` : ''}${'x'.repeat(bytes)}`);
			return new Promise(() => {});
		},
	],
	image: [object(), () => ({ content: [{ type: 'image', data: pixel, mimeType: 'image/png' }] })],
	progress: [
		object({ steps: { type: 'integer' }, ms: { type: 'integer' } }),
		async ({ steps, ms = 0 }, { id, params }) => {
			const progressToken = params._meta?.progressToken;
			for (let progress = 1; progress <= steps; progress++) {
				if (progressToken !== undefined)
					send({ method: 'notifications/progress', params: { progressToken, progress, total: steps, message: `step ${progress}` } });
				if (ms) await wait(id, ms);
			}
			return text(`${steps} steps`);
		},
	],
	pid: [object(), () => text(String(process.pid))],
	beside: [object(), (_, { params }) => text(JSON.stringify(params._meta ?? {}))],
	nested: [
		object({ depth: { type: 'integer' } }),
		({ depth }) => ({ ...text('nested'), structuredContent: { value: JSON.parse('['.repeat(depth) + ']'.repeat(depth)) } }),
	],
	structured: [
		object({ value: {} }),
		({ value }) => ({ ...text(JSON.stringify({ value })), structuredContent: { value } }),
		{ type: 'object', properties: { value: {} }, required: ['value'] },
	],
	announce: [
		object(),
		() => {
			late = true;
			send({ method: 'notifications/tools/list_changed' });
			return text('announced');
		},
	],
};

function list() {
	const listed = Object.entries(tools).map(([name, [inputSchema, , outputSchema]]) => ({
		name,
		description: `The tool ${name} of the scripted server`,
		inputSchema,
		...(outputSchema && { outputSchema }),
	}));
	if (late) listed.push({ name: 'late', inputSchema: object() });
	return { tools: [...listed, ...(options.tools ?? [])] };
}

async function answer({ method, params = {}, id }) {
	switch (method) {
		case 'initialize':
			return {
				protocolVersion: revisions.includes(params.protocolVersion) && params.protocolVersion <= newest ? params.protocolVersion : newest,
				capabilities: { tools: { listChanged: true }, logging: {} },
				serverInfo: { name: options.name ?? 'scripted', version: '1.0.0' },
				...(options.instructions && { instructions: options.instructions }),
			};
		case 'ping':
		case 'logging/setLevel':
			return {};
		case 'tools/list':
			return list();
		case 'tools/call':
			if (late && params.name === 'late') return text('late');
			if (options.tools?.some(({ name }) => name === params.name)) return text(JSON.stringify(params.arguments));
			if (!Object.hasOwn(tools, params.name)) throw Object.assign(new Error(`Unknown tool: ${params.name}`), { code: -32602 });
			return tools[params.name][1](params.arguments ?? {}, { id, params });
		default:
			throw Object.assign(new Error(`Method not found: ${method}`), { code: -32601 });
	}
}

for await (const line of readline.createInterface({ input: process.stdin })) {
	const message = JSON.parse(line);
	if (message.method === 'notifications/cancelled') waits.get(message.params?.requestId)?.();
	if (message.method === undefined || message.id === undefined) continue;
	answer(message).then(
		(result) => send({ id: message.id, result }),
		(error) => send({ id: message.id, error: { code: error.code ?? -32603, message: error.message, ...(error.data && { data: error.data }) } }),
	);
}
if (!options.stubborn) process.exit(0);

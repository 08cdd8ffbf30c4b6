#!/usr/bin/env node
// An MCP server over stdio with the tools that the official conformance suite (@modelcontextprotocol/conformance) calls by name, written against the
// wire. Behind the daemon in mode `full` with `--passthrough`, the suite's scenarios about tools, progress, logging and schemas can be run:
//   conformance server --url http://127.0.0.1:PORT/mcp --requirements 2025-11-25
import readline from 'node:readline';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ type: 'text', text: value });
const image = { type: 'image', data: png, mimeType: 'image/png' };
const resource = (uri, mimeType, content) => ({ type: 'resource', resource: { uri, mimeType, text: content } });
const nothing = { type: 'object', properties: {} };

let level = 'info';
let late = 0;

function log(data) {
	if (levels.indexOf(level) <= levels.indexOf('info')) send({ method: 'notifications/message', params: { level: 'info', data } });
}

async function report(progressToken) {
	for (const progress of [0, 50, 100]) {
		if (progressToken !== undefined)
			send({ method: 'notifications/progress', params: { progressToken, progress, total: 100, message: `${progress} of 100` } });
		await pause();
	}
}

async function work() {
	log('Tool execution started');
	await pause();
	log('Tool processing data');
	await pause();
	log('Tool execution completed');
	await pause();
}

const schema2020 = {
	$schema: 'https://json-schema.org/draft/2020-12/schema',
	type: 'object',
	$defs: {
		address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
	},
	properties: {
		name: { type: 'string' },
		address: { $ref: '#/$defs/address' },
		contactMethod: { type: 'string', enum: ['phone', 'email'] },
		phone: { type: 'string' },
		email: { type: 'string' },
	},
	allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
	if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
	then: { required: ['phone'] },
	else: { required: ['email'] },
	additionalProperties: false,
};

// name: [description, input schema, what a call of it gives]
const tools = {
	test_simple_text: ['gives a text', nothing, () => ({ content: [text('This is a simple text response for testing.')] })],
	test_image_content: ['gives an image', nothing, () => ({ content: [image] })],
	test_audio_content: ['gives audio', nothing, () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] })],
	test_embedded_resource: [
		'gives a resource',
		nothing,
		() => ({ content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')] }),
	],
	test_multiple_content_types: [
		'gives three kinds of content',
		nothing,
		() => ({
			content: [
				text('Multiple content types test:'),
				image,
				resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
			],
		}),
	],
	test_error_handling: [
		'fails',
		nothing,
		() => ({ isError: true, content: [text('This tool intentionally returns an error for testing')] }),
	],
	test_tool_with_progress: [
		'reports its progress',
		nothing,
		async (params) => {
			await report(params._meta?.progressToken);
			return { content: [text('done')] };
		},
	],
	test_tool_with_logging: [
		'logs while it works',
		nothing,
		async () => {
			await work();
			return { content: [text('done')] };
		},
	],
	test_logging_tool: [
		'logs while it works',
		nothing,
		async () => {
			await work();
			return { content: [text('done')] };
		},
	],
	test_trigger_tool_change: [
		'adds a tool',
		nothing,
		() => {
			late++;
			send({ method: 'notifications/tools/list_changed' });
			return { content: [text('changed')] };
		},
	],
	json_schema_2020_12_tool: ['has a schema with everything', schema2020, () => ({ content: [text('listed as it is')] })],
	test_x_mcp_header: [
		'takes an argument that travels in a header, too',
		{ type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
		({ arguments: given = {} }) => ({ content: [text(`region ${given.region}`)] }),
	],
};

function list() {
	const listed = Object.entries(tools).map(([name, [description, inputSchema]]) => ({ name, description, inputSchema }));
	for (let i = 1; i <= late; i++) listed.push({ name: `late${i}`, description: 'came later', inputSchema: nothing });
	return { tools: listed };
}

const refuse = (code, message) => {
	throw Object.assign(new Error(message), { code });
};

async function answer({ method, params = {} }) {
	switch (method) {
		case 'initialize':
			return {
				protocolVersion: params.protocolVersion,
				capabilities: { tools: { listChanged: true }, logging: {} },
				serverInfo: { name: 'conformance', version: '1.0.0' },
			};
		case 'ping':
			return {};
		case 'logging/setLevel':
			level = levels.includes(params.level) ? params.level : refuse(-32602, `unknown level ${params.level}`);
			return {};
		case 'tools/list':
			return list();
		case 'tools/call':
			if (!Object.hasOwn(tools, params.name)) refuse(-32602, `Unknown tool: ${params.name}`);
			return tools[params.name][2](params);
		default:
			return refuse(-32601, `Method not found: ${method}`);
	}
}

for await (const line of readline.createInterface({ input: process.stdin })) {
	const message = JSON.parse(line);
	if (message.method === undefined || message.id === undefined) continue;
	answer(message).then(
		(result) => send({ id: message.id, result }),
		(error) => send({ id: message.id, error: { code: error.code ?? -32603, message: error.message } }),
	);
}
process.exit(0);

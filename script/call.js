// Calls of tools: every one is told to the runner when it begins and when it ends, so that a run that fails can say what it had done.

// A tool said that it failed (`raw` is its result), its server did, or the call could not be made. `outcome` tells "answered" from "not-sent" (may be
// repeated without fear) and "unknown".
class ToolError extends Error {
	constructor(message, { server, tool, raw, diagnostics, outcome } = {}) {
		super(message);
		Object.assign(this, { server, tool });
		if (outcome !== undefined) this.outcome = outcome;
		if (diagnostics !== undefined) this.diagnostics = diagnostics;
		Object.defineProperty(this, 'raw', { value: raw, enumerable: false });
	}
}
Object.defineProperty(ToolError.prototype, 'name', { value: 'ToolError' });

// The text of a result. It is a String with the whole envelope as .raw; everything that takes text takes it.
class Text extends String {
	[Symbol.for('Deno.customInspect')]() {
		return String(this);
	}

	[Symbol.for('nodejs.util.inspect.custom')]() {
		return String(this);
	}
}

// The envelope of a result, also where .raw could not be attached because the result has a member of that name.
const envelopes = new WeakMap();

function withRaw(value, raw) {
	if (value === null || typeof value !== 'object') return value;
	envelopes.set(value, raw);
	if (!Object.hasOwn(value, 'raw')) Object.defineProperty(value, 'raw', { value: raw, enumerable: false });
	return value;
}

function unwrap(raw) {
	if (raw.structuredContent !== undefined && raw.structuredContent !== null) {
		const value = raw.structuredContent;
		return withRaw(typeof value === 'string' ? new Text(value) : value, raw);
	}
	const content = Array.isArray(raw.content) ? raw.content : [];
	const texts = content.filter((block) => block?.type === 'text' && typeof block.text === 'string').map((block) => block.text);
	if (!texts.length) return withRaw(content.slice(), raw);
	if (texts.length === 1 && /^\s*[[{]/.test(texts[0])) {
		try {
			return withRaw(JSON.parse(texts[0]), raw);
		} catch {
			// Text that only looks like JSON.
		}
	}
	return withRaw(new Text(texts.join('\n')), raw);
}

const errorText = (raw) =>
	(Array.isArray(raw.content) ? raw.content : []).filter((block) => block?.type === 'text').map((block) => block.text).join('\n') ||
	'it failed and did not say why';

// The daemon says of some failures itself which tool they are of.
const placed = (server, tool, text) => (text.startsWith(`${server}.${tool}: `) ? text : `${server}.${tool}: ${text}`);

let calls = 0;
const CALL_ERROR_MAX = 4096; // of what the runner is told, which shows less; the script has the whole

// What a listener throws is the script's own failure and not the call's.
function hear(listener, value) {
	try {
		listener(value);
	} catch (error) {
		queueMicrotask(() => {
			throw error;
		});
	}
}

// Asks for one call. With `onProgress` the daemon answers in lines as long as the tool reports progress, and its ordinary answer is the last one.
async function requestCall(body, onProgress) {
	if (!onProgress) return requestJson('POST', '/v1/call', { 'Content-Type': 'application/json' }, body);
	const pieces = new TextDecoder();
	let rest = '';
	let last;
	const heard = (bytes) => {
		const lines = (rest + pieces.decode(bytes, { stream: true })).split('\n');
		rest = lines.pop();
		for (const line of lines) {
			const message = JSON.parse(line);
			if (message.method === 'notifications/progress') hear(onProgress, message.params);
			else last = { status: message.status, answer: message.body };
		}
	};
	const plain = await requestJson('POST', '/v1/call', { 'Content-Type': 'application/json' }, body, heard);
	return last ?? plain;
}

async function call(server, tool, args = {}, { onProgress } = {}) {
	if (![server, tool].every((name) => typeof name === 'string' || name instanceof String))
		throw new TypeError(`call() takes a server, a tool and its arguments, such as call("files", "read_text_file", { path }); it got ${asText(server)} and ${asText(tool)}`);
	if (args === null || typeof args !== 'object' || Array.isArray(args))
		throw new TypeError(`${server}.${tool}() takes one object with the tool's arguments, and got ${asText(args)}`);
	const known = findTool(server, tool);
	const name = known?.tool ?? String(tool);
	const json = stringify(args);
	const body = encoder.encode(`{"server":${stringify(String(server))},"tool":${stringify(name)},"args":${json}${onProgress ? ',"relay":true' : ''}}`);
	const id = ++calls;
	const began = performance.now();
	const end = (members) => record('called', { id, durationMs: Math.round(performance.now() - began), ...members });
	record('call', {
		id,
		server: known?.server ?? String(server),
		tool: name,
		argsHash: hash(canonical(json)),
		...(known?.destructiveHint !== undefined && { destructiveHint: known.destructiveHint }),
	});
	let status, answer;
	try {
		({ status, answer } = await requestCall(body, onProgress));
	} catch (error) {
		const outcome = error instanceof Unreachable ? 'not-sent' : 'unknown';
		end({ ok: false, outcome, error: error.message });
		throw new ToolError(placed(server, name, error.message), { server, tool: name, outcome });
	}
	const failed = status !== 200 || answer.result?.isError === true;
	if (!failed) {
		end({ ok: true });
		return unwrap(answer.result ?? {});
	}
	const text = status === 200 ? errorText(answer.result) : answer.error ?? `status ${status}`;
	const outcome = status === 200 ? 'answered' : answer.outcome ?? 'not-sent';
	end({ ok: false, outcome, error: text.slice(0, CALL_ERROR_MAX) });
	throw new ToolError(placed(server, name, text), {
		server,
		tool: name,
		outcome,
		raw: status === 200 ? answer.result : answer,
		diagnostics: answer.diagnostics ?? answer.upstream,
	});
}

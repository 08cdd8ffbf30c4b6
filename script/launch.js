// How a script is run: globals, the script itself, then its value or what went wrong, told to the runner.

const entryUrl = host.entryUrl();
// Characters that stand in front of a snippet's first line in the file it was put into.
const offset = Number(host.env('MCPX_ENTRY_OFFSET') ?? 0);
const entryName = host.env('MCPX_ENTRY_NAME');

// Where this module is, and the launcher beside it.
const ourPlace = import.meta.url.replace(/[^/]*$/, '');

// A stack as the author of the script knows it: without our frames and the runtime's, and with the script under its own name.
function scriptFrames(stack) {
	const frames = [];
	for (const line of asText(stack ?? '').split('\n')) {
		const at = /^\s+at (?:async )?(?:(.*?) \()?((?:file|https?):.*?|\/.*?):(\d+):(\d+)\)?$/.exec(line);
		if (!at || (at[2].startsWith(ourPlace) && at[2] !== entryUrl)) continue;
		const [, what, url, row] = at;
		const ours = url === entryUrl;
		const column = Number(at[4]) - (ours && row === '1' ? offset : 0);
		if (column < 1) continue; // the line that starts a snippet
		frames.push({ ours, what: what?.replace(/^async |^Object\./, ''), file: ours ? entryName : pathOf(url), line: Number(row), column });
	}
	return frames;
}

// The frames of a stack stand below its message. Lines of the message may look like frames: a server tells where it failed in its own code.
function belowMessage(error) {
	const stack = asText(error.stack ?? '');
	const message = asText(error.message);
	const at = stack.indexOf(message);
	return at < 0 ? stack : stack.slice(at + message.length);
}

// node begins the stack of TypeScript that it cannot read with the line that is wrong, and no frame of it is in a file.
function unreadable(stack) {
	const [, file, row] = /^(?:file:\/\/)?(\/.*):(\d+)\n/.exec(asText(stack ?? '')) ?? [];
	return file && { file: file === pathOf(entryUrl) ? entryName : file, line: Number(row) };
}

function pathOf(url) {
	try {
		return decodeURIComponent(url.replace(/^file:\/\//, ''));
	} catch {
		return url;
	}
}

// "files.red_file is not a function" says too little where the catalogue knows what was meant.
function explain(message) {
	const [, namespace, tool] = /^(?:\(intermediate value\)|tools\.)?([^\s.]+)\.(.+) is not a function/.exec(message) ?? [];
	const entry = byName.get(namespace);
	const found = entry?.tools.get(tool);
	if (found && found.function !== tool) return `${message}: in a script that tool is ${entry.namespace}.${found.function}()`;
	if (entry && !found) return `${message}: ${missing(entry, tool)}`;
	const unknown = undefinedName(message);
	const near = unknown && nearest(unknown, $index.map(([name]) => name));
	return near ? `${message}; there is the namespace ${near}` : message;
}

const undefinedName = (message) => /^(\S+) is not defined$/.exec(message)?.[1];

// A namespace that is configured and was not there when the script began. The daemon is asked why only when a script has failed for it: most never do.
async function explainAbsent(name) {
	const { answer } = await requestJson('GET', '/v1/status', {}, new Uint8Array(0));
	const server = answer.servers?.find(({ namespace }) => namespace === name);
	if (!server) return undefined;
	const place = `the server ${server.name} is configured`;
	if (server.tools === undefined && server.lastError) return `${place} and does not work: ${server.lastError}`;
	if (server.tools === undefined) return `${place}, and its tools were not known when the script began: --ns ${name} (the option ns) waits for them`;
	return `${place}, and was left out of this run, or its tools came later: name it with --ns (the option ns), which waits for it`;
}

// What a runtime says of a module that it cannot load is coloured, and names the place in its last line.
function placeAtEnd(text) {
	const trimmed = text.trimEnd();
	const end = trimmed.lastIndexOf('\n');
	const [, place] = end < 0 ? [] : /^\s+at ((?:file|https?):\S+:\d+:\d+)$/.exec(trimmed.slice(end + 1)) ?? [];
	return place && { place, above: trimmed.slice(0, end).trimEnd() };
}

const EXPLAIN_MS = 2000; // the daemon answers at once, or is of no help
// Longer ones help nobody, and would not fit into a record.
const MESSAGE_MAX = 32768;
const FRAMES_MAX = 100;

const uncoloured = (value) => asText(value).replace(/\x1b\[[0-9;:]*[@-~]/g, '');
const renamed = (text) => (entryName ? text.replaceAll(entryUrl, () => entryName).replaceAll(pathOf(entryUrl), () => entryName) : text);
const short = (text) => (text.length > MESSAGE_MAX ? `${text.slice(0, MESSAGE_MAX)}…` : text);

const ifAny = (value) => (value === undefined ? undefined : asText(value));
const describeCause = (cause) => uncoloured(cause instanceof Error ? `${asText(cause.name)}: ${asText(cause.message)}` : cause);

function describeError(error) {
	if (!(error instanceof Error)) return { name: 'Error', message: short(`threw ${asText(error)}`) };
	const whole = uncoloured(error.message);
	const ofTool = error instanceof ToolError; // it has a server's words
	const last = ofTool ? undefined : placeAtEnd(whole);
	const text = renamed(last ? last.above : whole);
	const frames = scriptFrames(last ? `    at ${last.place}` : belowMessage(error)).slice(0, FRAMES_MAX);
	const place = frames.find((frame) => frame.ours) ?? frames[0] ?? unreadable(error.stack);
	return {
		name: asText(error.name),
		message: short(ofTool ? text : explain(text)),
		...(place && { file: place.file, line: place.line, column: place.column }),
		...(frames.length && {
			stack: frames.map(({ what, file, line, column }) => `at ${what ? `${what} ` : ''}${file}:${line}:${column}`),
		}),
		...(ofTool && { server: ifAny(error.server), tool: ifAny(error.tool), outcome: ifAny(error.outcome) }),
		...(error.cause !== undefined && { cause: short(describeCause(error.cause)) }),
	};
}

let failing; // the first failure is what is told

function fail(error) {
	failing ??= tellFailure(error);
	return failing;
}

// At once, unless the daemon must be asked. Looking at what was thrown may throw, and there may be no channel any more: the script ends as one that failed
// in any case.
async function tellFailure(error) {
	try {
		const description = describeError(error);
		const name = error instanceof Error && error.name === 'ReferenceError' ? undefinedName(uncoloured(error.message)) : undefined;
		if (name && hasRunner && !byName.has(name)) {
			const patience = new Promise((resolve) => globalThis.setTimeout(resolve, EXPLAIN_MS));
			const why = await Promise.race([explainAbsent(name).catch(() => undefined), patience]);
			if (why) description.message = short(`${uncoloured(error.message)}: ${why}`);
		}
		record('error', description);
	} catch {
		tellUndescribed();
	}
	host.exit(1);
}

function tellUndescribed() {
	try {
		record('error', { name: 'Error', message: 'threw a value that cannot be described: looking at it throws' });
	} catch {
		// It has closed its stderr.
	}
}

function installGlobals() {
	for (const [name, value] of Object.entries({ ...helpers, ...tools }))
		Object.defineProperty(globalThis, name, { value, configurable: true, writable: true, enumerable: false });
}

// Nobody awaits this at the top level of a module: a runtime that runs out of things to do there ends by itself, each with a status and a text of its own.
async function start(main) {
	let waiting = true;
	host.onFatal(fail);
	host.onIdle(() => {
		if (waiting) fail(new Error('the script waits for something that can never come: nothing is left that could settle its promise'));
	});
	installGlobals();
	if (host.env('MCPX_CAPTURE_CONSOLE') === '1') captureConsole();
	if (hasRunner) record('begin');
	try {
		const value = await main();
		if (value !== undefined) recordValue('result', jsonOf(value, "the script's value"));
	} catch (error) {
		await fail(error);
	}
	waiting = false;
	closeConnections();
}

// A module: its default export is called with the array of arguments, another one that was asked for with the arguments themselves. Gives a promise that
// is kept once the module is evaluated, since deno goes on to the module itself after that.
function launch() {
	return new Promise((evaluated) => {
		start(async () => {
			const module = await import(entryUrl);
			evaluated();
			return enter(module, host.args());
		});
	});
}

function enter(module, args) {
	const name = host.env('MCPX_EXPORT');
	if (!name) return typeof module.default === 'function' ? module.default(args) : module.default;
	if (typeof module[name] === 'function') return module[name](...args);
	const names = Object.keys(module).filter((key) => typeof module[key] === 'function');
	throw new Error(`the script has no function ${stringify(name)} among its exports; it has ${names.join(', ') || 'none'}`);
}

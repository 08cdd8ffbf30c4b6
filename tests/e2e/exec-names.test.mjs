// What a script finds without an import, in both runtimes.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { run, runJson } from '../lib/command.mjs';
import { startDaemon } from '../lib/daemon.mjs';
import { newHome } from '../lib/home.mjs';
import { get, post } from '../lib/http.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';

const odd = [
	{ name: 'constructor', description: 'Builds.', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } },
	{ name: 'get-most', description: 'Most of it.', inputSchema: { type: 'object' }, annotations: { destructiveHint: false } },
	{ name: 'half\ud83d', description: 'Of a pair: \udc00.', inputSchema: { type: 'object' } },
];

// A tool named like what every object has is called with a line behind its name.
// `exec(source, options)` gives the document of a run, for each runtime in turn.
function inBoth(name, body, { runtimes = ['deno', 'node'], env } = {}) {
	for (const runtime of runtimes)
		test(`${runtime}: ${name}`, async (t) => {
			const scratch = newScratch(t);
			const { socket } = await startDaemon(scratch, { config: { mcpServers: { scripted: scriptedServer({ tools: odd }) } }, env });
			const exec = async (source, options = {}) => {
				const answer = await post(socket, '/v1/exec', { source, options: { runtime, cwd: scratch.home, ...options } });
				assert.equal(answer.status, 200, answer.text);
				return answer.json;
			};
			await body({ scratch, at: socket, exec });
		});
}

inBoth('whatever holds bytes can be kept', async ({ scratch, at, exec }) => {
	scratch.write('file.bin', Buffer.from([0, 1, 2, 255]));
	const { result, error, artifacts } = await exec(`
		const bytes = new Uint8Array([0, 1, 2, 255]);
		const kept = [];
		for (const [name, data] of [
			['text.txt', 'a text'], ['text', 'a text'], ['string.txt', new String('a text')],
			['bytes.bin', bytes], ['part.bin', new Uint8Array([9, 0, 1, 2, 255, 9]).subarray(1, 5)], ['buffer.bin', bytes.buffer], ['view.bin', new DataView(bytes.buffer)],
			['path.bin', { path: 'file.bin' }], ['absolute.bin', { path: ${JSON.stringify(scratch.path('file.bin'))} }],
			['image.png', { type: 'image', data: 'AAEC/w==', mimeType: 'image/png' }], ['sound.wav', { type: 'audio', data: 'AAEC/w==', mimeType: 'audio/wav' }],
			['blob', { type: 'resource', resource: { uri: 'x:y', blob: 'AAEC/w==', mimeType: 'application/x-y' } }],
			['words.md', { type: 'resource', resource: { uri: 'x:y', text: 'a text', mimeType: 'text/markdown' } }],
			['result.png', await scripted.image()], ['raw.png', { raw: (await scripted.image()).raw }],
			['answer.txt', await scripted.echo({ text: 'a text' })], ['answer.json', await scripted.structured({ value: 1 })],
		]) kept.push([name, (await artifact(name, data)).id]);
		return kept;`);
	assert.equal(error, undefined);
	const four = Buffer.from([0, 1, 2, 255]);
	const image = Buffer.from((await exec('return (await scripted.image())[0].data')).result, 'base64');
	const expected = {
		'text.txt': ['text/plain', 'a text'], text: ['text/plain', 'a text'], 'string.txt': ['text/plain', 'a text'],
		'bytes.bin': ['application/octet-stream', four], 'part.bin': ['application/octet-stream', four],
		'buffer.bin': ['application/octet-stream', four], 'view.bin': ['application/octet-stream', four],
		'path.bin': ['application/octet-stream', four], 'absolute.bin': ['application/octet-stream', four],
		'image.png': ['image/png', four], 'sound.wav': ['audio/wav', four], blob: ['application/x-y', four], 'words.md': ['text/markdown', 'a text'],
		'result.png': ['image/png', image], 'raw.png': ['image/png', image], 'answer.txt': ['text/plain', 'a text'],
		'answer.json': ['application/json', '{\n  "value": 1\n}'],
	};
	assert.deepEqual(result.map(([name]) => name), Object.keys(expected));
	for (const [position, [name, id]] of result.entries()) {
		const [mime, bytes] = expected[name];
		assert.equal(artifacts[position].id, id);
		assert.equal(artifacts[position].mime.split(';')[0], mime, name);
		assert.ok((await get(at, `/v1/artifacts/${id}`)).body.equals(Buffer.from(bytes)), name);
	}
	assert.equal((await exec("return (await artifact('a\\0b', 'x')).name")).result, 'a_b');
	assert.match((await exec("await artifact('x', 5)")).error, /^TypeError: artifact\("x", \.\.\.\) takes a string, a Uint8Array, .*; it got 5/);
	assert.match((await exec("await artifact(5, 'x')")).error, /the name is a string, such as "report\.pdf"/);
	for (const data of ['AAEC/w=!', 'AAE-_w==', 'A', 'AA=A', 'AAEC/w===='])
		assert.match((await exec(`await artifact('x', { type: 'image', data: '${data}', mimeType: 'image/png' })`)).error, /^TypeError: the image has data that is no base64/, data);
	assert.equal((await exec("return (await artifact('x', { type: 'image', data: 'AAEC\\n/w', mimeType: 'image/png' })).size")).result, 4);
	assert.match((await exec("await artifact('x', { path: 'missing.bin' })")).error, /artifact "x" was not stored: .*missing\.bin/);
});

inBoth('an artifact over the limit is refused and not cut', async ({ scratch, exec }) => {
	scratch.write('large.bin', Buffer.alloc(100));
	const { error, artifacts } = await exec("await artifact('large.bin', new Uint8Array(65 * 1024 * 1024))");
	assert.match(error, /artifact "large\.bin" was not stored: .*artifacts\.maxBytes/);
	assert.deepEqual(artifacts, []);
});

// node reads while it writes, and so has the answer before it is told that it cannot write; once it is told it reads no more.
inBoth('a refusal is heard, though the daemon has closed the connection before it was sent everything', async ({ exec }) => {
	const { error } = await exec("await artifact('large.bin', new Uint8Array(65 * 1024 * 1024))");
	assert.match(error, /artifact "large\.bin" was not stored: .*artifacts\.maxBytes/);
}, { runtimes: ['deno'], env: { MCPX_HTTP_LINGER: '0s' } });

inBoth('half a surrogate pair costs neither a call nor a value', async ({ exec }) => {
	const { result, emits, error } = await exec(`
		emit((await scripted.echo({ text: '\u{1f600}'.slice(0, 1) })).raw.content);
		return [describe('scripted.half\\ufffd').description, await call('scripted', 'get-most', { 'k\\udc00': 1 })];`);
	assert.equal(error, undefined);
	assert.deepEqual(emits, [[{ type: 'text', text: '\ufffd' }]]);
	assert.deepEqual(result, ['Of a pair: \ufffd.', { 'k\ufffd': 1 }]);
});

test('a name that is nearly one of a tool or a namespace says which', async (t) => {
	const scratch = newScratch(t);
	const { socket } = await startDaemon(scratch, {
		config: { mcpServers: {
			scripted: scriptedServer({ tools: odd }),
			broken: { command: '/nonexistent/server' },
			slow: scriptedServer({ startMs: 600_000 }),
		} },
	});
	for (const runtime of ['deno', 'node']) {
		const error = async (source) => (await post(socket, '/v1/exec', { source, options: { runtime, ns: 'scripted' } })).json.error;
		assert.match(await error('await scripted["get-most"]()'), /scripted\.get-most is not a function: in a script that tool is scripted\.get_most\(\) \(snippet:1:/);
		assert.match(await error('await tools.scripted["get-most"]()'), /in a script that tool is scripted\.get_most\(\)/);
		assert.match(await error('await scripted["get-mots"]()'), /scripted has no tool "get-mots"; did you mean get_most\?/);
		assert.match(await error('await scripted.ecko()'), /did you mean echo\?/);
		assert.match(await error('await scriptde.echo()'), /there is the namespace scripted/);
		assert.match(await error('await broken.go()'), /^ReferenceError: broken is not defined: the server broken is configured and does not work: .*\/nonexistent\/server/);
		assert.match(await error('await slow.go()'), /slow is not defined: the server slow is configured, and its tools were not known when the script began: --ns slow \(the option ns\) waits for them/);
		assert.match(await error('setTimeout(() => slow.go(), 1); await new Promise((r) => setTimeout(r, 60_000))'), /slow is not defined: the server slow is configured/);
		assert.match(await error('await unheardof.go()'), /^ReferenceError: unheardof is not defined \(snippet:1:\d\)$/);
	}
});

inBoth('only what a server offers is reached by a name', async ({ exec }) => {
	const { result } = await exec(`return {
		own: Object.hasOwn(scripted, 'constructor_'), of: typeof scripted.constructor_,
		inherited: ['constructor', 'toString', 'hasOwnProperty', '__proto__', 'valueOf'].filter((name) => name in scripted || name in tools),
		frozen: Object.isFrozen(scripted) && Object.isFrozen(tools), prototypes: [Object.getPrototypeOf(scripted), Object.getPrototypeOf(tools)],
		by: scripted['get_most'].name,
	}`);
	assert.deepEqual(result, { own: true, of: 'function', inherited: [], frozen: true, prototypes: [null, null], by: 'scripted.get_most' });
	assert.match((await exec('await scripted.ecko({})')).error, /scripted\.ecko is not a function: scripted has no tool "ecko"; did you mean echo\?/);
	assert.match((await exec('await scriptet.echo({})')).error, /scriptet is not defined; there is the namespace scripted/);
	assert.match((await exec("await call('scripted', 'toString')")).error, /^ToolError: scripted\.toString: /);
	assert.match((await exec("describe('scripted.toString')")).error, /describe: scripted has no tool "toString"/);
	assert.match((await exec("describe('toString')")).error, /describe: there is no namespace "toString"; there are scripted/);
});

inBoth('results are values, with the whole answer behind them', async ({ exec }) => {
	const { result, error } = await exec(`
		const text = await scripted.echo({ text: 'words' }), json = await scripted.echo({ text: '{"a":[1]}' }), like = await scripted.echo({ text: '{no json' });
		const object = await scripted.structured({ value: { raw: 'own' } }), blocks = await scripted.image();
		return {
			text: [text instanceof String, text + '!', text.length, text.raw.content[0].type], json: [json.a, json.raw.content.length], like: String(like),
			object: [object.value.raw, object.raw.structuredContent.value], blocks: [Array.isArray(blocks), blocks[0].type, blocks.raw.content.length],
		};`);
	assert.equal(error, undefined);
	assert.deepEqual(result, {
		text: [true, 'words!', 5, 'text'], json: [[1], 1], like: '{no json',
		object: ['own', { raw: 'own' }], blocks: [true, 'image', 1],
	});
});

inBoth('a ToolError tells what failed, and whether it may have been done', async ({ exec }) => {
	const caught = async (source) => (await exec(`try { ${source} } catch (e) { return [e instanceof ToolError, e instanceof Error, e.name, e.server, e.tool, e.outcome, e.message, e.raw?.isError ?? null, Object.keys(e).includes('raw')] }`)).result;
	assert.deepEqual(await caught("await scripted.fail({ text: 'no' })"), [true, true, 'ToolError', 'scripted', 'fail', 'answered', 'scripted.fail: no', true, false]);
	const lost = await caught('await scripted.exit({ status: 3 })');
	assert.deepEqual([lost[0], lost[4], lost[5]], [true, 'exit', 'unknown']);
	assert.match(lost[6], /^scripted\.exit: (?!scripted\.exit)/);
	const unsent = await caught("await call('nowhere', 'x')");
	assert.deepEqual([unsent[0], unsent[3], unsent[5]], [true, 'nowhere', 'not-sent']);
	const wrong = await exec('await scripted.echo([1])');
	assert.match(wrong.error, /^TypeError: scripted\.echo\(\) takes one object with the tool's arguments, and got \[1\]/);
	assert.deepEqual(wrong.calls, []);
	const short = await exec("await call('scripted.echo', { text: 'x' })");
	assert.match(short.error, /^TypeError: call\(\) takes a server, a tool and its arguments, .*; it got scripted\.echo and \{"text":"x"\}/);
	assert.deepEqual(short.calls, []);
});

inBoth('what a tool says of its failure is its own words, whatever they look like', async ({ exec }) => {
	const fails = (text, options) => exec(`await scripted.fail({ text: ${text} })`, options);
	const said = 'boom\n    at go (file:///srv/server.mjs:10:5)\n    at file:///srv/server.mjs:11:5';
	const { errorDetail } = await fails(JSON.stringify(said));
	assert.equal(errorDetail.message, `scripted.fail: ${said}`);
	assert.deepEqual([errorDetail.file, errorDetail.line, errorDetail.column, errorDetail.stack], ['snippet', 1, 1, ['at snippet:1:1']]);
	assert.equal((await fails("'ecko is not a function'")).errorDetail.message, 'scripted.fail: ecko is not a function');
	// Neither lines without end nor names without end keep the script from telling.
	for (const text of ["'\\n'.repeat(400_000)", "'x'.repeat(400_000) + ' is not a function'"]) {
		const { timedOut, error } = await fails(text, { timeout: '30s' });
		assert.deepEqual([timedOut, error.slice(0, 24)], [false, 'ToolError: scripted.fail']);
	}
	const { timedOut, error } = await exec(`describe('scripted.' + 'e'.repeat(1_000_000))`, { timeout: '30s' });
	assert.deepEqual([timedOut, error.slice(0, 32)], [false, 'Error: describe: scripted has no']);
});

inBoth('calls say what their server says of destruction, and equal arguments look equal', async ({ exec }) => {
	const { calls } = await exec(`
		await scripted.echo({ a: 1, b: [{ c: 2, d: 3 }] }); await scripted.echo({ b: [{ d: 3, c: 2 }], a: 1 }); await scripted.echo({ a: 2 });
		for (const name of ['constructor_', 'get_most']) await scripted[name]({}).catch(() => {});`);
	const [first, second, third] = calls.map(({ argsHash }) => argsHash);
	assert.match(first, /^[0-9a-f]{16}$/);
	assert.ok(first === second && first !== third);
	assert.deepEqual(calls.map(({ tool, destructiveHint }) => [tool, destructiveHint]).slice(2), [['echo', undefined], ['constructor', true], ['get-most', false]]);
});

inBoth('search and describe answer as the daemon does', async ({ at, exec }) => {
	for (const query of ['echo', 'most of', 'scripted', 'nothing like this']) {
		const { result } = await exec(`return search(${JSON.stringify(query)}).map(({ namespace, tool, score }) => [namespace, tool, score])`);
		const there = (await get(at, `/v1/search?q=${encodeURIComponent(query)}&limit=20`)).json;
		assert.deepEqual(result, (there.tools ?? there).map(({ namespace, tool, score }) => [namespace, tool, score]), query);
	}
	assert.equal((await exec("return search('scripted', 2).length")).result, 2);
	const { result } = await exec("return [describe('scripted.get-most'), describe('scripted.get_most')]");
	assert.deepEqual(result[0], result[1]);
	assert.deepEqual(result[0], { namespace: 'scripted', server: 'scripted', tool: 'get-most', function: 'get_most', ...Object.fromEntries(Object.entries(odd[1]).filter(([key]) => key !== 'name')) });
});

inBoth('logs have levels, fields and templates, and the console makes some', async ({ exec }) => {
	const { logs, stdout } = await exec(`
		log('plain'); log.debug('d'); log.info('{n} of {{all}} {missing}', { n: 1, all: 2 }); log.with({ who: 'me' }).warn('bound', { n: 1n });
		log.error(new TypeError('broken')); const loop = {}; loop.loop = loop; log('circular', { loop });
		console.warn('%s is %d%%', 'it', 5, { a: 1 }); console.error('x'); console.assert(1 > 2, 'sums'); console.log('printed');`);
	const said = logs.map(({ level, msg, template }) => [level, msg, template]);
	assert.deepEqual(said.slice(0, 5), [
		['info', 'plain', undefined], ['debug', 'd', undefined], ['info', '1 of 2 {missing}', '{n} of {{all}} {missing}'], ['warn', 'bound', undefined], ['error', 'broken', undefined],
	]);
	assert.deepEqual(logs[3].attrs, { who: 'me', n: '1' });
	assert.equal(logs[4].attrs.error.name, 'TypeError');
	assert.deepEqual([logs[5].msg, typeof logs[5].attrs.loop], ['circular', 'string']);
	assert.deepEqual([said[6][0], said[6][1].slice(0, 9), said[7].slice(0, 2), said[8].slice(0, 2)], ['warn', 'it is 5% ', ['error', 'x'], ['error', 'Assertion failed sums']]);
	assert.ok(logs.every(({ ts }) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(ts)));
	assert.equal(stdout, 'printed\n');
});

inBoth('a value that JSON cannot say is said as well as can be, or refused', async ({ exec }) => {
	const { result } = await exec("return { big: 2n ** 64n, map: new Map([['a', 1]]), set: new Set([1]), bytes: new Uint8Array(3), error: new RangeError('far'), not: undefined }");
	assert.deepEqual({ ...result, error: [result.error.name, result.error.message] }, {
		big: '18446744073709551616', map: { a: 1 }, set: [1], bytes: '[Uint8Array of 3 bytes: keep it with artifact()]', error: ['RangeError', 'far'],
	});
	assert.match((await exec('const a = {}; a.a = a; return a')).error, /^TypeError: the script's value cannot be written as JSON: /);
	assert.match((await exec('return scripted.echo')).error, /^TypeError: the script's value is a function, which JSON cannot say/);
	const nothing = await exec('await 1');
	assert.deepEqual([nothing.exitCode, 'result' in nothing], [0, false]);
	assert.equal((await exec('return null')).result, null);
	assert.match((await exec('throw "a string"')).error, /^Error: threw a string/);
});

inBoth('the daemon tells a script where its configuration is', async ({ scratch, exec }) => {
	const { cwd, config, scriptDirs } = (await exec('return paths')).result;
	assert.deepEqual({ cwd, config, scriptDirs }, { cwd: scratch.home, config: scratch.path('config.json'), scriptDirs: [] });
});

test('a command tells its script which configuration and which directories of scripts there are', async (t) => {
	const scratch = newHome(t);
	scratch.write('.mcpx/scripts/where.ts', 'export default () => paths;');
	const here = await runJson(scratch, ['run', 'where']);
	assert.deepEqual([here.config, here.scriptDirs], [scratch.path('config.json'), [scratch.path('.mcpx/scripts')]]);
	// Without any, whatever a run around it was told.
	const bare = { cwd: scratch.env.TMPDIR, env: { MCPX_CONFIG: '', HOME: '/nowhere', MCPX_CONFIG_PATH: '/outer', MCPX_SCRIPT_DIRS: '/outer' } };
	fs.rmSync(scratch.path('.mcpx'), { recursive: true });
	scratch.atEnd(() => run(scratch, ['stop'], bare));
	const nothing = await runJson(scratch, ['exec', 'return paths'], bare);
	assert.equal('config' in nothing, false);
	assert.deepEqual(nothing.scriptDirs, []);
});

// Scripts: run by the daemon for programs and models, against real servers, with both runtimes.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { run } from '../lib/command.mjs';
import { startDaemon, untilStatus } from '../lib/daemon.mjs';
import { events, get, post } from '../lib/http.mjs';
import { stdioClient } from '../lib/mcp.mjs';
import { everythingServer, filesystemServer, scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';
import { givenTime, until } from '../lib/wait.mjs';

const runtimes = ['deno', 'node'];

// A daemon with the scripted server, and `exec(source, options, headers)` that gives the parsed document, or the answer of another output.
async function daemonWith(t, mcpServers = { scripted: scriptedServer() }, more = {}) {
	const scratch = newScratch(t);
	const daemon = await startDaemon(scratch, { config: { mcpServers }, ...more });
	const exec = async (source, options = {}, headers = {}) => {
		const answer = await post(daemon.socket, '/v1/exec', { source, options }, { headers });
		assert.equal(answer.status, 200, answer.text);
		return options.output ? answer : answer.json;
	};
	return { scratch, daemon, at: daemon.socket, exec };
}

const frames = (text) => text.trim().split('\n').map((line) => JSON.parse(line));
const lines = { accept: 'application/x-ndjson' };
const gone = (pid) => !fs.existsSync(`/proc/${pid}`);
const streamed = (at, source) =>
	events(at, '/v1/exec', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ source, options: { output: 'stream' } }) });
// A script waits for a file that the test makes.
const awaits = (file) => `{ const { existsSync } = await import('node:fs'); while (!existsSync(${JSON.stringify(file)})) await new Promise((r) => setTimeout(r, 5)); }`;

test('one script uses several servers, and the document has all that it said', async (t) => {
	const scratch = newScratch(t);
	scratch.write('docs/a.txt', 'first\nsecond\n');
	const { socket } = await startDaemon(scratch, {
		config: { mcpServers: { files: filesystemServer(scratch.path('docs')), everything: everythingServer(), scripted: scriptedServer() } },
	});
	const source = `
		const [hit] = search('read text file');
		const file = await files.read_text_file({ path: ${JSON.stringify(scratch.path('docs/a.txt'))}, head: 1 });
		emit({ hit: hit.function });
		log.info('read {bytes} bytes', { bytes: file.content.length });
		const sums = await Promise.all([1, 2].map((n) => everything.get_sum({ a: n, b: 1 })));
		const image = await artifact('logo.png', await everything.get_tiny_image());
		console.log('printed');
		const weather = await everything.get_structured_content({ location: 'Chicago' });
		return { file, sums: sums.map(String), bytes: image.size, weather: typeof weather.temperature, raw: weather.raw.content.length };`;
	for (const runtime of runtimes) {
		const document = (await post(socket, '/v1/exec', { source, options: { runtime, ns: ['files', 'everything'] } })).json;
		assert.equal(document.error, undefined, document.error);
		assert.deepEqual(document.result, {
			file: { content: 'first' },
			sums: ['The sum of 1 and 1 is 2.', 'The sum of 2 and 1 is 3.'],
			bytes: document.artifacts[0].size,
			weather: 'number',
			raw: 1,
		});
		assert.deepEqual(document.emits, [{ hit: 'read_text_file' }]);
		assert.equal(document.logs[0].msg, 'read 5 bytes');
		assert.equal(document.stdout, 'printed\n');
		assert.deepEqual([document.exitCode, document.timedOut, document.runtime], [0, false, runtime]);
		assert.match(document.runId, /^[0-9a-f]{16}$/);
		assert.deepEqual(document.calls.map(({ tool, ok }) => [tool, ok]).sort(), [
			['get-structured-content', true],
			['get-sum', true],
			['get-sum', true],
			['get-tiny-image', true],
			['read_text_file', true],
		]);
		const { id, sha256, run: producer } = document.artifacts[0];
		assert.equal(producer, document.runId);
		const body = (await get(socket, `/v1/artifacts/${id}`)).body;
		assert.equal(crypto.createHash('sha256').update(body).digest('hex'), sha256);
	}
});

test('what a caller may ask of a run', async (t) => {
	const { exec, scratch } = await daemonWith(t);
	for (const runtime of runtimes) {
		const source = `
			import fs from 'node:fs';
			import process from 'node:process';
			export const main = (...args) => ({ args, cwd: process.cwd(), set: process.env.SET, stdin: fs.readFileSync(0, 'utf8'), session: process.env.MCPX_SESSION })`;
		const { result } = await exec(source, {
			runtime, args: ['a', '--b'], export: 'main', cwd: scratch.home, env: { SET: 'x=y' }, stdin: 'in', session: 'mine',
		});
		assert.deepEqual(result, { args: ['a', '--b'], cwd: scratch.home, set: 'x=y', stdin: 'in', session: 'mine' });
	}
	assert.deepEqual((await exec('console.warn("x")', { captureConsole: false })).logs, []);
	assert.equal((await exec('console.log(JSON.stringify({ a: [1] }))')).result.a[0], 1);
	assert.deepEqual((await exec('return Object.keys(tools)', { ns: [] })).result, ['scripted']);
});

test('a file of the daemon runs from its own place', async (t) => {
	const { at, scratch } = await daemonWith(t);
	scratch.write('scripts/half.ts', 'export const half = (n: number): number => n / 2;');
	const file = scratch.write('scripts/main.ts', "import { half } from './half.ts';\nexport default ([n]: string[]) => half(Number(n));");
	for (const runtime of runtimes) {
		assert.equal((await post(at, '/v1/exec', { file, options: { runtime, args: ['42'] } })).json.result, 21);
		assert.equal((await post(at, '/v1/exec', { file: 'main.ts', options: { runtime, args: ['4'], cwd: scratch.path('scripts') } })).json.result, 2);
	}
});

test('a request for a run that cannot start is refused', async (t) => {
	const { at } = await daemonWith(t);
	const refused = async (body, pattern) => {
		const answer = await post(at, '/v1/exec', body);
		assert.equal(answer.status, 400, answer.text);
		assert.match(answer.json.error, pattern);
	};
	await refused({}, /either "source", the text of a script, or "file"/);
	await refused({ source: '1', file: '/x' }, /either "source"/);
	await refused({ file: '/no/such.ts' }, /\/no\/such\.ts: the script cannot be read/);
	await refused({ source: '1', options: { output: 'yaml' } }, /options\.output must be text, structured or stream/);
	await refused({ source: '1', options: { timeout: 'soon' } }, /options\.timeout must be a duration/);
	await refused({ source: '1', options: { cwd: 'relative' } }, /options\.cwd must be an absolute path/);
	await refused({ source: '1', options: { cwd: '/no/such' } }, /\/no\/such: the script cannot run there/);
	await refused({ source: '1', options: { env: { 'A=B': 'x' } } }, /options\.env must be an object/);
	await refused({ source: '1', options: { args: [1] } }, /options\.args must be an array of strings/);
	await refused({ source: '1', options: { runtime: 'bun' } }, /there is no runtime "bun": it may be auto, deno, node, or a path/);
	await refused({ source: '1', options: { artifacts: { delivery: 'pigeon' } } }, /artifacts\.delivery must be reference or inline/);
	await refused({ source: '1', options: { phases: {} } }, /there is no option phases; there are args, artifacts/);
	await refused({ source: '1', options: { ns: 'nothing' } }, /there is no namespace "nothing"; there are: scripted/);
	await refused({ source: 'return 1', options: { export: 'main' } }, /the source exports nothing/);
	assert.equal((await post(at, '/v1/exec', { source: 7 })).status, 400);
});

test('a stream has its frames in order, as lines or as events', async (t) => {
	const { at, exec } = await daemonWith(t);
	const source = "emit(1); console.log('out'); log('said'); await scripted.echo({ text: 'x' }); await artifact('a.txt', 'kept'); return 2";
	const told = frames((await exec(source, { output: 'stream' }, lines)).text);
	assert.deepEqual(told.map(({ type }) => type).filter((type) => type !== 'stdout'), ['start', 'emit', 'log', 'call', 'artifact', 'result', 'end']);
	assert.equal(told.find(({ type }) => type === 'stdout').data, 'out\n');
	assert.deepEqual(Object.keys(told.find(({ type }) => type === 'call')).sort(), ['argsHash', 'durationMs', 'ok', 'server', 'tool', 'type']);
	assert.deepEqual(told.at(-2), { type: 'result', value: 2 });
	assert.equal(told.at(-1).exitCode, 0);

	const stream = await streamed(at, source);
	assert.equal(stream.headers['content-type'], 'text/event-stream');
	assert.match(stream.headers['x-mcpx-run'], /^[0-9a-f]{16}$/);
	const heard = [];
	for await (const { event, data } of stream) heard.push([event, JSON.parse(data)]);
	assert.ok(heard.every(([event, { type }]) => event === type));
	assert.deepEqual(heard.at(-2)[1], { type: 'result', value: 2 });

	const text = await exec(source.replace('return 2', "return 'the end'"), { output: 'text' });
	assert.equal(text.headers['content-type'], 'text/plain; charset=utf-8');
	// What is printed and what is emitted come on two ways, so which is first is not said; the result is last.
	const shown = text.text.split('\n');
	assert.deepEqual([shown.slice(0, 2).sort(), shown.slice(2)], [['1', 'out'], ['the end', '']]);
	assert.equal((await exec("emit({ a: 1 }); emit('line'); log('not shown')", { output: 'text' })).text, '{\n  "a": 1\n}\nline\n');
	assert.match((await exec("console.log('a'); throw new Error('b')", { output: 'text' })).text, /^a\nError: b \(snippet:1:25\)\n/);
});

test('frames come while the script runs', async (t) => {
	const { at, scratch } = await daemonWith(t);
	const gate = scratch.path('gate');
	const stream = await streamed(at, `emit('waiting'); console.log('printed'); ${awaits(gate)} return 'opened'`);
	const heard = [];
	for await (const { event, data } of stream) {
		heard.push(event);
		// Both were told although the script has not ended: it waits for this.
		if (heard.includes('emit') && heard.includes('stdout')) fs.writeFileSync(gate, '');
		if (event === 'result') assert.equal(JSON.parse(data).value, 'opened');
	}
	assert.equal(heard.at(-1), 'end');
});

test('a caller that goes away ends its run, with all that came from it', async (t) => {
	for (const output of ['stream', 'structured']) {
		const { at, scratch } = await daemonWith(t);
		const note = scratch.path('pids');
		const source = `const { spawn } = await import('node:child_process'); const { writeFileSync, renameSync } = await import('node:fs');
			process.on('SIGTERM', () => {}); const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
			writeFileSync(${JSON.stringify(`${note}.new`)}, process.pid + ' ' + child.pid); renameSync(${JSON.stringify(`${note}.new`)}, ${JSON.stringify(note)});
			await scripted.sleep({ ms: 600000 })`;
		const request = http.request({ socketPath: at, method: 'POST', path: '/v1/exec', headers: { 'content-type': 'application/json' } });
		request.on('error', () => {});
		request.end(JSON.stringify({ source, options: { output } }));
		await until(() => fs.existsSync(note), 'the script begins');
		const pids = fs.readFileSync(note, 'utf8').split(' ').map(Number);
		assert.ok(pids.every((pid) => !gone(pid)));
		assert.equal((await get(at, '/v1/status')).json.runs, 1);
		request.destroy();
		await until(() => pids.every(gone), 'the run is gone');
		await untilStatus(at, ({ runs }) => runs === 0);
	}
});

test('a run that takes too long says what may have happened', async (t) => {
	const { exec } = await daemonWith(t);
	for (const runtime of runtimes) {
		const source = "await scripted.echo({ text: 'done' }); await scripted.sleep({ ms: 600000 })";
		let timeout;
		const attempt = (seconds) => exec(source, { runtime, timeout: (timeout = `${seconds}.5s`) });
		const document = await givenTime(attempt, ({ calls }) => calls.length === 2);
		assert.deepEqual([document.exitCode, document.timedOut], [124, true]);
		assert.equal(document.error, `timed out after ${timeout} (exec.timeout)`);
		assert.deepEqual(document.calls.map(({ tool, ok, outcome }) => [tool, ok, outcome]), [['echo', true, undefined], ['sleep', false, 'unknown']]);
	}
	const failed = await exec("await scripted.echo({}); await scripted.fail({ text: 'on purpose' })");
	assert.equal(failed.exitCode, 1);
	assert.match(failed.error, /^ToolError: scripted\.fail: on purpose \(snippet:1:\d+\)$/);
	assert.deepEqual(failed.calls.map(({ tool, ok }) => [tool, ok]), [['echo', true], ['fail', false]]);
	assert.equal(failed.errorDetail.tool, 'fail');
	const died = await exec('await scripted.exit({ status: 3 })');
	assert.equal(died.errorDetail.outcome, 'unknown');
	const unsent = await exec("await call('nowhere', 'x')");
	assert.match(unsent.error, /nowhere/);
});

test('only so many runs at once', async (t) => {
	const { at, scratch } = await daemonWith(t, undefined, { env: { MCPX_EXEC_MAX_RUNS: '1' } });
	const gate = scratch.path('gate');
	const waiting = post(at, '/v1/exec', { source: `${awaits(gate)} return 'first'` });
	await until(async () => (await get(at, '/v1/status')).json.runs === 1, 'the first run begins');
	const refused = await post(at, '/v1/exec', { source: 'return 2' });
	assert.equal(refused.status, 503);
	assert.match(refused.json.error, /1 scripts run already \(exec\.maxRuns\)/);
	fs.writeFileSync(gate, '');
	assert.equal((await waiting).json.result, 'first');
	assert.equal((await post(at, '/v1/exec', { source: 'return 3' })).json.result, 3);
});

test('output over the limit is dropped and marked, and the result still comes', async (t) => {
	const { exec } = await daemonWith(t, undefined, { env: { MCPX_EXEC_OUTPUT_MAX: '64KiB' } });
	const document = await exec("for (let i = 0; i < 100; i++) { emit('e'.repeat(1000)); console.log('o'.repeat(1000)); } return 'still here'");
	assert.equal(document.result, 'still here');
	assert.ok(JSON.stringify(document).length < 80_000);
	assert.ok(document.dropped.bytes > 100_000 && document.dropped.frames > 50, JSON.stringify(document.dropped));
	assert.equal(document.logs.filter(({ msg }) => /exec\.outputMax/.test(msg)).length, 1);
	assert.match((await exec("return 'x'.repeat(70000)")).error, /keep it with artifact\(\) and return that/);
});

test('media become links for callers that take them, and stay bytes in the script', async (t) => {
	const { at, exec } = await daemonWith(t);
	const source = 'const r = await scripted.image(); emit({ deep: [r.raw] }); return { bytes: r[0].data.length, r }';
	const plain = await exec(source);
	assert.equal(plain.result.r[0].type, 'image');
	for (const options of [{ capabilities: ['artifacts'] }, { artifacts: {} }]) {
		const linked = await exec(source, options);
		assert.equal(linked.result.bytes, plain.result.r[0].data.length);
		const [link] = linked.result.r;
		assert.deepEqual([link.type, link.mimeType, link.data], ['resource_link', 'image/png', undefined]);
		assert.equal(linked.emits[0].deep[0].content[0].type, 'resource_link');
		assert.deepEqual(linked.artifacts.map(({ uri }) => uri), [linked.emits[0].deep[0].content[0].uri, link.uri]);
		assert.equal(linked.artifacts[0].run, linked.runId);
		const body = (await get(at, `/v1/artifacts/${link.uri.split('/').at(-1)}`)).body;
		assert.equal(body.toString('base64'), plain.result.r[0].data);
	}
	const told = frames((await exec(source, { output: 'stream', capabilities: ['artifacts'] }, lines)).text);
	assert.deepEqual(told.map(({ type }) => type), ['start', 'call', 'artifact', 'emit', 'artifact', 'result', 'end']);
});

// The frames of a run are on their way when it is over already, and its own memory is gone: a sanitizer sees who still looks there.
test('what becomes a link when the run is over is kept with its session', async (t) => {
	const { at, exec } = await daemonWith(t);
	for (const session of ['mine', undefined]) {
		const { artifacts, runId } = await exec('return (await scripted.image()).raw', { capabilities: ['artifacts'], session });
		assert.deepEqual(artifacts.map((kept) => [kept.run, kept.session]), [[runId, session ?? `exec-${runId}`]]);
		const listed = (await get(at, `/v1/artifacts?session=${artifacts[0].session}`)).json.artifacts;
		assert.deepEqual(listed.map(({ id }) => id), [artifacts[0].id]);
	}
});

test('artifacts are delivered inside the answer when that is asked for', async (t) => {
	const { exec } = await daemonWith(t);
	const source = "await artifact('small.txt', 'small'); await artifact('large.txt', 'x'.repeat(1000))";
	const { artifacts } = await exec(source, { artifacts: { delivery: 'inline', maxBytes: 100 } });
	assert.equal(Buffer.from(artifacts[0].data, 'base64').toString(), 'small');
	assert.equal(artifacts[1].data, undefined);
	assert.equal((await exec(source, { artifacts: { delivery: 'reference' } })).artifacts[0].data, undefined);
});

test('a slow reader holds the script up and loses nothing', async (t) => {
	const { at, scratch } = await daemonWith(t, undefined, { env: { MCPX_HTTP_UNSENT_LIMIT: '64KiB', MCPX_EXEC_OUTPUT_MAX: '64MiB' } });
	const begun = scratch.path('begun');
	const source = `(await import('node:fs')).writeFileSync(${JSON.stringify(begun)}, ''); for (let i = 0; i < 3000; i++) console.log(String(i).padEnd(999, '.'))`;
	const response = await new Promise((resolve, reject) => {
		const request = http.request({ socketPath: at, method: 'POST', path: '/v1/exec', headers: { 'content-type': 'application/json' } }, resolve);
		request.on('error', reject);
		request.end(JSON.stringify({ source, options: { output: 'text' } }));
	});
	await until(() => fs.existsSync(begun), 'the script prints');
	let text = '';
	for await (const chunk of response) text += chunk;
	assert.deepEqual(text.trim().split('\n').map((line) => Number.parseInt(line, 10)), Array.from({ length: 3000 }, (_, i) => i));
});

test('a model gets text and links, and an error that says what was done', async (t) => {
	const scratch = newScratch(t);
	const config = scratch.writeConfig({ mcpServers: { scripted: scriptedServer() } });
	scratch.atEnd(() => run(scratch, ['--config', config, 'stop']));
	const client = await stdioClient(scratch, ['--config', config, 'serve']);
	const exec = (args) => client.callTool({ name: 'mcpx_exec', arguments: args });

	const good = await exec({ source: "emit({ a: 1 }); log.warn('careful', { n: 2 }); console.log('out'); await artifact('a.txt', 'kept'); return { r: await scripted.image() }" });
	assert.equal(good.isError, undefined);
	assert.equal(good.content[0].type, 'text');
	assert.match(good.content[0].text, /"a": 1/);
	assert.match(good.content[0].text, /^\[warn\] careful n=2$/m);
	assert.match(good.content[0].text, /^out$/m);
	assert.match(good.content[0].text, /"type": "resource_link"/);
	assert.ok(!good.content[0].text.includes('iVBOR'));
	assert.deepEqual(good.content.slice(1).map(({ type, name, mimeType }) => [type, name, mimeType]), [
		['resource_link', 'a.txt', 'text/plain'],
		['resource_link', 'image.png', 'image/png'],
	]);

	const bad = await exec({ source: "await scripted.echo({ text: 'x' });\nawait scripted.fail({ text: 'no' });" });
	assert.equal(bad.isError, true);
	assert.match(bad.content[0].text, /ToolError: scripted\.fail: no \(snippet:2:1\)/);
	assert.match(bad.content[0].text, /tool calls made by then \(2\):\n {2}scripted\.echo {2}ok, \d+ ms\n {2}scripted\.fail {2}failed: no/);

	const late = await givenTime(
		(timeoutSec) => exec({ source: 'await scripted.sleep({ ms: 600000 })', timeoutSec }),
		({ content }) => content[0].text.includes('scripted.sleep'),
	);
	assert.match(late.content[0].text, /timed out after \d+s.*\n.*\n {2}scripted\.sleep {2}outcome unknown/);
	const refused = await exec({ source: 'return 1', options: { runtime: 'bun' } });
	assert.equal(refused.isError, true);
	assert.match(refused.content[0].text, /it may be auto, deno, node/);

	// Cancelling the call ends the script.
	const note = scratch.path('pid');
	const abort = new AbortController();
	const running = client.callTool(
		{ name: 'mcpx_exec', arguments: { source: `(await import('node:fs')).writeFileSync(${JSON.stringify(note)}, String(process.pid)); await new Promise((r) => setTimeout(r, 600000))` } },
		undefined,
		{ signal: abort.signal },
	);
	await until(() => fs.existsSync(note) && fs.readFileSync(note, 'utf8'), 'the script begins');
	const pid = Number(fs.readFileSync(note, 'utf8'));
	abort.abort();
	await assert.rejects(running);
	await until(() => gone(pid), 'the script is gone');
});

test('instances of a run without a session end with it', async (t) => {
	const { exec } = await daemonWith(t, { scripted: { ...scriptedServer(), mcpx: { scope: 'session', max: 3 } } });
	const first = await exec('return [String(await scripted.pid()), String(await scripted.pid())]');
	assert.equal(first.result[0], first.result[1]);
	await until(() => gone(Number(first.result[0])), 'its instance is gone');
	const named = await exec('return String(await scripted.pid())', { session: 'kept' });
	assert.equal((await exec('return String(await scripted.pid())', { session: 'kept' })).result, named.result);
});

test('a run of the command line ends the instances of its own session, and no others', async (t) => {
	const { scratch, at } = await daemonWith(t, { scripted: { ...scriptedServer(), mcpx: { scope: 'session', max: 5 } } });
	const pid = async (...args) => {
		const { status, stdout, stderr } = await run(scratch, args, { env: { MCPX_CONFIG: scratch.path('config.json') } });
		assert.equal(status, 0, stderr);
		return Number(stdout);
	};
	const live = async () => (await get(at, '/v1/status')).json.servers[0].live;
	scratch.write('pid.ts', 'export default async () => Number(await scripted.pid())');
	for (const output of ['text', 'stream', 'structured'])
		assert.equal((await run(scratch, ['exec', '--output', output, 'await scripted.pid()'], { env: { MCPX_CONFIG: scratch.path('config.json') } })).status, 0);
	const own = await pid('run', 'pid.ts');
	await until(() => gone(own), 'its instance is gone');
	const kept = await pid('exec', '--session', 'kept', 'return Number(await scripted.pid())');
	assert.equal(await pid('exec', '--session', 'kept', 'return Number(await scripted.pid())'), kept);
	await until(async () => (await live()) === 1, 'only the named one is left');

	assert.deepEqual((await post(at, '/v1/session/release', { session: 'nobody' })).json, { released: 0 });
	assert.equal((await post(at, '/v1/session/release', {})).status, 400);
	assert.deepEqual((await post(at, '/v1/session/release', { session: 'kept' })).json, { released: 1 });
	await until(() => gone(kept), 'it is gone');
});

test('a result that is lost fails the run, in every form', async (t) => {
	const { scratch, at, exec } = await daemonWith(t);
	const env = { MCPX_CONFIG: scratch.path('config.json') };
	const large = 'return "x".repeat(3e7)';
	const why = /the script's value has 30000028 bytes, more than the limit of 8MiB for one value \(exec\.frameMax\): keep it with artifact\(\)/;
	for (const runtime of runtimes) {
		const text = await run(scratch, ['exec', '--runtime', runtime, large], { env });
		assert.deepEqual([text.status, text.stdout], [1, '']);
		assert.match(text.stderr, why);
		const json = await run(scratch, ['exec', '--runtime', runtime, '--json', large], { env });
		assert.equal(json.status, 1);
		const document = JSON.parse(json.stdout);
		assert.match(document.error, why);
		assert.deepEqual([document.exitCode, document.result, document.dropped], [1, undefined, { bytes: 30000028, frames: 1 }]);
		const stream = await run(scratch, ['exec', '--runtime', runtime, '--output', 'stream', large], { env });
		assert.equal(stream.status, 1);
		assert.deepEqual(frames(stream.stdout).map(({ type }) => type), ['start', 'error', 'end']);
		assert.match((await exec(large, { runtime })).error, why);
	}
	// A part of the story that is lost is told where there is nobody to read log records, too.
	const told = await exec('emit("x".repeat(3e7)); return 1', { output: 'text' });
	assert.match(told.text, /^1\n\[dropped: 30000026 bytes, over exec\.frameMax, exec\.outputMax or json\.maxDepth\]\n$/);
	const noted = await run(scratch, ['exec', 'emit("x".repeat(3e7)); return 1'], { env });
	assert.deepEqual([noted.status, noted.stdout], [0, '1\n']);
	assert.match(noted.stderr, /warn: an emitted value has 30000026 bytes, more than the limit of 8MiB/);
	assert.equal((await get(at, '/v1/health')).status, 200);
});

test('a script that cannot be read is told once, without colours and files of ours', async (t) => {
	const { scratch } = await daemonWith(t);
	const env = { MCPX_CONFIG: scratch.path('config.json'), NO_COLOR: '', FORCE_COLOR: '1' };
	const file = scratch.write('broken.ts', "import x from './missing.ts';\nexport default () => x;\n");
	for (const runtime of runtimes) {
		const { stderr } = await run(scratch, ['exec', '--runtime', runtime, 'const x = = 3'], { env });
		assert.equal(stderr.split('const x = = 3').length, 2, stderr);
		assert.doesNotMatch(stderr, /\x1b\[3[0-9]m\S*file:|mcpx\.start|backtrace|cache/);
		const { stdout } = await run(scratch, ['run', '--runtime', runtime, '--json', file], { env });
		const { error } = JSON.parse(stdout);
		assert.doesNotMatch(error, /\x1b/);
		assert.match(error, /missing\.ts/);
		assert.ok(error.split(`${file}:1`).length <= 2, error);
	}
	// node takes types off and nothing else, and puts the place of what it cannot into no frame.
	const listed = scratch.write('listed.ts', 'const one = 1;\nenum Kind { One }\nexport default one;\n');
	const { stderr } = await run(scratch, ['run', '--runtime', 'node', listed], { env });
	assert.match(stderr, new RegExp(`^mcpx: SyntaxError: .* \\(${listed}:2\\)\n$`));
});

test('what a script says on stderr is shown once, and is in the document', async (t) => {
	const { scratch, exec } = await daemonWith(t);
	const source = 'process.stderr.write("why\\n"); process.exit(3)';
	const ended = await run(scratch, ['exec', source], { env: { MCPX_CONFIG: scratch.path('config.json') } });
	assert.equal(ended.status, 3);
	assert.equal(ended.stderr, 'why\nmcpx: the script exited with code 3\n');
	assert.equal((await exec(source)).error, 'the script exited with code 3:\nwhy');
});

test('progress of a call reaches the script that waits for it', async (t) => {
	const { exec } = await daemonWith(t);
	for (const runtime of runtimes) {
		const { result } = await exec('const seen = []; const r = await scripted.progress({ steps: 3, ms: 60 }, { onProgress: (p) => seen.push(p.message) }); return [seen, String(r)]', { runtime });
		assert.equal(result[1], '3 steps');
		assert.equal(result[0].at(-1), 'step 3');
	}
	assert.match((await exec("await scripted.progress({ steps: 2, ms: 60 }, { onProgress: () => { throw new Error('listener') } })")).error, /^Error: listener/);
});

test('a hundred thousand namespaces or variables are an answer, and not the end of the daemon', async (t) => {
	const { at } = await daemonWith(t, { scripted: scriptedServer() });
	const exec = (ns) => post(at, '/v1/exec', { source: 'return 1', options: { ns } });
	const names = Array.from({ length: 99_000 }, (_, i) => `n${i}`);
	const unknown = await exec(names);
	assert.equal(unknown.status, 400, unknown.text);
	assert.match(unknown.json.error, /"n0"/);
	assert.equal((await exec(names.map(() => 'scripted'))).json.result, 1);
	const wide = await post(at, '/v1/exec', { source: 'return process.env.E98999', options: { env: Object.fromEntries(names.map((_, i) => [`E${i}`, `${i}`])) } });
	assert.equal(wide.json.result, '98999', wide.text.slice(0, 300));
	assert.equal((await get(at, '/v1/health')).status, 200);
});

// The command line as people and scripts use it: commands, exit codes, the first start, scripts, and being an MCP server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { run, runJson, start } from '../lib/command.mjs';
import { untilCalls, untilWarm } from '../lib/daemon.mjs';
import { callWithProgress, stdioClient } from '../lib/mcp.mjs';
import { filesystemServer, scriptedServer } from '../lib/servers.mjs';
import { mcpx, newScratch, root } from '../lib/scratch.mjs';
import { givenTime } from '../lib/wait.mjs';

const tools = [
	{
		name: 'typed',
		inputSchema: {
			type: 'object',
			properties: { n: { type: 'integer' }, yes: { type: 'boolean' }, text: { type: 'string' }, list: { type: 'array' } },
		},
	},
];

// A home with a configuration; the daemon starts by itself and is stopped at the end.
function newHome(t, mcpServers = { scripted: scriptedServer({ tools }) }) {
	const scratch = newScratch(t);
	scratch.writeConfig({ mcpServers });
	scratch.env.MCPX_CONFIG = path.join(scratch.home, 'config.json');
	scratch.env.PATH = `${path.join(root, 'node_modules/.bin')}:${scratch.env.PATH}`;
	scratch.atEnd(() => run(scratch, ['stop']));
	return scratch;
}

test('version and help need neither daemon nor configuration', async (t) => {
	const scratch = newHome(t);
	scratch.write('config.json', '{ broken');
	assert.match((await run(scratch, ['--version'])).stdout, /^mcpx \d+\.\d+\.\d+\n$/);
	const help = await run(scratch, ['help']);
	assert.equal(help.status, 0);
	for (const { command } of JSON.parse(fs.readFileSync(path.join(root, 'src/api/operations.json'), 'utf8')).operations.filter((one) => one.command)) {
		assert.ok(help.stdout.includes(`  ${command} `), command);
		assert.equal((await run(scratch, ['help', ...command.split(' ')])).status, 0);
	}
	assert.deepEqual(scratch.files(/sock$/), []);
});

test('mistakes in typing end with 2 and say what comes nearest', async (t) => {
	const scratch = newHome(t);
	const command = await run(scratch, ['serch', 'x']);
	assert.equal(command.status, 2);
	assert.match(command.stderr, /search/);
	const flag = await run(scratch, ['search', '--limt', '3', 'x']);
	assert.equal(flag.status, 2);
	assert.match(flag.stderr, /--limit/);
	const value = await run(scratch, ['search', '--limit', 'many', 'x']);
	assert.equal(value.status, 2);
	assert.match(value.stderr, /many/);
	assert.match((await run(scratch, ['help', 'serch'])).stderr, /^mcpx: there is no command "serch"; did you mean `mcpx search`\?/);
	assert.match((await run(scratch, ['servers'])).stderr, /^mcpx: `mcpx servers` needs a further word: list; /);
	assert.deepEqual(scratch.files(/sock$/), [], 'no daemon was started for it');
});

test('help on a command names the values of its settings', async (t) => {
	const { stdout } = await run(newHome(t), ['help', 'exec']);
	assert.match(stdout, /^ {2}--output text\|structured\|stream\n/m);
	assert.match(stdout, /^ {2}--timeout DURATION {6}how long/m);
});

test('many first commands start one daemon', async (t) => {
	const scratch = newHome(t);
	const results = await Promise.all(Array.from({ length: 20 }, (_, i) => run(scratch, ['call', 'scripted.echo', `text=n${i}`])));
	assert.deepEqual(results.map(({ status, stderr }) => [status, stderr]), results.map(() => [0, '']));
	assert.deepEqual(results.map(({ stdout }) => stdout.trim()), results.map((_, i) => `n${i}`));
	assert.equal(scratch.processes().filter(({ command }) => command.includes('mcpx-daemon')).length, 1);
});

test('a call types its arguments by the schema', async (t) => {
	const scratch = newHome(t, { files: filesystemServer('.'), scripted: scriptedServer({ tools }) });
	scratch.write('note.txt', 'one\ntwo\nthree\n');
	scratch.write('arguments.json', JSON.stringify({ path: path.join(scratch.home, 'note.txt'), head: 1 }));
	const where = `path=${path.join(scratch.home, 'note.txt')}`;
	assert.equal((await run(scratch, ['call', 'files.read_text_file', where, 'head=2'])).stdout.trim(), 'one\ntwo');
	assert.equal((await run(scratch, ['call', 'files.read_text_file', `@${path.join(scratch.home, 'arguments.json')}`])).stdout.trim(), 'one');
	assert.equal((await run(scratch, ['call', 'scripted.echo', '{"text":"whole"}'])).stdout.trim(), 'whole');
	assert.equal((await run(scratch, ['call', 'scripted.echo', '-'], { stdin: '{"text":"from stdin"}' })).stdout.trim(), 'from stdin');
	assert.equal((await run(scratch, ['call', 'scripted.echo', 'text=12'])).stdout.trim(), '12', 'a string stays one');
	const raw = JSON.parse((await run(scratch, ['call', 'scripted.echo', 'text=x', '--raw'])).stdout);
	assert.deepEqual(raw.content ?? raw.result?.content, [{ type: 'text', text: 'x' }]);
});

test('what fails ends with 1, and says on standard error what and why', async (t) => {
	const scratch = newHome(t);
	for (const words of ['text=', 'text= \n'])
		assert.match((await run(scratch, ['call', 'scripted.fail', words])).stderr, /^mcpx: the tool failed and did not say why; --raw shows what it answered\n$/);
	const failed = await run(scratch, ['call', 'scripted.fail', 'text=not today']);
	assert.equal(failed.status, 1);
	assert.match(failed.stderr, /not today/);
	const server = await run(scratch, ['call', 'nobody.echo', 'text=x']);
	assert.equal(server.status, 1);
	assert.match(server.stderr, /^mcpx: .*nobody.*scripted/s);
	const dead = await run(scratch, ['call', 'scripted.exit', 'status=4']);
	assert.equal(dead.status, 1);
	assert.match(dead.stderr, /exited with code 4/);
	const namespace = await run(scratch, ['exec', '--ns', 'nobody', 'return 1']);
	assert.deepEqual([namespace.status, namespace.stderr], [1, 'mcpx: there is no namespace "nobody"; there are: scripted\n']);
	const json = await run(scratch, ['call', 'nobody.echo', 'text=x', '--json']);
	assert.match(JSON.parse(json.stdout).error, /nobody/);
});

test('every plain command has a text and one JSON document', async (t) => {
	const scratch = newHome(t);
	for (const words of [['ls'], ['tools'], ['tools', 'scripted'], ['search', 'echo'], ['status'], ['health'], ['servers', 'list'], ['artifact', 'list'], ['settings', 'list'], ['settings', 'list', '--daemon'], ['settings', 'get', 'pool.max'], ['refresh'], ['openapi'], ['config', '--sources']]) {
		await run(scratch, ['ls']);
		const text = await run(scratch, words);
		assert.equal(text.status, 0, `${words}: ${text.stderr}`);
		assert.ok(text.stdout.length > 0, words.join(' '));
		await runJson(scratch, [...words, '--json']);
	}
	assert.match((await run(scratch, ['types', 'scripted'])).stdout, /echo\(args\?: \{ text\?: string \}, options\?: CallOptions\)/);
});

test('settings say where a value came from and what it displaced', async (t) => {
	const scratch = newHome(t);
	const result = await run(scratch, ['settings', 'get', 'pool.max', '--pool-max=7'], { env: { MCPX_POOL_MAX: '6' } });
	assert.match(result.stdout, /7/);
	assert.match(result.stdout, /6/);
	const record = await runJson(scratch, ['settings', 'get', 'pool.max', '--pool-max=7', '--json'], { env: { MCPX_POOL_MAX: '6' } });
	assert.equal(record.source, 'flag');
	assert.deepEqual(record.shadowed.map(({ source }) => source), ['env', 'default']);
	assert.match((await run(scratch, ['settings', 'get', 'pool.maxx'])).stderr, /did you mean pool\.max/);
});

test('artifacts go in and come out whole', async (t) => {
	const scratch = newHome(t);
	const bytes = Buffer.from([0, 1, 2, 3, 255]);
	fs.writeFileSync(path.join(scratch.home, 'in.bin'), bytes);
	const put = await runJson(scratch, ['artifact', 'put', 'in.bin', '--json']);
	assert.equal(put.name, 'in.bin');
	assert.equal((await run(scratch, ['artifact', 'get', put.id, '--output', 'out.bin'])).status, 0);
	assert.ok(fs.readFileSync(path.join(scratch.home, 'out.bin')).equals(bytes));
	const stdin = await runJson(scratch, ['artifact', 'put', '-', '--name', 'said.txt', '--json'], { stdin: 'said' });
	assert.equal((await run(scratch, ['artifact', 'get', stdin.id])).stdout, 'said');
	assert.equal((await run(scratch, ['artifact', 'get', 'art-00000000000000000000000000000000', '--output', 'none.bin'])).status, 1);
	assert.ok(!fs.existsSync(path.join(scratch.home, 'none.bin')));
	assert.equal((await run(scratch, ['artifact', 'delete', put.id])).status, 0);
});

test('a script runs here: arguments, exports, imports, standard input, exit codes', async (t) => {
	const scratch = newHome(t);
	scratch.write('lib.ts', 'export const twice = (s: string): string => s + s;');
	scratch.write('script.ts', `import { twice } from './lib.ts';
export default async function (args: string[]) { return { args: args.map(twice), echo: String(await scripted.echo({ text: 'hi' })) }; }
export const named = (a: string) => 'named ' + a;
export const code = () => { process.exit(7); };`);
	assert.deepEqual(await runJson(scratch, ['run', 'script.ts', 'a', 'b']), { args: ['aa', 'bb'], echo: 'hi' });
	assert.deepEqual(await runJson(scratch, ['script.ts', 'a']), { args: ['aa'], echo: 'hi' });
	assert.equal((await run(scratch, ['run', '--export', 'named', 'script.ts', 'x'])).stdout.trim(), 'named x');
	const missing = await run(scratch, ['run', '--export', 'nothing', 'script.ts']);
	assert.equal(missing.status, 1);
	assert.match(missing.stderr, /named/);
	fs.mkdirSync(path.join(scratch.home, '.mcpx/scripts'), { recursive: true });
	scratch.write('.mcpx/scripts/greet.ts', 'export default () => "hello";');
	assert.equal((await run(scratch, ['run', 'greet'])).stdout.trim(), 'hello');
	const input = 'const parts = []; for await (const p of process.stdin) parts.push(p); return Buffer.concat(parts).toString();';
	assert.equal((await run(scratch, ['exec', `import process from 'node:process'; import { Buffer } from 'node:buffer'; ${input}`], { stdin: 'typed in' })).stdout.trim(), 'typed in');
});

test('a run that fails or takes too long says what it had done', async (t) => {
	const scratch = newHome(t);
	const failed = await run(scratch, ['exec', "await scripted.echo({ text: 'x' }); throw new Error('enough')"]);
	assert.equal(failed.status, 1);
	assert.match(failed.stderr, /enough/);
	assert.match(failed.stderr, /scripted\.echo/);
	const late = await givenTime(
		(seconds) => run(scratch, ['exec', '--timeout', `${seconds}s`, 'await scripted.sleep({ ms: 60000 })']),
		({ stderr }) => /scripted\.sleep/.test(stderr),
	);
	assert.equal(late.status, 124);
});

test('the frames of a run come in their order', async (t) => {
	const scratch = newHome(t);
	const source = "log.info('about to', { n: 1 }); emit({ step: 1 }); await scripted.echo({ text: 'x' }); await artifact('a.txt', 'bytes'); return 5";
	const { stdout } = await run(scratch, ['exec', '--output', 'stream', source]);
	const frames = stdout.trim().split('\n').map((line) => JSON.parse(line));
	assert.equal(frames[0].type, 'start');
	assert.deepEqual(frames.slice(-3).map(({ type }) => type), ['artifact', 'result', 'end']);
	assert.deepEqual(new Set(frames.slice(1, -3).map(({ type }) => type)), new Set(['log', 'emit', 'call']));
	assert.equal(frames.at(-1).exitCode, 0);
	assert.doesNotMatch(JSON.stringify(frames.find(({ type }) => type === 'call')), /"x"/, 'arguments are not told');
	const document = await runJson(scratch, ['exec', '--output', 'structured', source]);
	assert.equal(document.result, 5);
	assert.deepEqual(document.emits, [{ step: 1 }]);
	assert.equal(document.calls[0].tool, 'echo');
	assert.equal(document.artifacts[0].name, 'a.txt');
});

test('node runs scripts too', async (t) => {
	const scratch = newHome(t);
	assert.equal((await run(scratch, ['exec', '--runtime', 'node', "return String(await scripted.echo({ text: 'on node' }))"])).stdout.trim(), 'on node');
});

test('serve is an MCP server on standard input and output, in each mode', async (t) => {
	const scratch = newHome(t);
	const full = await stdioClient(scratch, ['serve', '--mode', 'full']);
	const names = (await full.listTools()).tools.map(({ name }) => name);
	assert.ok(names.includes('scripted__echo'));
	assert.ok(!names.includes('mcpx_exec'));
	const steps = [];
	await callWithProgress(full, { name: 'scripted__progress', arguments: { steps: 3, ms: 5 } }, ({ progress }) => steps.push(progress));
	assert.deepEqual(steps, [1, 2, 3]);

	const facade = await stdioClient(scratch, ['serve']);
	assert.ok((await facade.listTools()).tools.some(({ name }) => name === 'mcpx_exec'));
	const called = await facade.callTool({ name: 'mcpx_call', arguments: { namespace: 'scripted', tool: 'echo', arguments: { text: 'through' } } });
	assert.equal(called.content[0].text, 'through');
	const executed = await facade.callTool({ name: 'mcpx_exec', arguments: { source: 'return 6 * 7' } });
	assert.match(executed.content[0].text, /42/);

	const through = await stdioClient(scratch, ['serve', '--passthrough', 'scripted']);
	assert.equal((await through.callTool({ name: 'echo', arguments: { text: 'bare' } })).content[0].text, 'bare');
});

test('an interrupted call is cancelled at its server', async (t) => {
	const scratch = newHome(t);
	await run(scratch, ['ls']);
	const { socket } = await runJson(scratch, ['status', '--json']);
	await untilWarm(socket);
	const child = start(scratch, mcpx, ['call', 'scripted.sleep', 'ms=600000']);
	await untilCalls(socket, 1);
	child.kill('SIGINT');
	assert.deepEqual(await child.finished.then(({ status, stdout, stderr }) => [status, stdout, stderr]), [130, '', '']);
	await untilCalls(socket, 0);
});

test('the command line links nothing of the daemon', () => {
	const libraries = execFileSync('ldd', [mcpx], { encoding: 'utf8' });
	assert.doesNotMatch(libraries, /libcrypto|libssl|libsqlite3|libutf8proc|libcurl/);
});

test("a script's log records come in the form that is asked for", async (t) => {
	const scratch = newHome(t, {});
	const source = "log.warn('{n} left', { n: 1, of: { a: 'b c' } }); log('two\\nlines'); log.error('last', { big: 'x'.repeat(5000) })";
	const records = async (...flags) => {
		const { stdout, stderr, status } = await run(scratch, ['exec', ...flags, source]);
		assert.deepEqual([status, stdout], [0, ''], stderr);
		return stderr.trimEnd().split('\n');
	};
	assert.deepEqual((await records('--log-format', 'text')).slice(0, 3), ['warn: 1 left n=1 of={"a":"b c"}', 'info: two', 'lines']);
	const json = (await records('--format', 'json')).map((line) => JSON.parse(line));
	assert.deepEqual(json.map(({ level, msg, attrs }) => [level, msg, attrs]), [
		['warn', '1 left', { n: 1, of: { a: 'b c' } }],
		['info', 'two\nlines', undefined],
		['error', 'last', { big: 'x'.repeat(5000) }],
	]);
	const logfmt = await records('--logging-format=logfmt');
	assert.match(logfmt[0], /^time=\S+Z level=warn msg="1 left" n=1 of="\{\\"a\\":\\"b c\\"\}"$/);
	assert.match(logfmt[1], /^time=\S+Z level=info msg="two\\nlines"$/);
	assert.match(logfmt[2], /^time=\S+Z level=error msg=last big=x{4000,4096}\.\.\.$/);
	const elsewhere = await run(scratch, ['ls', '--format', 'json']);
	assert.deepEqual([elsewhere.status, elsewhere.stderr], [2, 'mcpx: unknown flag "--format" (`mcpx help ls` says more)\n']);
});

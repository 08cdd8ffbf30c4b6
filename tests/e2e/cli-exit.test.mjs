// What the exit status of a command says, and how words become the arguments of a tool.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { test } from 'node:test';
import { run, runJson } from '../lib/command.mjs';
import { newHome } from '../lib/home.mjs';
import { stdioClient } from '../lib/mcp.mjs';
import { scriptedServer } from '../lib/servers.mjs';

for (const runtime of ['deno', 'node']) {
	test(`${runtime}: what never ends is ended by its time-out, with 124`, async (t) => {
		const scratch = newHome(t);
		for (const source of ['await new Promise((r) => setTimeout(r, 600000))', 'for (;;);']) {
			const late = await run(scratch, ['exec', '--runtime', runtime, '--timeout', '200ms', source]);
			assert.deepEqual([late.status, late.stdout, late.stderr], [124, '', 'mcpx: timed out after 200ms (exec.timeout)\n'], source);
		}
		const late = await run(scratch, ['exec', '--runtime', runtime, '--timeout', '200ms', '--output', 'structured', 'for (;;);']);
		assert.equal(late.status, 124);
		assert.deepEqual([JSON.parse(late.stdout).timedOut, JSON.parse(late.stdout).exitCode], [true, 124]);
	});

	test(`${runtime}: what waits for nothing ends at once, and says so`, async (t) => {
		const scratch = newHome(t);
		const never = 'new Promise(() => {})';
		scratch.write('called.ts', `export default () => ${never};\n`);
		scratch.write('named.ts', `export async function main() { await ${never}; }\n`);
		scratch.write('evaluated.ts', `await ${never};\nexport default 1;\n`);
		const message = 'Error: the script waits for something that can never come: nothing is left that could settle its promise';
		for (const words of [
			['exec', `await scripted.echo({ text: 'x' }); await ${never}`],
			['run', 'called.ts'],
			['run', '--export', 'main', 'named.ts'],
			['run', 'evaluated.ts'],
		]) {
			const [command, ...rest] = words;
			const { status, stdout } = await run(scratch, [command, '--runtime', runtime, '--output', 'structured', ...rest]);
			const document = JSON.parse(stdout);
			assert.deepEqual([status, document.exitCode, document.timedOut, document.error], [1, 1, false, message], words.join(' '));
		}
		const { stderr } = await run(scratch, ['run', '--runtime', runtime, 'called.ts']);
		assert.equal(stderr, `mcpx: ${message}\n`);
		// What has a value may leave promises behind.
		assert.equal((await run(scratch, ['exec', '--runtime', runtime, `${never}.then(() => {}); return 5`])).stdout, '5\n');
	});

	test(`${runtime}: a script's own status is the command's`, async (t) => {
		const scratch = newHome(t);
		scratch.write('end.ts', "import process from 'node:process';\nexport default ([code]: string[]) => { process.exit(Number(code)); };\n");
		for (const code of [0, 3, 9, 255]) {
			const ended = await run(scratch, ['run', '--runtime', runtime, 'end.ts', String(code)]);
			assert.deepEqual([ended.status, ended.stdout], [code, '']);
		}
	});
}

test('a script that is not there is missed by its path or by its name', async (t) => {
	const scratch = newHome(t);
	scratch.write('notes.txt', 'no script');
	const missed = async (word) => {
		const { status, stdout, stderr } = await run(scratch, ['run', word]);
		assert.deepEqual([status, stdout], [1, '']);
		return stderr;
	};
	assert.equal(await missed('tour'), 'mcpx: there is no script "tour": give a file, or put tour.ts into .mcpx/scripts/\n');
	for (const word of ['./tour.ts', 'tour.js']) assert.equal(await missed(word), `mcpx: there is no file "${word}"\n`);
	scratch.write('folder.ts/inside.txt', '');
	fs.symlinkSync('nowhere', scratch.path('dangling.ts'));
	fs.symlinkSync('loop.ts', scratch.path('loop.ts'));
	execFileSync('mkfifo', [scratch.path('pipe.ts')]);
	const noFile = ', and a script is a regular file; `mcpx run -` reads one from standard input\n';
	for (const [word, why] of [
		['folder.ts', `is a directory${noFile}`],
		['pipe.ts', `is a pipe${noFile}`],
		['dangling.ts', 'is a link to a file that is not there\n'],
	]) {
		assert.equal(await missed(word), `mcpx: "${word}" ${why}`);
		// The same without the word `run`.
		const { status, stderr } = await run(scratch, [word]);
		assert.deepEqual([status, stderr], [2, `mcpx: "${word}" ${why}`]);
	}
	assert.match(await missed('loop.ts'), /^mcpx: cannot look for the script "loop\.ts": Too many levels of symbolic links\n$/);
	assert.equal(await missed('./notes.txt'), 'mcpx: "./notes.txt" is no script: a script is a file that ends in .ts, .mts or .js\n');
});

// The tool `structured` takes any value, and gives back what came.
test('words become the JSON that they look like where the schema leaves the choice', async (t) => {
	const scratch = newHome(t);
	scratch.write('value.json', '{"from": "a file"}');
	for (const [words, value] of [
		[['value=5'], 5],
		[['value=-1.5e3'], -1500],
		[['value=true'], true],
		[['value=null'], null],
		[['value='], ''],
		[['value=05'], '05'],
		[['value=two words'], 'two words'],
		[['value=a=b'], 'a=b'],
		[['value={"a":[1]}'], { a: [1] }],
		[['value:="5"'], '5'],
		[['value:=[1,"2"]'], [1, '2']],
		[['value:=@value.json'], { from: 'a file' }],
		[['value=1', 'value=x'], [1, 'x']],
		[['{"value":{"whole":true}}'], { whole: true }],
	])
		assert.deepEqual(await runJson(scratch, ['call', 'scripted.structured', ...words]), { value }, words.join(' '));
});

test('a name with a dot sets a member of an object that the schema has', async (t) => {
	const filter = { type: 'object', properties: { status: { type: 'string' }, limit: { type: 'integer' } } };
	const tool = { name: 'find', inputSchema: { type: 'object', properties: { filter, 'a.b': { type: 'string' } } } };
	const scratch = newHome(t, { scripted: scriptedServer({ tools: [tool] }) });
	assert.deepEqual(await runJson(scratch, ['call', 'scripted.find', 'filter.status=5', 'a.b=1', 'filter.limit=5']), { filter: { status: '5', limit: 5 }, 'a.b': '1' });
	const mixed = await run(scratch, ['call', 'scripted.find', 'filter={}', 'filter.limit=5']);
	assert.deepEqual([mixed.status, mixed.stdout], [2, '']);
	assert.match(mixed.stderr, /^mcpx: filter is given as a whole and in parts: give one of them/);
});

test('arguments that cannot be what the schema wants end with 2, and no call is made', async (t) => {
	const scratch = newHome(t);
	scratch.write('broken.json', '{"ms": ');
	scratch.write('list.json', '[1]');
	for (const [words, message] of [
		[['ms=soon'], /^mcpx: ms must be a whole number, and is "soon"; ms:=JSON would send any value/],
		[['ms=1.5'], /^mcpx: ms must be a whole number, and is "1\.5"/],
		[['ms:=soon'], /^mcpx: ms:= is not followed by JSON/],
		[['soon'], /^mcpx: "soon" is no argument: write name=value/],
		[['=5'], /^mcpx: "=5" is no argument/],
		[['@list.json'], /^mcpx: list\.json: the arguments of a tool are a JSON object/],
		[['@broken.json'], /^mcpx: broken\.json: not valid JSON/],
	]) {
		const { status, stdout, stderr } = await run(scratch, ['call', 'scripted.sleep', ...words]);
		assert.deepEqual([status, stdout], [2, ''], words.join(' '));
		assert.match(stderr, message);
	}
	const { servers } = await runJson(scratch, ['status', '--json']);
	assert.deepEqual(servers.map(({ calls }) => calls), [0]);
});

test('an artifact of any bytes, of none, and of a name like a flag comes back', async (t) => {
	const scratch = newHome(t);
	const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
	for (const [name, bytes] of [['all.bin', all], ['empty', Buffer.alloc(0)], ['-dash', all]]) {
		fs.writeFileSync(scratch.path(name), bytes);
		const put = await runJson(scratch, ['artifact', 'put', '--json', '--', name]);
		assert.equal(put.size, bytes.length);
		const got = await run(scratch, ['artifact', 'get', put.id, '--output', 'back']);
		assert.deepEqual([got.status, got.stderr], [0, '']);
		assert.ok(fs.readFileSync(scratch.path('back')).equals(bytes), name);
	}
});

test('serve hands on what fails as failures, in each mode', async (t) => {
	const scratch = newHome(t);
	for (const [args, name] of [[['--mode', 'full'], 'scripted__fail'], [['--passthrough', 'scripted'], 'fail']]) {
		const client = await stdioClient(scratch, ['serve', ...args]);
		const failed = await client.callTool({ name, arguments: { text: 'not today' } });
		assert.deepEqual([failed.isError, failed.content], [true, [{ type: 'text', text: 'not today' }]]);
	}
});

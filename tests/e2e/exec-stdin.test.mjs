// Standard input of `mcpx exec` and `mcpx run`: the script's own, unless the script itself comes from there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, start } from '../lib/command.mjs';
import { mcpx, newScratch } from '../lib/scratch.mjs';

function newHome(t) {
	const scratch = newScratch(t);
	scratch.env.MCPX_CONFIG = scratch.writeConfig({ mcpServers: {} });
	scratch.atEnd(() => run(scratch, ['stop']));
	return scratch;
}

const reading = "import { readFileSync } from 'node:fs'; return readFileSync(0, 'utf8');";

for (const runtime of ['deno', 'node']) {
	const flags = ['--runtime', runtime];

	test(`${runtime}: a script reads what its command was given`, async (t) => {
		const scratch = newHome(t);
		scratch.write('read.ts', "import { readFileSync } from 'node:fs';\nexport default () => readFileSync(0, 'utf8');\n");
		assert.equal((await run(scratch, ['exec', ...flags, reading], { stdin: 'typed' })).stdout, 'typed\n');
		assert.equal((await run(scratch, ['run', ...flags, 'read.ts'], { stdin: 'typed' })).stdout, 'typed\n');
	});

	test(`${runtime}: a script that comes on standard input finds its end there`, async (t) => {
		const scratch = newHome(t);
		for (const words of [['exec', ...flags, '-'], ['exec', ...flags], ['run', ...flags, '-']]) {
			const said = await run(scratch, words, { stdin: `${reading.replace(';', ';\n')}\n` });
			assert.deepEqual([said.status, said.stdout, said.stderr], [0, '\n', ''], words.join(' '));
		}
		const module = "export default (args: string[]) => args;\nexport const other = (a: string, b: string) => b + a;\n";
		assert.deepEqual(JSON.parse((await run(scratch, ['run', ...flags, '-', 'a', '--b'], { stdin: module })).stdout), ['a', '--b']);
		assert.equal((await run(scratch, ['run', ...flags, '--export', 'other', '-', 'a', 'b'], { stdin: module })).stdout, 'ba\n');
		assert.equal((await run(scratch, ['exec', ...flags, '--export', 'six', 'export const six = () => 6; export default 5'])).stdout, '6\n');
		const none = await run(scratch, ['exec', ...flags, '--export', 'six', 'return 6']);
		assert.deepEqual([none.status, none.stderr], [1, 'mcpx: export is "six", and the source exports nothing: it is a snippet\n']);
		const failed = await run(scratch, ['run', ...flags, '-'], { stdin: "\nthrow new Error('here');" });
		assert.deepEqual([failed.status, failed.stderr], [1, 'mcpx: Error: here (snippet:2:7)\n']);
	});
}

test('nothing on standard input is no script', async (t) => {
	const scratch = newHome(t);
	for (const words of [['exec', '-'], ['exec']]) {
		const said = await run(scratch, words, { stdin: ' \n' });
		assert.deepEqual([said.status, said.stdout], [2, '']);
		assert.match(said.stderr, /^mcpx: standard input has no script in it \(`mcpx help exec` says more\)\n/);
	}
	assert.deepEqual((await run(scratch, ['run', '-'])).stderr, 'mcpx: standard input has no script in it\n');
	const limited = await run(scratch, ['exec', '-'], { stdin: `//${'x'.repeat(2000)}`, env: { MCPX_EXEC_SOURCE_MAX: '1KiB' } });
	assert.deepEqual([limited.status, limited.stderr], [1, 'mcpx: standard input has more than 1024 bytes\n']);
});

test('nobody is asked to type a script', async (t) => {
	const scratch = newHome(t);
	const child = start(scratch, 'script', ['-qec', `exec '${mcpx}' exec`, '/dev/null'], { stdin: null });
	const said = await child.finished;
	child.stdin.destroy();
	assert.equal(said.status, 2);
	assert.match(said.stdout, /^mcpx: `mcpx exec` needs SOURCE: the snippet, in quotes, or - for standard input \(`mcpx help exec` says more\)\r\n/);
});

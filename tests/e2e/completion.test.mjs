// Completion in the shells that people use, with a daemon that knows tools, and without one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { run } from '../lib/command.mjs';
import { startDaemon } from '../lib/daemon.mjs';
import { newScratch, programs } from '../lib/scratch.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { lacksShell, startShell } from '../lib/shell.mjs';

const places = { name: 'places', description: 'Finds places. And more.', inputSchema: {
	type: 'object',
	required: ['city'],
	properties: {
		city: { enum: ['New York', 'Los Angeles', 'Rome'], description: 'Where to look.' },
		'odd:key': { type: 'boolean' },
		amount: { type: 'integer' },
	},
} };
// What a server may call a tool to make a shell run something, or a terminal obey.
const hostile = ['$(touch pwned)', '`touch pwned`', 'a;touch pwned', 'x\u001b[2Jy'].map((name) => ({ name, inputSchema: { type: 'object' } }));

// A scratch home with a project in it: files, a script, a configuration, and the programs in front of the PATH.
function project(t) {
	const scratch = newScratch(t);
	for (const name of ['work/data.json', 'work/my file.txt', 'work/my folder/x', 'work/src/main.c', 'work/.mcpx/scripts/tour.ts', 'hello.txt']) scratch.write(name, '');
	scratch.env.PATH = `${programs}:${scratch.env.PATH}`;
	scratch.env.MCPX_DAEMON_AUTOSTART = 'false';
	scratch.work = scratch.path('work');
	return scratch;
}

// The same with a daemon that has seen its servers' tools.
async function projectWithDaemon(t) {
	const scratch = project(t);
	const config = scratch.writeConfig({ mcpServers: {
		atlas: { ...scriptedServer({ tools: [places] }), mcpx: { description: 'Knows the world.' } },
		evil: scriptedServer({ tools: hostile }),
	} }, 'work/.mcpx.json');
	await startDaemon(scratch, { config });
	const seen = await run(scratch, ['--config', config, 'tools', '--json']);
	assert.equal(seen.status, 0, seen.stderr);
	scratch.env.MCPX_CONFIG = config;
	return scratch;
}

// What is typed, and what stands there after the tab key: in bash, zsh and fish alike.
const everywhere = [
	['mcpx ca', 'mcpx call '],
	['mcpx artifact li', 'mcpx artifact list '],
	['mcpx call --timeout-', 'mcpx call --timeout-ms '],
	['mcpx ls --color al', 'mcpx ls --color always '],
	['mcpx ls --color=al', 'mcpx ls --color=always '],
	['mcpx settings get pool.callT', 'mcpx settings get pool.callTimeout '],
	['mcpx settings set pool.sharing ex', 'mcpx settings set pool.sharing exclusive '],
	['mcpx run to', 'mcpx run tour '],
	['mcpx tour da', 'mcpx tour data.json '],
	['mcpx artifact put src/ma', 'mcpx artifact put src/main.c '],
	['mcpx artifact put my\\ fi', 'mcpx artifact put my\\ file.txt '],
	['mcpx artifact put ~/hel', 'mcpx artifact put ~/hello.txt '],
	['mcpx artifact get x --output=sr', 'mcpx artifact get x --output=src/'],
	['mcpx call atlas.places @da', /^mcpx call atlas\.places @data\.json ?$/],
	['mcpx call atlas.places city:=@da', /^mcpx call atlas\.places city:=@data\.json ?$/],
	['mcpx nonsense ca', 'mcpx nonsense ca'],
];
const withDaemon = [
	['mcpx call at', 'mcpx call atlas.'],
	['mcpx call atlas.pl', 'mcpx call atlas.places '],
	['mcpx call atlas.places ci', 'mcpx call atlas.places city='],
	['mcpx call atlas.places odd', /^mcpx call atlas\.places odd\\?:key=$/],
	['mcpx call atlas.places city=Ro', 'mcpx call atlas.places city=Rome '],
	['mcpx call atlas.places city=New', 'mcpx call atlas.places city=New\\ York '],
	['mcpx call atlas.places "city=New', /^mcpx call atlas\.places "city=New York" ?$/],
	["mcpx call atlas.places 'city=Los", /^mcpx call atlas\.places 'city=Los Angeles' ?$/],
	['mcpx tools at', 'mcpx tools atlas '],
	['mcpx types atlas.pl', 'mcpx types atlas.places '],
	['mcpx exec --ns=evil,at', 'mcpx exec --ns=evil,atlas '],
];

async function expectLines(shell, cases) {
	for (const [typed, expected] of cases) {
		const { line } = await shell.complete(typed);
		if (expected instanceof RegExp) assert.match(line, expected);
		else assert.equal(line, expected, `after ${typed}`);
	}
}

for (const name of ['bash', 'zsh', 'fish']) {
	test(`${name} completes commands, flags, values and files without a daemon, and starts none`, { skip: lacksShell(name) }, async (t) => {
		const scratch = project(t);
		await expectLines(await startShell(scratch, name, { cwd: scratch.work }), everywhere);
		assert.deepEqual(scratch.files(/\.(sock|lock)$/), []);
	});

	test(`${name} completes namespaces, tools and their arguments from the running daemon`, { skip: lacksShell(name) }, async (t) => {
		const scratch = await projectWithDaemon(t);
		const shell = await startShell(scratch, name, { cwd: scratch.work });
		await expectLines(shell, withDaemon);
		// Completed or not, nothing that a server named is run, and its escapes do not reach the terminal.
		for (const typed of ['mcpx call evil.', "mcpx call 'evil.", 'mcpx call "evil.', 'mcpx call evil.\\$', 'mcpx call evil.a']) {
			const { screen } = await shell.complete(typed);
			assert.ok(!screen.includes('x\u001b[2Jy'));
		}
		assert.equal(fs.existsSync(path.join(scratch.work, 'pwned')), false);
	});
}

test('bash completes in the middle of lines, behind other commands, and for redirections', async (t) => {
	const scratch = project(t);
	const shell = await startShell(scratch, 'bash', { cwd: scratch.work });
	// Five keys to the left, behind "setti".
	assert.equal((await shell.complete('mcpx setti more\u001b[D\u001b[D\u001b[D\u001b[D\u001b[D')).line, 'mcpx settings more');
	assert.equal((await shell.complete('FOO=1 mcpx ca')).line, 'FOO=1 mcpx call ');
	assert.equal((await shell.complete('true && mcpx ca')).line, 'true && mcpx call ');
	assert.equal((await shell.complete('mcpx ls > da')).line, 'mcpx ls > data.json ');
	assert.equal((await shell.complete('mcpx artifact put $HOME/hel')).line, 'mcpx artifact put $HOME/hello.txt ');
});

test('zsh says what candidates are', { skip: lacksShell('zsh') }, async (t) => {
	const scratch = project(t);
	const shell = await startShell(scratch, 'zsh', { cwd: scratch.work });
	assert.match((await shell.complete('mcpx artifact ')).screen, /put +-- Store bytes and get a handle for them\./);
});

test('fish says what candidates are', { skip: lacksShell('fish') }, async (t) => {
	const scratch = await projectWithDaemon(t);
	const script = 'mcpx completion fish | source; complete -C $argv[1]';
	const ask = (line) => spawnSync('fish', ['--no-config', '-c', script, line], { env: scratch.env, cwd: scratch.work, encoding: 'utf8' }).stdout;
	assert.match(ask('mcpx call atlas.'), /^atlas\.places\tFinds places\.$/m);
	assert.match(ask('mcpx call atlas.places '), /^city=\trequired: Where to look\.$/m);
	assert.match(ask('mcpx ca'), /^call\tCall one tool of a server\.$/m);
});

test('zsh also finds the completion in a directory of fpath', { skip: lacksShell('zsh') }, async (t) => {
	const scratch = project(t);
	scratch.write('functions/_mcpx', (await run(scratch, ['completion', 'zsh'])).stdout);
	const shell = await startShell(scratch, 'zsh', { cwd: scratch.work, autoload: scratch.path('functions') });
	assert.equal((await shell.complete('mcpx ca')).line, 'mcpx call ');
	assert.equal((await shell.complete('mcpx artifact li')).line, 'mcpx artifact list ');
});

test('the scripts can be sourced twice, and say nothing without mcpx', async (t) => {
	const scratch = project(t);
	const { stdout } = await run(scratch, ['completion', 'bash']);
	const script = scratch.write('mcpx.bash', stdout);
	const words = 'COMP_LINE="mcpx ca"; COMP_POINT=7; _mcpx mcpx ca mcpx; echo "${COMPREPLY[*]}"';
	const bash = (PATH) =>
		spawnSync('/bin/bash', ['--norc', '-c', `. '${script}'; . '${script}'; ${words}`], { env: { ...scratch.env, PATH }, encoding: 'utf8' });
	assert.deepEqual([bash(scratch.env.PATH).stdout, bash(scratch.env.PATH).stderr], ['call\n', '']);
	assert.deepEqual([bash('/nonexistent').stdout, bash('/nonexistent').stderr], ['\n', '']);
});

test('a daemon that does not answer costs a moment, and no words', async (t) => {
	const scratch = await projectWithDaemon(t);
	const words = ['completion', 'words', '--', 'zsh', 'mcpx', 'call', ''];
	assert.match((await run(scratch, words, { cwd: scratch.work })).stdout, /^oatlas\.:Knows the world\.$/m);
	const { pid } = JSON.parse((await run(scratch, ['health', '--json'], { cwd: scratch.work })).stdout);
	process.kill(pid, 'SIGSTOP');
	const result = await run(scratch, words, { cwd: scratch.work });
	process.kill(pid, 'SIGCONT');
	assert.deepEqual([result.status, result.stdout, result.stderr], [0, '-\n', '']);
});

test('a broken configuration leaves what needs none', async (t) => {
	const scratch = project(t);
	scratch.write('work/.mcpx.json', '{');
	const complete = (...words) => run(scratch, ['completion', 'words', '--', 'zsh', 'mcpx', ...words], { cwd: scratch.work });
	assert.match((await complete('ca')).stdout, /^wcall:/m);
	const result = await complete('call', '');
	assert.deepEqual([result.status, result.stdout, result.stderr], [0, '-\n', '']);
});

test('what no script of ours says is refused', async (t) => {
	const scratch = project(t);
	const result = await run(scratch, ['completion', 'words', '--', 'tcsh', 'mcpx', '']);
	assert.equal(result.status, 2);
	assert.match(result.stderr, /^mcpx: what the completion of bash, zsh or fish hands over begins with its name/);
	assert.equal((await run(scratch, ['completion', 'tcsh'])).status, 2);
	const further = await run(scratch, ['completion', 'bash', 'more']);
	assert.deepEqual([further.status, further.stdout], [2, '']);
	assert.match(further.stderr, /^mcpx: `mcpx completion bash` takes no further argument/);
});

// What the command line does on a terminal and not in a pipe. script(1) gives it the terminal.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, runJson, start } from '../lib/command.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { mcpx, newScratch } from '../lib/scratch.mjs';

const escape = '\u001b';
const wipe = `\r${escape}[K`;

function newHome(t) {
	const scratch = newScratch(t);
	const tools = [{ name: 'hostile', description: `Clears ${escape}[2J the\nscreen. And more.`, inputSchema: { type: 'object' } }];
	scratch.env.MCPX_CONFIG = scratch.writeConfig({ mcpServers: { scripted: scriptedServer({ tools }) } });
	scratch.env.TERM = 'xterm';
	delete scratch.env.NO_COLOR;
	scratch.atEnd(() => run(scratch, ['stop']));
	return scratch;
}

const quote = (word) => `'${word.replaceAll("'", `'\\''`)}'`;

// Starts `mcpx ARGS...` on a terminal. Its output has \n for the terminal's \r\n.
function onTerminal(scratch, args, { env = {}, redirect = '', columns = 80 } = {}) {
	const command = `stty cols ${columns} rows 24; exec ${[mcpx, ...args].map(quote).join(' ')} ${redirect}`;
	const child = start(scratch, 'script', ['-qec', command, '/dev/null'], { env, stdin: null });
	child.shown = child.finished.then((result) => {
		child.stdin.destroy();
		return { ...result, stdout: result.stdout.replaceAll('\r\n', '\n') };
	});
	return child;
}
const shown = (scratch, args, options) => onTerminal(scratch, args, options).shown;

test('colour is for terminals, and for who asks for it', async (t) => {
	const scratch = newHome(t);
	const plain = (await run(scratch, ['ls'])).stdout;
	assert.doesNotMatch(plain, /\u001b/);
	const coloured = (await shown(scratch, ['ls'])).stdout;
	assert.match(coloured, /\u001b\[36mscripted\u001b\[0m +\d+ +\u001b\[32mrunning\u001b\[0m\n/);
	assert.equal(coloured.replaceAll(/\u001b\[\d+m/g, ''), plain);
	assert.equal((await shown(scratch, ['ls'], { env: { NO_COLOR: '1' } })).stdout, plain);
	assert.equal((await shown(scratch, ['ls'], { env: { TERM: 'dumb' } })).stdout, plain);
	assert.equal((await shown(scratch, ['ls', '--color=never'])).stdout, plain);
	assert.match((await run(scratch, ['ls', '--color=always'])).stdout, /\u001b\[36mscripted/);
	assert.equal((await run(scratch, ['ls'], { env: { MCPX_OUTPUT_COLOR: 'always', NO_COLOR: '1' } })).stdout, coloured);
});

test('what a terminal would obey does not reach it', async (t) => {
	const scratch = newHome(t);
	assert.match((await shown(scratch, ['tools', '--color=never'])).stdout, /^scripted\.hostile +Clears \ufffd\[2J the(…|$)/m);
	const words = ['call', 'scripted.echo', `text=${escape}]0;title\u0007 and text`];
	assert.equal((await shown(scratch, words)).stdout, '\ufffd]0;title\ufffd and text\n');
	assert.equal((await run(scratch, words)).stdout, `${escape}]0;title\u0007 and text\n`, 'a pipe gets what there is');
	assert.doesNotMatch((await shown(scratch, ['call', 'scripted.fail', `text=${escape}[2J`])).stdout, /\u001b\[2J/);
	// JSON stays what it says.
	const odd = `\u009b2J${escape}[2J \u202e`;
	for (const flag of ['--raw', '--json']) {
		const json = await shown(scratch, ['call', flag, 'scripted.echo', `text=${odd}`]);
		assert.match(json.stdout, /\\u009b2J\\u001b\[2J \\u202e/);
		assert.doesNotMatch(json.stdout, /[\u009b\u202e]/);
	}
	const document = await shown(scratch, ['exec', '--json', `return ${JSON.stringify(odd)}`]);
	assert.equal(JSON.parse(document.stdout).result, odd);
	assert.doesNotMatch(document.stdout, /[\u009b\u202e]/);
});

test('nor does what a configuration file holds', async (t) => {
	const scratch = newHome(t);
	const evil = `evil${escape}]0;pwn\u0007\nforged`;
	scratch.writeConfig({ [evil]: 1, mcpServers: { [evil]: { command: 5 }, good: { command: '/nowhere', [evil]: 1 } }, script: { runtime: evil }, logging: { dir: evil } });
	for (const words of [['config'], ['config', '--sources'], ['ls'], ['status'], ['refresh'], ['servers', 'list'], ['settings', 'list'], ['settings', 'list', '--daemon'], ['settings', 'get', 'script.runtime'], ['settings', 'get', 'logging.dir', '--daemon'], ['exec', 'return 1']]) {
		const { stdout } = await shown(scratch, [...words, '--color=never']);
		assert.doesNotMatch(stdout, /[\u001b\u0007]|^forged/m, words.join(' '));
		assert.match(stdout, /evil|\/nowhere|every|runtime/, words.join(' '));
	}
	// A listing for people has one line for each thing in a pipe, too.
	assert.doesNotMatch((await run(scratch, ['config'])).stdout, /[\u001b\u0007]|^forged/m);
});

test('long lines are cut at the width of the terminal, and JSON is laid out', async (t) => {
	const scratch = newHome(t);
	const columns = scratch.home.length + 60; // only the last column is cut, and paths in the home stand in the one before
	const { stdout } = await shown(scratch, ['settings', 'list', '--daemon', '--plumbing', '--color=never'], { columns });
	for (const line of stdout.split('\n')) assert.ok([...line].length <= columns, line);
	assert.match(stdout, /…$/m);
	assert.match((await shown(scratch, ['health', '--json'])).stdout, /^\{\n {2}"status": "ok",\n/);
	assert.match((await run(scratch, ['health', '--json'])).stdout, /^\{"status":"ok",.*\}\n$/);
});

test('help is broken to fit, also where there is little room', async (t) => {
	const scratch = newHome(t);
	for (const columns of [80, 40]) {
		const { stdout } = await shown(scratch, ['help', 'ls', '--color=never'], { columns });
		for (const line of stdout.split('\n')) assert.ok(line.length <= columns, line);
	}
	const { stdout } = await shown(scratch, ['help', 'run', '--color=never'], { columns: 40 });
	assert.match(stdout, /^ {2}--session SESSION\n {4}the session whose instances are used$/m);
});

test('the progress of a call is a line that comes and goes', async (t) => {
	const scratch = newHome(t);
	const words = ['call', 'scripted.progress', 'steps=4', 'ms=5'];
	const { stdout } = await shown(scratch, words);
	const [before, ...steps] = stdout.split(wipe);
	assert.equal(before, '');
	assert.ok(steps.length >= 2, JSON.stringify(stdout));
	assert.match(steps.at(-2), /^\[#{24}\] 100%/);
	assert.doesNotMatch(steps.at(-1), /%/);
	// Nothing of it in a pipe or when it is not wanted, a line for each step when it always is.
	assert.equal((await run(scratch, words)).stderr, '');
	assert.doesNotMatch((await shown(scratch, [...words, '--progress=never'])).stdout, /%/);
	const always = await run(scratch, [...words, '--progress=always']);
	assert.match(always.stderr, /^(\[[# ]{24}\] {1,3}\d+%.*\n)+$/);
	assert.ok(always.stderr.trimEnd().split('\n').at(-1).includes('100%'));
	// A terminal that obeys no escapes gets none, and lines only when they are asked for.
	const dumb = { env: { TERM: 'dumb' } };
	assert.doesNotMatch((await shown(scratch, words, dumb)).stdout, /%|\u001b|\r/);
	assert.match((await shown(scratch, [...words, '--progress=always'], dumb)).stdout, /^(\[[# ]{24}\] {1,3}\d+%.*\n)+/);
	// The answer on standard output is free of it.
	const redirected = await shown(scratch, words, { redirect: `>${quote(scratch.path('answer'))}` });
	assert.match(redirected.stdout, /100%/);
});

test('the interrupt key ends a call, wipes its progress, and cancels it at its server', async (t) => {
	const scratch = newHome(t);
	await run(scratch, ['ls']);
	const child = onTerminal(scratch, ['call', 'scripted.progress', 'steps=100000', 'ms=50']);
	while (!child.text.stdout.includes('%')) await new Promise((resolve) => child.stdout.once('data', resolve));
	child.stdin.write('\u0003');
	const { status, stdout } = await child.shown;
	assert.equal(status, 130);
	assert.ok(stdout.endsWith(wipe), JSON.stringify(stdout.slice(-40)));
	for (;;) {
		const { servers } = await runJson(scratch, ['status', '--json']);
		if (servers[0].instances.every(({ holders }) => holders === 0)) break;
	}
});

test('the interrupt key ends a script and what it had begun', async (t) => {
	const scratch = newHome(t);
	await run(scratch, ['ls']);
	const child = onTerminal(scratch, ['exec', 'console.log("begun"); await scripted.sleep({ ms: 600000 })']);
	while (!child.text.stdout.includes('begun')) await new Promise((resolve) => child.stdout.once('data', resolve));
	child.stdin.write('\u0003');
	assert.equal((await child.shown).status, 130);
	const terminated = start(scratch, mcpx, ['exec', 'console.log("begun"); await scripted.sleep({ ms: 600000 })']);
	while (!terminated.text.stdout.includes('begun')) await new Promise((resolve) => terminated.stdout.once('data', resolve));
	terminated.kill('SIGTERM');
	assert.equal((await terminated.finished).status, 143);
});

test('bytes that are no text stay off the terminal', async (t) => {
	const scratch = newHome(t);
	scratch.write('in.bin', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]));
	const { id } = await runJson(scratch, ['artifact', 'put', 'in.bin', '--json']);
	const refused = await shown(scratch, ['artifact', 'get', id]);
	assert.equal(refused.status, 1);
	assert.match(refused.stdout, /these are no bytes for a terminal: write them to a file with --output FILE/);
	const { id: text } = await runJson(scratch, ['artifact', 'put', '-', '--json'], { stdin: 'plain\n' });
	assert.equal((await shown(scratch, ['artifact', 'get', text])).stdout, 'plain\n');
	// Nor does an image of a tool: a link and its size are shown.
	const image = await shown(scratch, ['call', 'scripted.image', '--color=never']);
	assert.match(image.stdout, /\(image\/png, \d+ B\): mcpx:\/\/artifacts\/art-[0-9a-f]{32}\n/);
	assert.doesNotMatch(image.stdout, /iVBOR/);
});

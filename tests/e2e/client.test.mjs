// What is generated for scripts, judged by those who read it: both runtimes, and deno's checker of types.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { start } from '../lib/command.mjs';
import { startDaemon } from '../lib/daemon.mjs';
import { get } from '../lib/http.mjs';
import { everythingServer, filesystemServer, scriptedServer } from '../lib/servers.mjs';
import { newScratch, root } from '../lib/scratch.mjs';

const deno = path.join(root, 'node_modules/.bin/deno');
const node = path.join(root, 'node_modules/.bin/node');

// What servers offer at their worst.
const odd = [
	{ name: 'refs', inputSchema: { type: 'object', $defs: { A: { type: 'object', properties: { next: { $ref: '#/$defs/A' } } } }, properties: { a: { $ref: '#/$defs/A' } } } },
	{ name: 'toplevel_oneof', inputSchema: { oneOf: [{ type: 'object', properties: { a: {} } }, { type: 'object', properties: { b: {} } }] } },
	{ name: 'notype', inputSchema: { properties: { x: { type: 'string' } } } },
	{ name: 'n'.repeat(128), inputSchema: { type: 'object' } },
	{ name: 'weird name/with:chars.é', description: 'ends */ early', inputSchema: { type: 'object', properties: { 'a-b': { enum: ['*/', 1, null] } } } },
	{ name: 'constructor', inputSchema: { type: 'object' } },
	{ name: '__proto__', inputSchema: { type: 'object' } },
	{ name: 'badoutput', inputSchema: { type: 'object' }, outputSchema: { properties: { n: { type: 'number' }, self: { $ref: '#' } }, required: ['n'] } },
	{ name: 'nonsense', inputSchema: { type: ['object', 7], properties: { x: { type: 'nothing', items: 17, $ref: 3 } }, required: 'x' } },
];

async function daemonWith(t, mcpServers) {
	const scratch = newScratch(t);
	const daemon = await startDaemon(scratch, { config: { mcpServers } });
	const check = (name, source) => start(scratch, deno, ['check', '--quiet', '--no-lock', scratch.write(name, source)]).finished;
	return { scratch, daemon, at: daemon.socket, check };
}

test('a saved client is in the directory that it runs in', async (t) => {
	const { at, scratch } = await daemonWith(t, { scripted: { ...scriptedServer(), mcpx: { scope: 'cwd', max: 8 } } });
	scratch.write('client.mjs', (await get(at, '/v1/client.ts?plain=true')).text);
	const file = scratch.write('pids.mjs', "import { scripted } from './client.mjs'; console.log(await scripted.pid(), await scripted.pid());");
	const cwd = scratch.path('place');
	fs.mkdirSync(cwd);
	const pids = async (...words) => (await start(scratch, words[0], [...words.slice(1), file], { cwd, env: { MCPX_SOCKET: at } }).finished).stdout.trim().split(' ');
	const [first, second] = await pids(node);
	assert.match(first, /^\d+$/);
	assert.equal(second, first);
	assert.deepEqual(await pids(deno, 'run', '--allow-all'), [first, first]);
});

test('a saved client runs without a runner, in both runtimes', async (t) => {
	const { at, scratch, daemon } = await daemonWith(t, { scripted: scriptedServer({ tools: odd }), files: filesystemServer(root) });
	const typed = await get(at, '/v1/client.ts');
	assert.equal(typed.headers['content-type'], 'application/typescript; charset=utf-8');
	scratch.write('client.ts', typed.text);
	const plain = await get(at, '/v1/client.ts?plain=true');
	assert.equal(plain.headers['content-type'], 'text/javascript; charset=utf-8');
	scratch.write('client.mjs', plain.text);
	const program = (client) => `
		import tools, { scripted, files, call, emit, log, search, describe, ToolError, paths } from './${client}';
		const text = await scripted.echo({ text: 'hello' });
		const read = await files.read_text_file({ path: ${JSON.stringify(path.join(root, 'README.md'))}, head: 1 });
		emit({ text, same: tools.scripted === scripted, own: 'constructor' in scripted || '__proto__' in scripted });
		log.info('read {n}', { n: read.content.length });
		console.log(search('echo')[0].tool, describe('files.read_text_file').namespace, typeof call, typeof paths.cwd, ToolError.name);`;
	for (const client of ['client.ts', 'client.mjs']) {
		const file = scratch.write(`saved-${client}.ts`, program(client));
		for (const [command, ...flags] of [[deno, 'run', '--allow-all', '--no-check'], [node, '--experimental-strip-types', '--no-warnings']]) {
			const said = await start(scratch, command, [...flags, file], { env: { MCPX_SOCKET: daemon.socket } }).finished;
			assert.equal(said.status, 0, said.stderr);
			assert.equal(said.stdout, '{"text":"hello","same":true,"own":false}\necho files function string ToolError\n');
			assert.match(said.stderr, /^info: read \d+$/m);
			// A connection that is kept for the next call keeps nobody alive.
			assert.ok(said.ms < 30_000, `${command} took ${said.ms} ms`);
		}
	}
	const lost = await start(scratch, deno, ['run', '--allow-all', '--no-check', scratch.path('saved-client.mjs.ts')]).finished;
	assert.match(lost.stderr, /MCPX_SOCKET is not set, so the daemon cannot be found/);
});

test('the types of the client let right uses pass, and wrong ones not', async (t) => {
	const { at, scratch, check } = await daemonWith(t, { scripted: scriptedServer({ tools: odd }), files: filesystemServer(root) });
	scratch.write('client.ts', (await get(at, '/v1/client.ts')).text);
	const right = await check('right.ts', `
		import { files, scripted, call } from './client.ts';
		const read = await files.read_text_file({ path: 'x', head: 2 });
		const text: string = read.content; const blocks: number = read.raw.content.length;
		await scripted.refs({ a: { next: { next: {} } } }); await scripted.toplevel_oneof({ b: 1 });
		await scripted.weird_name_with_chars__({ 'a-b': '*/' }); const n: number = (await scripted.badoutput()).self!.self!.n;
		await call('x', 'y', {}, { onProgress: (p) => p.progress.toFixed() }); export { text, blocks, n };`);
	assert.equal(right.status, 0, right.stderr);
	const wrong = await check('wrong.ts', `
		import { files, scripted } from './client.ts';
		await files.read_text_file({ head: 2 }); await files.read_text_file({ path: 1 }); await scripted.nothing({});
		const n: string = (await scripted.badoutput()).n; export { n };`);
	assert.notEqual(wrong.status, 0);
	for (const code of ['TS2345', 'TS2322', 'TS2339']) assert.ok(wrong.stderr.includes(code), wrong.stderr);
});

test('declarations check beside a script, and can be chosen', async (t) => {
	const { at, scratch, check } = await daemonWith(t, { scripted: scriptedServer({ tools: odd }), everything: everythingServer() });
	const all = await get(at, '/v1/types?instructions=true');
	assert.equal(all.headers['content-type'], 'text/plain; charset=utf-8');
	scratch.write('mcpx.d.ts', all.text);
	const said = await check('script.ts', `/// <reference path="./mcpx.d.ts" />
		const sum = await everything.get_sum({ a: 1, b: 2 }); emit(sum); log.with({ a: 1 }).warn('x', { y: 2 });
		const kept = await artifact('x.png', await everything.get_tiny_image()); search('x')[0].score.toFixed();
		try { await scripted.echo({ text: kept.id }) } catch (e) { if (e instanceof ToolError) e.outcome === 'unknown' }
		export {};`);
	assert.equal(said.status, 0, said.stderr);

	const one = (await get(at, '/v1/types?ns=everything.get-sum,scripted.echo')).text;
	assert.match(one, /get_sum\(args: \{/);
	assert.ok(!one.includes('get_tiny_image') && !one.includes('sleep('));
	assert.equal((await get(at, '/v1/types?ns=everything.nothing')).status, 404);
	assert.match((await get(at, '/v1/types?ns=nothing')).json.error, /there is no namespace "nothing"; there are: scripted, everything/);
	assert.equal((await get(at, '/v1/client.ts?ns=nothing')).status, 404);
	assert.ok(!(await get(at, '/v1/client.ts?plain=true&ns=scripted')).text.includes('get_tiny_image'));
});

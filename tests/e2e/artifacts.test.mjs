// The artifact store through the daemon: copies in a directory of the caller's, under free names and only for who shares our files; its troubles.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { run, runJson } from '../lib/command.mjs';
import { startDaemon } from '../lib/daemon.mjs';
import { get, post } from '../lib/http.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';

const mcpServers = { scripted: scriptedServer() };
const contents = (directory) => Object.fromEntries(fs.readdirSync(directory).map((name) => [name, fs.readFileSync(path.join(directory, name), 'utf8')]));

test('run and exec put copies where they are told, and overwrite nothing', async (t) => {
	const scratch = newScratch(t);
	scratch.env.MCPX_CONFIG = scratch.writeConfig({ mcpServers });
	scratch.atEnd(() => run(scratch, ['stop']));
	const script = scratch.write('script.ts', "export default async ([text]) => { await artifact('report.txt', text); }");
	const first = await run(scratch, ['run', '--artifacts-dir', 'out/here', script, 'one'], { cwd: scratch.home });
	assert.equal(first.status, 0, first.stderr);
	assert.equal(first.stderr, `mcpx: kept ${scratch.path('out/here/report.txt')}\n`);
	const { artifacts } = await runJson(scratch, ['exec', '--artifacts-dir', scratch.path('out/here'), '--output', 'structured', "await artifact('../../report.txt', 'two')"]);
	assert.equal(artifacts[0].path, scratch.path('out/here/report-1.txt'));
	assert.deepEqual(contents(scratch.path('out/here')), { 'report.txt': 'one', 'report-1.txt': 'two' });
	assert.equal((await run(scratch, ['artifact', 'get', artifacts[0].id])).stdout, 'two');
});

test('the daemon puts copies of what a script keeps and of what media become', async (t) => {
	const scratch = newScratch(t);
	const { socket } = await startDaemon(scratch, { config: { mcpServers } });
	const source = "await artifact('image.png', await scripted.image()); return (await scripted.image()).raw";
	for (const name of ['dir', 'sharedFs']) {
		const directory = scratch.path(name);
		const { json } = await post(socket, '/v1/exec', { source, options: { artifacts: { [name]: directory } } });
		assert.equal(json.artifacts.length, 2, JSON.stringify(json));
		const [kept, medium] = json.artifacts.map((one) => fs.readFileSync(one.path));
		assert.deepEqual(kept, medium);
		assert.equal(path.dirname(json.artifacts[1].path), directory);
		assert.equal(fs.readdirSync(directory).length, 2);
	}
	const relative = await post(socket, '/v1/exec', { source, options: { cwd: scratch.home, artifacts: { dir: 'below' } } });
	assert.equal(path.dirname(relative.json.artifacts[0].path), scratch.path('below'));
});

test('a copy that cannot be made leaves the artifact where it is stored, and says so', async (t) => {
	const scratch = newScratch(t);
	const config = scratch.writeConfig({ mcpServers });
	const { socket } = await startDaemon(scratch, { config });
	const file = scratch.write('file', 'in the way');
	const told = await post(socket, `/v1/artifacts?name=a.txt&dir=${encodeURIComponent(file)}`, 'bytes');
	assert.equal(told.status, 201);
	assert.equal(told.json.path, undefined);
	assert.match(told.json.pathError, /file: artifacts cannot be placed there/);
	assert.equal((await get(socket, `/v1/artifacts/${told.json.id}`)).body.toString(), 'bytes');
	for (const runtime of ['deno', 'node']) {
		const script = "const { path, pathError } = await artifact('b.txt', 'bytes'); return [path, pathError]";
		const { result, artifacts } = await runJson(scratch, ['--config', config, 'exec', '--output', 'structured', '--runtime', runtime, '--artifacts-dir', file, script]);
		assert.equal(result[0], null);
		const shown = await run(scratch, ['--config', config, 'exec', '--runtime', runtime, '--artifacts-dir', file, "await artifact('b.txt', 'bytes')"]);
		assert.equal(shown.status, 0, shown.stderr);
		assert.match(shown.stderr, /^mcpx: mcpx:\/\/artifacts\/art-[0-9a-f]{32} is kept, and has no copy: .*file: artifacts cannot be placed there: Not a directory\n$/);
		assert.match(result[1], /file: artifacts cannot be placed there/);
		assert.deepEqual(artifacts.map((one) => [one.name, one.path, one.pathError]), [['b.txt', undefined, result[1]]]);
	}
	const { json } = await post(socket, '/v1/exec', { source: 'return (await scripted.image()).raw', options: { artifacts: { dir: file } } });
	assert.equal(json.artifacts[0].path, undefined);
	assert.match(json.artifacts[0].pathError, /artifacts cannot be placed there/);
	const relative = await post(socket, '/v1/artifacts?dir=out', 'bytes');
	assert.deepEqual([relative.status, relative.json.error], [400, 'dir must be an absolute path']);
	const nowhere = await post(socket, '/v1/exec', { source: '1', options: { artifacts: { dir: 'out' } } });
	assert.match(nowhere.json.error, /artifacts\.dir is relative, and the caller has no directory/);
});

test('whoever comes over TCP names no directory of ours', async (t) => {
	const scratch = newScratch(t);
	const { port } = await startDaemon(scratch, { config: { mcpServers }, tcp: true });
	const directory = scratch.path('out');
	const put = await post(port, `/v1/artifacts?dir=${encodeURIComponent(directory)}`, 'bytes');
	assert.deepEqual([put.status, put.json.error], [403, 'dir works over the unix socket only; fetch the artifact by its id']);
	const exec = await post(port, '/v1/exec', { source: '1', options: { artifacts: { dir: directory } } });
	assert.match(exec.json.error, /options\.artifacts\.dir is for callers over the unix socket/);
	assert.ok(!fs.existsSync(directory));
});

test('status tells when the store could not be looked after', async (t) => {
	const scratch = newScratch(t);
	const config = scratch.writeConfig({ mcpServers });
	await (await startDaemon(scratch, { config })).stop();
	const store = fs.readdirSync(scratch.state).find((name) => name.startsWith('artifacts'));
	scratch.write(path.join('state', store, 'blobs', '2c'), 'no directory');
	const { socket } = await startDaemon(scratch, { config });
	const { artifacts } = (await get(socket, '/v1/status')).json;
	assert.match(artifacts.error, /2c/);
	assert.match((await run(scratch, ['--config', config, 'status'])).stdout, /artifacts +0, .*\n +.*2c/);
});

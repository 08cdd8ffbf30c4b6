// Servers that break what they should keep: the calls end at once with the reason, and the next ones are served.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDaemon } from '../lib/daemon.mjs';
import { get, post } from '../lib/http.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';

const call = (daemon, server, tool, args = {}) => post(daemon.socket, '/v1/call', { server, tool, args });
const textOf = (answer) => answer.json.result.content[0].text;
const statusOf = async (daemon) => (await get(daemon.socket, '/v1/status')).json;

test('a line without end fails its call and those beside it at once, and the next call gets another process', async (t) => {
	const scratch = newScratch(t);
	const env = { MCPX_POOL_LINE_MAX: '1MiB', MCPX_POOL_CLOSE_GRACE: '300ms' };
	const daemon = await startDaemon(scratch, { config: { mcpServers: { one: scriptedServer() } }, env });
	let pid = textOf(await call(daemon, 'one', 'pid'));
	for (const named of [true, false]) {
		const beside = call(daemon, 'one', 'sleep', { ms: 600_000 });
		const answer = await call(daemon, 'one', 'flood', { bytes: 3 << 20, named });
		assert.equal(answer.status, 413, answer.text);
		assert.match(answer.json.error.message, /^one\.flood: tools\/call: the server.* longer than 1048576 bytes \(pool\.lineMax\)$/);
		const next = textOf(await call(daemon, 'one', 'pid'));
		assert.notEqual(next, pid);
		pid = next;
		assert.match((await beside).json.error.message, /one\.sleep: .*\(pool\.lineMax\)/);
	}
});

test('an answer over the maximum is dropped in little memory, and its server lives on', async (t) => {
	const scratch = newScratch(t);
	const env = { MCPX_POOL_LINE_MAX: '1MiB' };
	const daemon = await startDaemon(scratch, { config: { mcpServers: { one: scriptedServer() } }, env });
	const pid = textOf(await call(daemon, 'one', 'pid'));
	const answer = await call(daemon, 'one', 'big', { bytes: 100 << 20 });
	assert.equal(answer.status, 413, answer.text);
	assert.equal(answer.json.error.message, "one.big: tools/call: the server's answer is longer than 1048576 bytes (pool.lineMax)");
	assert.equal(textOf(await call(daemon, 'one', 'pid')), pid);
	const [instance] = (await statusOf(daemon)).servers[0].instances;
	assert.deepEqual(instance.warnings, ['1 of its messages were longer than 1048576 bytes (pool.lineMax) and were dropped']);
});

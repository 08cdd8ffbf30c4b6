// A server that starts and never says a word: everything else goes on beside it, on a cold cache and on a warm one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, runJson } from '../lib/command.mjs';
import { stdioClient } from '../lib/mcp.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';

// Without bounds of their own, all of these would wait for pool.startTimeout, which outlasts the test.
const settings = { pool: { startTimeout: '10m' }, catalog: { wait: '1s' }, mcp: { listWait: '1s' } };

function home(t, more = {}) {
	const scratch = newScratch(t);
	scratch.env.MCPX_CONFIG = scratch.writeConfig({ ...settings, ...more, mcpServers: { scripted: scriptedServer(), mute: { command: 'sleep', args: ['1000'] } } });
	scratch.atEnd(() => run(scratch, ['stop']));
	return scratch;
}

for (const warmth of ['cold', 'warm'])
	test(`beside a server that hangs, others list, run and answer (${warmth} cache)`, { timeout: 60_000 }, async (t) => {
		const scratch = home(t);
		if (warmth === 'warm') {
			await run(scratch, ['ls']);
			await run(scratch, ['stop']);
		}
		assert.match((await run(scratch, ['ls'])).stdout, /^scripted +\d+ +(starting|running)\nmute +starting$/m);
		assert.match((await run(scratch, ['tools'])).stdout, /scripted\.echo/);
		assert.equal((await run(scratch, ['exec', "return String(await scripted.echo({ text: 'through' }))"])).stdout, 'through\n');
		assert.equal((await run(scratch, ['exec', '--ns', 'scripted', "return String(await scripted.echo({ text: 'named' }))"])).stdout, 'named\n');
		const full = await stdioClient(scratch, ['serve', '--mode', 'full']);
		assert.ok((await full.listTools()).tools.some(({ name }) => name === 'scripted__echo'));
		const facade = await stdioClient(scratch, ['serve']);
		assert.ok((await facade.listTools()).tools.some(({ name }) => name === 'mcpx_exec'));
		const { servers } = await runJson(scratch, ['status', '--json']);
		assert.equal(servers.find(({ name }) => name === 'mute').instances[0].state, 'starting');
	});

test('a refresh names who has not answered in time', async (t) => {
	const scratch = home(t, { daemon: { refreshTimeout: '2s' } });
	const { errors } = await runJson(scratch, ['refresh', '--json']);
	assert.deepEqual(errors.map(({ server }) => server), ['mute']);
	// The second when the daemon had begun by itself before it was asked.
	assert.match(errors[0].error, /^its tools were not read within 2s \(daemon\.refreshTimeout\): it has not started yet$|^server mute is still starting after 2s/);
});

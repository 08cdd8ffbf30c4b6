// A daemon that is stopped, or hangs, while it is asked: nobody waits for it longer than for one that works.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, start } from '../lib/command.mjs';
import { startDaemon, untilCalls, untilWarm } from '../lib/daemon.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { mcpx, newScratch } from '../lib/scratch.mjs';

async function daemonWith(t, env = {}) {
	const scratch = newScratch(t);
	const config = scratch.writeConfig({ mcpServers: { scripted: scriptedServer() } });
	scratch.env.MCPX_CONFIG = config;
	return { scratch, daemon: await startDaemon(scratch, { config, env }) };
}

const quick = { MCPX_AUTOSTART_PING_TIMEOUT: '200ms', MCPX_AUTOSTART_CONNECT_TIMEOUT: '500ms', MCPX_HTTP_SHUTDOWN_GRACE: '200ms' };

test('a daemon that is stopped is named by whoever waits for it', async (t) => {
	const { scratch, daemon } = await daemonWith(t);
	assert.equal((await run(scratch, ['call', 'scripted.echo', 'text=up'])).stdout, 'up\n');
	process.kill(daemon.pid, 'SIGSTOP');
	scratch.atEnd(() => daemon.running() && process.kill(daemon.pid, 'SIGCONT'));
	const expected = `mcpx: the daemon, process ${daemon.pid}, is stopped or hangs: \`kill -KILL ${daemon.pid}\` ends it, and the next command starts another\n`;
	for (const words of [['call', '--timeout-ms', '300', 'scripted.echo', 'text=x'], ['call', 'scripted.echo', 'text=x'], ['ls'], ['status'], ['stop'], ['artifact', 'put', scratch.write('body', 'x')]]) {
		const { status, stdout, stderr } = await run(scratch, words, { env: quick });
		assert.deepEqual([status, stdout, stderr], [124, '', expected], words.join(' '));
	}
	await daemon.kill();
	assert.equal((await run(scratch, ['call', 'scripted.echo', 'text=next'])).stdout, 'next\n');
	assert.equal((await run(scratch, ['stop'])).status, 0);
});

test('a call that takes its time on a daemon that answers is waited for', async (t) => {
	const { scratch, daemon } = await daemonWith(t);
	const slow = await run(scratch, ['call', 'scripted.sleep', 'ms=2000'], { env: quick });
	assert.deepEqual([slow.status, slow.stdout, slow.stderr], [0, 'slept 2000 ms\n', '']);
	// Its own time-out is told by the daemon, in time.
	const late = await run(scratch, ['call', '--timeout-ms', '300', 'scripted.sleep', 'ms=60000'], { env: quick });
	assert.equal(late.status, 124);
	assert.doesNotMatch(late.stderr, /stopped or hangs/);
	assert.equal((await daemon.stop()).status, 0);
});

test('a daemon that takes too long to end is named by stop', async (t) => {
	const { scratch, daemon } = await daemonWith(t, { MCPX_HTTP_SHUTDOWN_GRACE: '10m' });
	await untilWarm(daemon.socket);
	const slow = start(scratch, mcpx, ['call', 'scripted.sleep', 'ms=600000']);
	await untilCalls(daemon.socket);
	const graces = { MCPX_EXEC_TERM_GRACE: '0s', MCPX_EXEC_KILL_GRACE: '100ms', MCPX_POOL_TERM_GRACE: '0s', MCPX_POOL_KILL_GRACE: '100ms' };
	const expected = `mcpx: the daemon, process ${daemon.pid}, has not ended within 900ms: \`kill -KILL ${daemon.pid}\` ends it\n`;
	for (let i = 0; i < 2; i++) {
		const { status, stdout, stderr } = await run(scratch, ['stop'], { env: { ...quick, ...graces } });
		assert.deepEqual([status, stdout, stderr], [124, '', expected]);
	}
	await daemon.kill();
	assert.equal((await slow.finished).status, 1);
});

// What others find the daemon by is taken away: by a cleaner of temporary directories, or by somebody who tidies up.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { run, runJson, start } from '../lib/command.mjs';
import { assertNothingLeft, startDaemon, untilCalls, untilWarm } from '../lib/daemon.mjs';
import { post } from '../lib/http.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { mcpx, newScratch } from '../lib/scratch.mjs';
import { until } from '../lib/wait.mjs';

async function daemonWith(t, { env, args } = {}) {
	const scratch = newScratch(t);
	const config = scratch.writeConfig({ mcpServers: { scripted: scriptedServer() } });
	scratch.env.MCPX_CONFIG = config;
	const daemon = await startDaemon(scratch, { config, env, args });
	const file = (extension) => daemon.socket.replace(/sock$/, extension);
	return { scratch, daemon, file };
}

const pidOf = async (scratch) => (await runJson(scratch, ['health', '--json'])).pid;
const halt = (scratch, pid) => {
	process.kill(pid, 'SIGSTOP');
	scratch.atEnd(() => {
		try {
			process.kill(pid, 'SIGCONT');
		} catch {
			// It has ended.
		}
	});
};

test('a socket that was removed is made anew, and what was under way goes on', async (t) => {
	const { scratch, daemon } = await daemonWith(t);
	await untilWarm(daemon.socket);
	const slow = post(daemon.socket, '/v1/call', { server: 'scripted', tool: 'sleep', args: { ms: 1000 } });
	await untilCalls(daemon.socket);
	const told = (event) => daemon.log.split(event).length;
	for (let i = 0; i < 2; i++) {
		const before = told('files.restored');
		fs.rmSync(daemon.socket);
		await until(() => told('files.restored') > before, 'the socket');
		assert.equal((await run(scratch, ['call', 'scripted.echo', 'text=up'])).stdout, 'up\n');
		assert.equal(await pidOf(scratch), daemon.pid);
	}
	// What is not a socket is nobody's to remove.
	const before = told('files.restored');
	fs.renameSync(scratch.write('state/other', 'theirs'), daemon.socket);
	await until(() => told('files.lost') > 1, 'a complaint');
	assert.match(daemon.log, /files\.lost.*exists and is not a socket/);
	assert.equal(fs.readFileSync(daemon.socket, 'utf8'), 'theirs');
	fs.rmSync(daemon.socket);
	await until(() => told('files.restored') > before, 'the socket');
	assert.equal(await pidOf(scratch), daemon.pid);
	assert.equal((await slow).json.result.content[0].text, 'slept 1000 ms');
	assert.equal((await daemon.stop()).status, 0);
});

test('the file that tells of the daemon is written anew, and the token with it', async (t) => {
	const { daemon, file } = await daemonWith(t, { args: ['--daemon-tcp', '--daemon-port=0'] });
	const [info, token] = [file('json'), file('token')].map((name) => fs.readFileSync(name, 'utf8'));
	fs.rmSync(file('token'));
	fs.rmSync(file('json'));
	await until(() => fs.existsSync(file('json')), 'the info file');
	assert.deepEqual([fs.readFileSync(file('json'), 'utf8'), fs.readFileSync(file('token'), 'utf8')], [info, token]);
	assert.equal((await daemon.stop()).status, 0);
});

test('a socket under TMPDIR is made anew with its directory', async (t) => {
	const scratch = newScratch(t);
	scratch.env.MCPX_CONFIG = scratch.writeConfig({});
	scratch.env.MCPX_STATE_DIR = scratch.path('a-state-directory-whose-name-leaves-no-room-for-a-socket-'.padEnd(120, 'x'));
	scratch.atEnd(() => run(scratch, ['stop']));
	await run(scratch, ['ls']);
	const pid = await pidOf(scratch);
	const [socket] = scratch.files(/\.sock$/);
	fs.rmSync(path.dirname(scratch.path(socket)), { recursive: true });
	await until(() => fs.existsSync(scratch.path(socket)), 'the socket');
	assert.equal(await pidOf(scratch), pid);
});

test('a daemon whose lock was removed makes room for another', async (t) => {
	for (const what of ['lock', 'state']) {
		const { scratch, daemon, file } = await daemonWith(t);
		fs.rmSync(what === 'lock' ? file('lock') : scratch.state, { recursive: true });
		const { status, stderr } = await daemon.child.finished;
		assert.equal(status, 0, stderr);
		assert.match(stderr, /daemon\.stop.*its lock file was removed, so that another daemon may start/);
		await assertNothingLeft(scratch);
		assert.equal((await run(scratch, ['call', 'scripted.echo', 'text=up'])).stdout, 'up\n');
		assert.equal((await run(scratch, ['stop'])).stdout, 'the daemon has stopped\n');
	}
});

test('a daemon that lost its socket and cannot make another is named, and stopped', async (t) => {
	const { scratch, daemon, file } = await daemonWith(t);
	halt(scratch, daemon.pid);
	fs.rmSync(daemon.socket);
	const expected = `mcpx: the daemon runs as process ${daemon.pid}, which holds ${file('lock')}, but does not answer at ${daemon.socket}: \`mcpx stop\` ends it\n`;
	for (const words of [['status'], ['call', 'scripted.echo', 'text=x', '--autostart-ping-timeout=100ms']]) {
		const { status, stderr, ms } = await run(scratch, words);
		assert.deepEqual([status, stderr], [1, expected], words.join(' '));
		assert.ok(ms < 15_000, `${words.join(' ')} took ${ms} ms`);
	}
	const stopping = start(scratch, mcpx, ['stop']);
	// The signal waits for it.
	await until(() => BigInt(`0x${/^ShdPnd:\s*(\w+)$/m.exec(fs.readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))[1]}`) & (1n << 14n), 'SIGTERM');
	process.kill(daemon.pid, 'SIGCONT');
	const { status, stdout, stderr } = await stopping.finished;
	assert.deepEqual([status, stdout, stderr], [0, 'the daemon has stopped\n', '']);
	await assertNothingLeft(scratch);
});

test('a command that comes while the daemon ends starts another when it has ended', async (t) => {
	const { scratch, daemon } = await daemonWith(t, { env: { MCPX_HTTP_SHUTDOWN_GRACE: '10m' } });
	scratch.atEnd(() => run(scratch, ['stop']));
	await untilWarm(daemon.socket);
	const slow = post(daemon.socket, '/v1/call', { server: 'scripted', tool: 'sleep', args: { ms: 3000 } });
	await untilCalls(daemon.socket);
	daemon.child.kill('SIGTERM');
	await until(() => daemon.log.includes('daemon.stop'), 'the stop');
	const [call, stopped] = await Promise.all([run(scratch, ['call', 'scripted.echo', 'text=next']), run(scratch, ['stop'])]);
	assert.deepEqual([call.status, call.stdout, call.stderr], [0, 'next\n', '']);
	assert.deepEqual([stopped.status, stopped.stdout, stopped.stderr], [0, 'the daemon has stopped\n', '']);
	// Whoever stops a daemon that is stopping waits for its end, and does not hasten it.
	assert.equal((await slow).json.result.content[0].text, 'slept 3000 ms');
	assert.equal((await daemon.child.finished).status, 0);
});

test('a call that a killed daemon had heard is not made again, and its caller is told what is not known', async (t) => {
	const { scratch, daemon } = await daemonWith(t);
	scratch.atEnd(() => run(scratch, ['stop']));
	const calls = [run(scratch, ['call', 'scripted.sleep', 'ms=600000']), run(scratch, ['call', '--json', 'scripted.sleep', 'ms=600000'])];
	await untilCalls(daemon.socket, 2);
	daemon.child.kill('SIGKILL');
	const [text, json] = await Promise.all(calls);
	const message = 'the daemon ended before it answered: whether this took effect is not known; the next command starts another';
	assert.deepEqual([text.status, text.stdout, text.stderr], [1, '', `mcpx: ${message}\n`]);
	assert.deepEqual([json.status, JSON.parse(json.stdout)], [1, { error: message }]);
	assert.equal((await run(scratch, ['call', 'scripted.echo', 'text=next'])).stdout, 'next\n');
});

test('no call is lost to an orderly stop, however often', async (t) => {
	const { scratch, daemon } = await daemonWith(t);
	await untilWarm(daemon.socket);
	let stopping = true;
	const caller = async () => {
		for (let i = 0; stopping; i++) {
			const { status, stdout, stderr } = await run(scratch, ['call', 'scripted.echo', `text=${i}`]);
			assert.deepEqual([status, stdout, stderr], [0, `${i}\n`, '']);
		}
	};
	const stops = async () => {
		for (let i = 0; i < 10; i++) {
			assert.equal((await run(scratch, ['stop'])).status, 0);
			await run(scratch, ['call', 'scripted.echo', 'text=up']);
		}
		stopping = false;
	};
	await Promise.all([stops(), caller(), caller(), caller()]);
	await run(scratch, ['stop']);
});

// As one that is just starting does.
test('a daemon that does not listen yet is waited for by who may not start one', async (t) => {
	const { scratch, daemon } = await daemonWith(t);
	halt(scratch, daemon.pid);
	fs.rmSync(daemon.socket);
	const patience = '--autostart-ping-timeout=30s';
	const asked = [run(scratch, ['health', '--json', patience]), run(scratch, ['call', 'scripted.echo', 'text=up', patience, '--daemon-autostart=false'])];
	assert.match((await run(scratch, ['health', '--autostart-ping-timeout=100ms'])).stderr, /holds .* but does not answer/);
	process.kill(daemon.pid, 'SIGCONT');
	const [health, call] = await Promise.all(asked);
	assert.equal(JSON.parse(health.stdout).pid, daemon.pid);
	assert.deepEqual([call.stdout, call.stderr], ['up\n', '']);
	assert.equal((await daemon.stop()).status, 0);
});

// As a killed one is for a moment: the kernel shows none of its descriptors any more, and has not given its lock back yet.
test('a lock that nobody is seen to hold is waited for', async (t) => {
	const { scratch, daemon, file } = await daemonWith(t);
	scratch.atEnd(() => run(scratch, ['stop']));
	await daemon.stop();
	fs.writeFileSync(file('lock'), `${daemon.pid}\n`);
	const holder = start(scratch, 'flock', [file('lock'), 'cat'], { stdin: null });
	holder.stdin.write('held\n');
	await until(() => holder.text.stdout === 'held\n', 'the lock');
	const call = run(scratch, ['call', 'scripted.echo', 'text=next']);
	const refused = () => fs.existsSync(file('log')) && fs.readFileSync(file('log'), 'utf8').split('runs already').length - 1;
	await until(() => refused() >= 3, 'some daemons that gave way');
	holder.stdin.end();
	const { status, stdout, stderr } = await call;
	assert.deepEqual([status, stdout, stderr], [0, 'next\n', '']);
});

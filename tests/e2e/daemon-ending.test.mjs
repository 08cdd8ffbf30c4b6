// A daemon that ends, or is killed, while it is asked: nothing is lost that need not be, and what is lost is told truthfully.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';
import { run, runJson, start } from '../lib/command.mjs';
import { startDaemon, untilCalls, untilStatus, untilWarm } from '../lib/daemon.mjs';
import { get, post } from '../lib/http.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { mcpx, newScratch } from '../lib/scratch.mjs';
import { until } from '../lib/wait.mjs';

async function daemonWith(t, env = {}) {
	const scratch = newScratch(t);
	scratch.env.MCPX_CONFIG = scratch.writeConfig({ mcpServers: { scripted: scriptedServer() } });
	const daemon = await startDaemon(scratch, { config: scratch.env.MCPX_CONFIG, env });
	await untilWarm(daemon.socket);
	scratch.atEnd(() => run(scratch, ['stop']));
	return { scratch, daemon };
}

// One that ends and keeps its door open, because a script runs in it until `go` is called.
async function drainingDaemon(t) {
	const { scratch, daemon } = await daemonWith(t, { MCPX_HTTP_SHUTDOWN_GRACE: '10m' });
	const file = scratch.path('go');
	const source = `while (!(await Deno.stat(${JSON.stringify(file)}).catch(() => null))) await new Promise((resolve) => setTimeout(resolve, 10)); return 'gone'`;
	const script = post(daemon.socket, '/v1/exec', { source });
	await untilStatus(daemon.socket, ({ runs }) => runs === 1);
	daemon.child.kill('SIGTERM');
	await until(async () => (await get(daemon.socket, '/v1/health')).status === 503);
	const go = async () => {
		scratch.write('go', '');
		assert.equal((await script).json.result, 'gone');
	};
	return { scratch, daemon, go };
}

// A descriptor of the process that it waits for is how one waits for its end.
const waitsFor = (pid, other) =>
	fs.readdirSync(`/proc/${pid}/fdinfo`).some((name) => {
		try {
			return new RegExp(`^Pid:\\s+${other}$`, 'm').test(fs.readFileSync(`/proc/${pid}/fdinfo/${name}`, 'utf8'));
		} catch {
			return false; // closed meanwhile
		}
	});

test('what a daemon refuses because it ends goes to the next one', async (t) => {
	const { scratch, daemon, go } = await drainingDaemon(t);
	const commands = [['call', 'scripted.echo', 'text=next'], ['ls', '--json'], ['exec', 'return 1 + 1'], ['artifact', 'put', '--json'], ['stop']];
	const children = commands.map((words) => start(scratch, mcpx, words, { stdin: words[0] === 'artifact' ? 'kept' : '' }));
	// Who may not start another is told.
	assert.deepEqual((await run(scratch, ['health'])).stderr, 'mcpx: the daemon is shutting down\n');
	assert.deepEqual((await run(scratch, ['call', 'scripted.echo', 'text=x', '--daemon-autostart=false'])).stderr, 'mcpx: the daemon is shutting down\n');
	await until(() => children.every(({ pid }) => waitsFor(pid, daemon.pid)), 'everybody to wait for the end');
	await go();
	const [call, ls, exec, put, stop] = await Promise.all(children.map(({ finished }) => finished));
	for (const { status, stderr } of [call, ls, exec, put, stop]) assert.deepEqual([status, stderr], [0, '']);
	assert.equal(call.stdout, 'next\n');
	assert.equal(exec.stdout, '2\n');
	assert.equal(stop.stdout, 'the daemon has stopped\n');
	assert.equal((await run(scratch, ['artifact', 'get', JSON.parse(put.stdout).id])).stdout, 'kept');
	assert.equal((await daemon.child.finished).status, 0);
});

test('an artifact goes to the next daemon when the first one did not ask for its bytes', async (t) => {
	const { scratch, daemon } = await daemonWith(t);
	process.kill(daemon.pid, 'SIGSTOP');
	const puts = [['-'], [scratch.write('body', 'kept')]].map((words) => start(scratch, mcpx, ['artifact', 'put', '--json', ...words], { stdin: 'kept' }));
	const connections = () => fs.readFileSync('/proc/net/unix', 'utf8').split(daemon.socket).length - 1;
	await until(() => connections() >= 3, 'both to be connected');
	daemon.child.kill('SIGKILL');
	for (const { finished } of puts) {
		const { status, stdout, stderr } = await finished;
		assert.deepEqual([status, stderr], [0, '']);
		assert.equal((await run(scratch, ['artifact', 'get', JSON.parse(stdout).id])).stdout, 'kept');
	}
	assert.equal((await runJson(scratch, ['artifact', 'list', '--json'])).artifacts.length, 2);
});

// Stands where the daemon was; `answer(text)` is what it says to what it heard before it ends, or undefined to hear more.
async function impostor(scratch, socket, answer) {
	const server = net.createServer((peer) => {
		let text = '';
		peer.on('error', () => {});
		peer.on('data', (data) => {
			const said = answer((text += data));
			if (said !== undefined) peer.end(said, () => server.close());
		});
	});
	scratch.atEnd(() => server.close());
	await new Promise((resolve) => server.listen(socket, resolve));
	fs.chmodSync(socket, 0o600);
}

test('the loss of an answer says what is known of the effect', async (t) => {
	const { scratch, daemon } = await daemonWith(t);
	await daemon.stop();
	const unknown = 'mcpx: the daemon ended before it answered: whether this took effect is not known; the next command starts another\n';
	const heard = (end) => (text) => (text.includes(end) ? '' : undefined);
	for (const [words, answer, expected] of [
		[['artifact', 'delete', 'art-0'], heard('\r\n\r\n'), unknown],
				[['artifact', 'get', 'art-0'], () => 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf', 'mcpx: the daemon ended in the middle of its answer; the next command starts another\n'],
		[['artifact', 'list'], () => 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf', 'mcpx: the daemon ended in the middle of its answer; the next command starts another\n'],
	]) {
		await impostor(scratch, daemon.socket, answer);
		const { status, stderr } = await run(scratch, words);
		assert.deepEqual([status, stderr], [1, expected], words.join(' '));
	}
});

test('a script hears that the daemon ended, and not what the system calls that', async (t) => {
	const { scratch, daemon } = await daemonWith(t);
	const file = scratch.path('go');
	const script = start(scratch, mcpx, ['exec', `
		const lost = scripted.sleep({ ms: 600000 }).catch(({ message, outcome }) => console.log(outcome, message));
		while (!(await Deno.stat(${JSON.stringify(file)}).catch(() => null))) await new Promise((resolve) => setTimeout(resolve, 10));
		await Promise.all([lost, artifact('a.txt', 'a').catch(({ message }) => console.log(message))])`]);
	await untilCalls(daemon.socket);
	process.kill(daemon.pid, 'SIGSTOP');
	const connections = () => fs.readFileSync('/proc/net/unix', 'utf8').split(daemon.socket).length - 1;
	const before = connections();
	scratch.write('go', '');
	await until(() => connections() > before, 'the script to ask for its artifact');
	daemon.child.kill('SIGKILL');
	const { stdout, stderr } = await script.finished;
	assert.deepEqual(stdout.split('\n').sort(), ['', 'the daemon ended before it answered', 'unknown scripted.sleep: the daemon ended before it answered'], stderr);
});

// The socket that a killed one left refuses as that of one that ends does.
test('a stop that comes while a daemon starts stops that one', async (t) => {
	const { scratch, daemon } = await daemonWith(t);
	process.kill(daemon.pid, 'SIGSTOP');
	scratch.atEnd(() => daemon.running() && process.kill(daemon.pid, 'SIGCONT'));
	const dead = net.createServer();
	await new Promise((resolve) => dead.listen(scratch.path('dead'), resolve));
	fs.renameSync(scratch.path('dead'), daemon.socket);
	await new Promise((resolve) => dead.close(resolve));
	const stopping = start(scratch, mcpx, ['stop']);
	assert.match((await run(scratch, ['health', '--autostart-ping-timeout=100ms'])).stderr, /holds .* but does not answer/);
	process.kill(daemon.pid, 'SIGCONT');
	const { status, stdout, stderr } = await stopping.finished;
	assert.deepEqual([status, stdout, stderr], [0, 'the daemon has stopped\n', '']);
	assert.match((await daemon.child.finished).stderr, /daemon\.stop reason="asked to"/);
});

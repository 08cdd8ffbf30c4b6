// How the command line finds the daemon, starts it, and ends it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { run, runJson, start } from '../lib/command.mjs';
import { assertNothingLeft, startDaemon } from '../lib/daemon.mjs';
import { newHome } from '../lib/home.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { mcpx, newScratch } from '../lib/scratch.mjs';

// A program that stands in for the daemon.
function program(scratch, text) {
	const file = scratch.write('program', `#!/bin/sh\n${text}\n`);
	fs.chmodSync(file, 0o755);
	return file;
}

const daemonProcesses = (scratch) => scratch.processes().filter(({ command }) => command.includes('mcpx-daemon'));

test('what is about the daemon never starts one', async (t) => {
	const scratch = newHome(t);
	for (const words of [['status'], ['health']]) {
		const result = await run(scratch, words);
		assert.deepEqual([result.status, result.stdout], [1, '']);
		assert.equal(result.stderr, 'mcpx: no daemon is running for these configuration files; `mcpx ls` starts one\n');
	}
	assert.deepEqual(await run(scratch, ['stop']).then(({ status, stdout }) => [status, stdout]), [0, 'no daemon is running\n']);
	assert.deepEqual(await runJson(scratch, ['stop', '--json']), { stopping: false });
	assert.deepEqual(scratch.processes(), []);
});

test('a command starts the daemon in a session of its own, and stop waits for its end', async (t) => {
	const scratch = newHome(t);
	assert.equal((await run(scratch, ['call', 'scripted.echo', 'text=up'])).stdout, 'up\n');
	const { pid } = await runJson(scratch, ['health', '--json']);
	const session = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[3];
	assert.equal(Number(session), pid);
	for (const fd of [0, 1]) assert.equal(fs.readlinkSync(`/proc/${pid}/fd/${fd}`), '/dev/null');
	const stopped = await run(scratch, ['stop']);
	assert.deepEqual([stopped.status, stopped.stdout], [0, 'the daemon has stopped\n']);
	assert.deepEqual(scratch.processes(), []);
	await assertNothingLeft(scratch);
});

test('a daemon that was killed is replaced at the next command', async (t) => {
	const scratch = newHome(t);
	await run(scratch, ['ls']);
	const { pid } = await runJson(scratch, ['health', '--json']);
	process.kill(pid, 'SIGKILL');
	assert.equal((await run(scratch, ['call', 'scripted.echo', 'text=again'])).stdout, 'again\n');
	assert.notEqual((await runJson(scratch, ['health', '--json'])).pid, pid);
	assert.equal(daemonProcesses(scratch).length, 1);
});

test('what a killed daemon was writing is removed at the next start', async (t) => {
	const scratch = newHome(t);
	const names = ['state/.daemon.json', 'cache/.schemas.json', 'cache/exec/.client.ts'].map((name) => `${name}.0123456789abcdef.tmp`);
	for (const name of [...names, 'state/.young.0123456789abcdef.tmp']) scratch.write(name, 'half');
	for (const name of names) fs.utimesSync(scratch.path(name), 0, 0);
	assert.equal((await run(scratch, ['ls'])).status, 0);
	// Beside what the new daemon writes meanwhile.
	assert.deepEqual(scratch.files(/\.0123456789abcdef\.tmp$/), ['state/.young.0123456789abcdef.tmp']);
});

test('a daemon that cannot start says why, with the end of its log', async (t) => {
	const scratch = newHome(t);
	const result = await run(scratch, ['ls', '--daemon-tcp', '--daemon-auth', 'none', '--daemon-address=0.0.0.0']);
	assert.equal(result.status, 1);
	assert.match(result.stderr, /^mcpx: the daemon did not start \(exit status 2\); .*\.log ends with\nmcpx: daemon\.auth none is for loopback only/);
	assert.ok(result.ms < 10_000, 'it did not wait for the time-out');
	// Only what came since this start is shown, and no more than autostart.logTail of it.
	const log = scratch.path('state', fs.readdirSync(scratch.state).find((name) => name.endsWith('.log')));
	fs.appendFileSync(log, 'an old story\n');
	const silent = await run(scratch, ['ls', `--autostart-bin=${program(scratch, 'exit 9')}`]);
	assert.equal(silent.status, 1);
	assert.equal(silent.stderr, `mcpx: the daemon did not start (exit status 9) and wrote nothing to its log, ${log}\n`);
	const long = await run(scratch, ['ls', '--autostart-log-tail=8B', `--autostart-bin=${program(scratch, 'echo "a long story" >&2; exit 9')}`]);
	assert.equal(long.stderr, `mcpx: the daemon did not start (exit status 9); ${log} ends with\ng story\n`);
	const json = await run(scratch, ['ls', '--json', `--autostart-bin=${program(scratch, 'exit 9')}`]);
	assert.match(JSON.parse(json.stdout).error, /exit status 9/);
	assert.match((await run(scratch, ['ls', '--autostart-bin=/proc/nonexistent'])).stderr, /^mcpx: cannot start \/proc\/nonexistent: No such file/);
});

test('a daemon that is stopped before anybody reached it is started again, and one that ends every time is not', async (t) => {
	const scratch = newHome(t);
	const twice = program(scratch, `cd ${scratch.home}; for f in one two; do [ -e $f ] || { : >$f; exit 0; }; done; exec ${mcpx} "$@"`);
	assert.deepEqual((({ status, stderr }) => [status, stderr])(await run(scratch, ['ls', `--autostart-bin=${twice}`])), [0, '']);
	await run(scratch, ['stop']);
	const { status, stderr } = await run(scratch, ['ls', `--autostart-bin=${program(scratch, 'echo once >>"$0.log"')}`]);
	assert.equal(status, 1);
	assert.match(stderr, /^mcpx: the daemon did not start \(exit status 0\)/);
	assert.equal(fs.readFileSync(scratch.path('program.log'), 'utf8'), 'once\n'.repeat(6));
});

test('a daemon that never answers is waited for no longer than autostart.connectTimeout', async (t) => {
	const scratch = newHome(t);
	const result = await run(scratch, ['ls', '--autostart-connect-timeout=300ms', `--autostart-bin=${program(scratch, 'exec sleep 600')}`]);
	for (const { pid } of scratch.processes()) process.kill(pid, 'SIGKILL');
	assert.equal(result.status, 124);
	assert.match(result.stderr, /^mcpx: the daemon was started and did not answer within autostart\.connectTimeout and wrote nothing/);
});

test('daemon.autostart off, from wherever it is said, starts none', async (t) => {
	const scratch = newHome(t);
	const expected = 'mcpx: no daemon is running and daemon.autostart is off: start one with `mcpx daemon`\n';
	assert.equal((await run(scratch, ['ls', '--no-daemon-autostart'])).stderr, expected);
	assert.equal((await run(scratch, ['ls'], { env: { MCPX_DAEMON_AUTOSTART: 'false' } })).stderr, expected);
	scratch.writeConfig({ daemon: { autostart: false } });
	assert.deepEqual(await run(scratch, ['ls']).then(({ status, stderr }) => [status, stderr]), [1, expected]);
	assert.deepEqual(scratch.processes(), []);
});

test('flags for the daemon reach the one that is started, and are not lost in silence on one that runs', async (t) => {
	const scratch = newHome(t);
	const first = await run(scratch, ['ls', '--pool-max', '3', '--no-daemon-warm']);
	assert.deepEqual([first.status, first.stderr], [0, '']);
	assert.equal((await runJson(scratch, ['settings', 'get', 'pool.max', '--daemon', '--json'])).value, '3');
	assert.equal((await runJson(scratch, ['settings', 'get', 'daemon.warm', '--daemon', '--json'])).value, 'false');
	assert.equal((await runJson(scratch, ['settings', 'get', 'daemon.idleExit', '--daemon', '--json'])).value, '4h');
	const second = await run(scratch, ['ls', '--pool-max=5']);
	assert.equal(second.status, 0);
	assert.equal(second.stderr, 'mcpx: --pool-max acts on the daemon, which is running already: use `mcpx settings set`, or `mcpx stop` first\n');
});

test('a setting of the call is honoured for that call alone', async (t) => {
	const scratch = newHome(t);
	assert.equal((await runJson(scratch, ['tools', '--json'])).length > 3, true);
	assert.equal((await runJson(scratch, ['search', 'e', '--search-limit=2', '--json'])).length, 2);
	assert.equal((await runJson(scratch, ['search', 'e', '--json'], { env: { MCPX_SEARCH_LIMIT: '1' } })).length, 1);
	assert.ok((await runJson(scratch, ['search', 'e', '--json'])).length > 2);
});

test('daemon runs in the foreground with every flag, wherever it stands, and a second one gives way', async (t) => {
	const scratch = newScratch(t);
	const config = scratch.writeConfig({});
	const daemon = await startDaemon(scratch, { config, args: ['--idle-exit', '1h', '--passthrough', 'a,b', '--search-limit=4'] });
	const value = async (setting) => (await runJson(scratch, ['--config', config, 'settings', 'get', setting, '--daemon', '--json'])).value;
	assert.deepEqual([await value('daemon.idleExit'), await value('mcp.passthrough'), await value('search.limit')], ['1h', 'a,b', '4']);
	const second = await run(scratch, ['--config', config, 'daemon']);
	assert.equal(second.status, 69);
	assert.match(second.stderr, new RegExp(`runs already \\(\`mcpx stop\` ends it\\): .*process ${daemon.pid}`));
	assert.equal((await run(scratch, ['daemon', '--bogus'])).status, 2);
	assert.equal((await daemon.stop()).status, 0);
});

test('a change at run time shows what became of it', async (t) => {
	const scratch = newHome(t);
	const words = async (...args) => {
		const { status, stdout, stderr } = await run(scratch, args);
		return [status, stdout + stderr];
	};
	assert.deepEqual(await words('settings', 'set', 'pool.max', '6'), [0, 'pool.max = 6\n']);
	assert.match((await words('settings', 'get', 'pool.max', '--daemon'))[1], /^pool\.max = 6\n {2}from {7}runtime\n {2}displaced {2}4 from default\n/);
	assert.match((await words('settings', 'list', '--daemon', '--changed'))[1], /pool\.max +6 +runtime/);
	assert.deepEqual(await words('settings', 'unset', 'pool.max'), [0, 'pool.max = 4, from default\n']);
	assert.deepEqual(await words('settings', 'unset', 'pool.max'), [0, 'pool.max = 4, which was not overridden, from default\n']);
	// What does not take effect has failed.
	for (const [setting, value] of [['output.color', 'never'], ['daemon.port', '1']]) {
		const [status, text] = await words('settings', 'set', setting, value);
		assert.equal(status, 1);
		assert.match(text, new RegExp(`^mcpx: ${setting.replace('.', '\\.')} stays as it is: `));
	}
	assert.equal((await words('settings', 'set', 'pool.max', 'many'))[0], 1);
});

test('files are looked for where config says', async (t) => {
	const scratch = newHome(t);
	const config = scratch.env.MCPX_CONFIG;
	assert.equal((await run(scratch, ['config', '--path'])).stdout, `${config}\n`);
	assert.equal((await run(scratch, ['config'])).stdout, `read      ${config}\n`);
	delete scratch.env.MCPX_CONFIG;
	const nothing = await run(scratch, ['config', '--path'], { cwd: path.parse(scratch.home).root });
	assert.deepEqual([nothing.status, nothing.stdout], [1, '']);
	const none = await run(scratch, ['config'], { cwd: scratch.env.TMPDIR });
	assert.equal(none.stdout, 'no configuration file is read; `mcpx config --sources` lists where they are looked for\n');
	assert.match((await run(scratch, ['config', '--sources'], { cwd: scratch.env.TMPDIR })).stdout, /^not there .*\/tmp\/\.mcpx\.json$/m);
	const { sources } = await runJson(scratch, ['config', '--sources', '--json'], { cwd: scratch.env.TMPDIR });
	assert.ok(sources.some(({ path: place }) => place === path.join(scratch.env.TMPDIR, '.mcpx.json')));
	const schema = await runJson(scratch, ['config', '--schema']);
	assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema');
	assert.deepEqual(scratch.processes(), []);
});

test('a session is named by the environment or by a flag', async (t) => {
	const scratch = newHome(t, { scripted: { ...scriptedServer(), mcpx: { scope: 'session' } } });
	const pid = async (args = [], env = {}) => (await run(scratch, ['call', 'scripted.pid', ...args], { env })).stdout;
	const a = await pid(['--session', 'a']);
	assert.match(a, /\d/);
	assert.equal(await pid(['--session', 'a']), a);
	assert.equal(await pid([], { MCPX_SESSION_ID: 'a' }), a);
	assert.notEqual(await pid(['--session', 'b']), a);
	// A name that cannot be sent is no wish for no session.
	const refused = await run(scratch, ['call', 'scripted.pid', '--session', 'a\nb']);
	assert.deepEqual([refused.status, refused.stdout], [1, '']);
	assert.match(refused.stderr, /^mcpx: "a\\nb" is no session: /);
});

test('output that cannot be written is said once, and fails', { skip: fs.existsSync('/dev/full') ? false : 'needs /dev/full' }, async (t) => {
	const scratch = newHome(t);
	await run(scratch, ['ls']);
	for (const args of [['ls'], ['ls', '--json'], ['tools'], ['help'], ['exec', 'return 1'], ['call', 'scripted.echo', 'text=x']]) {
		const child = start(scratch, '/bin/sh', ['-c', '"$0" "$@" >/dev/full', mcpx, ...args]);
		const { status, stderr } = await child.finished;
		assert.equal(status, 1, args.join(' '));
		assert.equal(stderr, 'mcpx: cannot write to standard output: No space left on device\n', args.join(' '));
	}
});

test('a reader that has enough ends a command in silence', async (t) => {
	const scratch = newHome(t);
	await run(scratch, ['ls']);
	for (const command of [['tools'], ['exec', 'for (let i = 0; i < 100000; i++) console.log("line " + i)']]) {
		const child = start(scratch, '/bin/bash', ['-c', '"$0" "$@" | head -n 1; echo ${PIPESTATUS[0]}', mcpx, ...command]);
		const { stdout, stderr } = await child.finished;
		assert.match(stdout, /^.*\n(0|141)\n$/);
		assert.equal(stderr, '');
	}
});

test('a daemon whose socket is under another TMPDIR is found all the same', async (t) => {
	const scratch = newHome(t);
	scratch.env.MCPX_STATE_DIR = scratch.path('a-state-directory-whose-name-leaves-no-room-for-a-socket-'.padEnd(120, 'x'));
	const pid = async (TMPDIR) => (fs.mkdirSync(TMPDIR, { recursive: true }), (await runJson(scratch, ['health', '--json'], { env: { TMPDIR } })).pid);
	const [one, other] = [scratch.path('one'), scratch.path('other')];
	fs.mkdirSync(one);
	assert.equal((await run(scratch, ['ls'], { env: { TMPDIR: one } })).status, 0);
	assert.equal(await pid(other), await pid(one));
	// Scripts are told the socket, too.
	assert.equal((await run(scratch, ['exec', 'return (await search("x")).length >= 0'], { env: { TMPDIR: other } })).stdout, 'true\n');
	assert.equal((await run(scratch, ['stop'], { env: { TMPDIR: other } })).stdout, 'the daemon has stopped\n');
});

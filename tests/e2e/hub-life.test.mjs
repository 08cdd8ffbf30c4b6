// The life of servers and of the daemon: what ends, how fast, and that nothing is left.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { test } from 'node:test';
import { httpClient } from '../lib/mcp.mjs';
import { assertNothingLeft, startDaemon } from '../lib/daemon.mjs';
import { get, post } from '../lib/http.mjs';
import { scriptedServer, smallServer } from '../lib/servers.mjs';
import { newScratch, root, sanitized } from '../lib/scratch.mjs';

const call = (daemon, server, tool, args = {}) => post(daemon.socket, '/v1/call', { server, tool, args });
const textOf = (answer) => answer.json.result.content[0].text;

// [pid, parent, start time] of every process.
function processTable() {
	const table = [];
	for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
		try {
			const fields = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1).split(' ');
			table.push([Number(pid), Number(fields[1]), fields[19], fields[0]]);
		} catch {
			// It ended while we looked.
		}
	}
	return table;
}

// A process and everything that came from it: "pid@start", which no later process can be.
function familyOf(pid) {
	const table = processTable();
	const family = new Set([pid]);
	for (let size = 0; size < family.size; ) {
		size = family.size;
		for (const [child, parent] of table) if (family.has(parent)) family.add(child);
	}
	return table.filter(([member]) => family.has(member)).map(([member, , start]) => `${member}@${start}`);
}

const alive = (family) => {
	const names = new Set(processTable().filter(([, , , state]) => state !== 'Z').map(([pid, , start]) => `${pid}@${start}`));
	return family.filter((member) => names.has(member));
};

async function gone(family, ms) {
	const deadline = Date.now() + ms;
	while (alive(family).length && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
	return alive(family);
}

const has = (command) => {
	try {
		execFileSync('/bin/sh', ['-c', `command -v ${command}`], { stdio: 'ignore' });
		return true;
	} catch {
		return false;
	}
};

// A server behind a shell that waits for it, as wrappers do.
function wrapped(prefix, options) {
	const { command, args } = scriptedServer(options);
	return { command: '/bin/sh', args: ['-c', `${prefix} "$@"; exit $?`, 'wrapper', command, ...args] };
}

test('nothing survives a daemon that is killed: stubborn, wrapped and forking servers', async (t) => {
	const scratch = newScratch(t);
	const mcpServers = {
		stubborn: scriptedServer({ stubborn: true }),
		forking: scriptedServer({ stubborn: true, forks: 2 }),
		wrapped: wrapped('', { stubborn: true }),
		// Forks twice into a session of its own, without anything of its environment, and its parent is gone before the server starts.
		scattered: wrapped('(setsid env -i sh -c "trap \\"\\" TERM HUP; sleep 600; :" </dev/null >/dev/null 2>&1 &);', { stubborn: true }),
		...(has('npx') && {
			npx: { command: 'npx', args: ['--no-install', 'mcp-server-everything', 'stdio'], cwd: root, env: { npm_config_cache: scratch.path('npm') } },
		}),
	};
	const daemon = await startDaemon(scratch, { config: { mcpServers } });
	for (const name of Object.keys(mcpServers)) {
		const answer = name === 'npx' ? await call(daemon, name, 'echo', { message: 'up' }) : await call(daemon, name, 'echo', { text: 'up' });
		assert.equal(answer.status, 200, `${name}: ${answer.text}`);
	}
	const family = familyOf(daemon.pid);
	// The daemon, a supervisor for each server, the servers, and what those have started.
	assert.ok(family.length >= 1 + 2 * Object.keys(mcpServers).length + 4, `${family.length} processes`);
	await daemon.kill();
	assert.deepEqual(await gone(family, 1000), [], 'processes outlived the daemon by a second');
	assert.deepEqual(scratch.processes(), []);
});

test('an orderly stop ends stubborn servers too', async (t) => {
	const scratch = newScratch(t);
	const mcpServers = { stubborn: scriptedServer({ stubborn: true, forks: 1 }) };
	const env = { MCPX_POOL_CLOSE_GRACE: '50ms', MCPX_POOL_TERM_GRACE: '50ms' };
	const daemon = await startDaemon(scratch, { config: { mcpServers }, env });
	assert.equal(textOf(await call(daemon, 'stubborn', 'echo', { text: 'up' })), 'up');
	const family = familyOf(daemon.pid);
	assert.equal((await daemon.stop()).status, 0);
	assert.deepEqual(alive(family), [], 'the daemon ended before its servers had');
	await assertNothingLeft(scratch);
});

const starts = sanitized ? 20 : 200;

test(`${starts} starts and stops leave nothing`, async (t) => {
	const ends = [
		(daemon) => daemon.stop('SIGTERM'),
		(daemon) => daemon.stop('SIGINT'),
		async (daemon) => {
			assert.equal((await post(daemon.socket, '/v1/shutdown')).status, 200);
			return daemon.child.finished;
		},
	];
	// Four homes at once, each of which sees its daemon come and go again and again.
	await Promise.all(
		Array.from({ length: 4 }, async (_, lane) => {
			const scratch = newScratch(t);
			for (let i = lane; i < starts; i += 4) {
				const daemon = await startDaemon(scratch, { config: { mcpServers: { small: smallServer() } } });
				assert.equal(textOf(await call(daemon, 'small', 'ping')), 'pong');
				const family = familyOf(daemon.pid);
				const ended = await ends[i % ends.length](daemon);
				assert.deepEqual([ended.status, ended.signal], [0, null], ended.stderr);
				assert.deepEqual(alive(family), [], `processes are left after stop ${i}`);
				assert.deepEqual(scratch.files(/\.(sock|pid|lock|token|tmp)$|daemon-\w+\.json$/), [], `files are left after stop ${i}`);
			}
			await assertNothingLeft(scratch);
			assert.deepEqual(fs.readdirSync(scratch.env.TMPDIR), []);
		}),
	);
});

test('a session outlives the crash of its server, and the lost call says what is known', async (t) => {
	const scratch = newScratch(t);
	const daemon = await startDaemon(scratch, { config: { mcpServers: { one: scriptedServer() } }, tcp: true, env: { MCPX_SERVE_MODE: 'full' } });
	const mcp = await httpClient(scratch, `${daemon.url}/mcp`);
	const pid = async () => (await mcp.callTool({ name: 'one__pid', arguments: {} })).content[0].text;
	const before = await pid();
	await assert.rejects(
		mcp.callTool({ name: 'one__exit', arguments: { status: 9 } }),
		/one\.exit: tools\/call: the request was sent, and whether the server acted on it is unknown: server one exited with code 9; it wrote nothing to stderr/,
	);
	const after = await pid();
	assert.notEqual(after, before);
	// The same by a signal from outside, while nothing runs.
	process.kill(Number(after), 'SIGKILL');
	while ((await get(daemon.socket, '/v1/status')).json.servers[0].live) await new Promise((resolve) => setTimeout(resolve, 10));
	assert.notEqual(await pid(), after);
});

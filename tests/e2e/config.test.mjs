// What mcpx says of its configuration: files, servers, keys, variables, and the value of a setting.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { run, runJson } from '../lib/command.mjs';
import { startDaemon } from '../lib/daemon.mjs';
import { get } from '../lib/http.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';
import { until } from '../lib/wait.mjs';

function newHome(t, config) {
	const scratch = newScratch(t);
	scratch.env.MCPX_CONFIG = scratch.writeConfig(config);
	scratch.atEnd(() => run(scratch, ['stop']));
	return scratch;
}

const text = async (scratch, ...args) => (await run(scratch, args)).stdout;

test('config says what is wrong in the files, with the place of each', async (t) => {
	const scratch = newHome(t, '{"mcpServers":{"a":{"command":"x","type":"stdio","mcpx":{"profiles":["p"]}},\n  "b":{"command":5},\n  "c":{"aliasOf":"b"}},\n "socketPath":"/s","colour":1}');
	const file = scratch.path('config.json');
	assert.equal(
		await text(scratch, 'config'),
		[
			`read      ${file}`,
			`wrong     ${file}:2:8: server "b": command: expected a string`,
			`wrong     ${file}:3:3: server "c": aliasOf: ${file}:2:8: server "b": command: expected a string`,
			`ignored   ${file}:1:35: mcpServers.a.type is no key of mcpx`,
			`ignored   ${file}:1:58: mcpServers.a.mcpx.profiles is not in this version of mcpx yet`,
			`ignored   ${file}:4:2: socketPath is not in this version of mcpx yet`,
			`ignored   ${file}:4:20: colour is no key of mcpx`,
			'',
		].join('\n'),
	);
	const document = await runJson(scratch, ['config', '--json']);
	assert.deepEqual(document.sources, [{ path: file, loaded: true, namedBy: 'MCPX_CONFIG' }]);
	assert.deepEqual(document.errors[0], { server: 'b', file, line: 2, column: 8, error: `${file}:2:8: server "b": command: expected a string` });
	assert.equal(document.errors[1].server, 'c');
	assert.deepEqual(document.ignored[1], { key: 'mcpServers.a.mcpx.profiles', file, line: 1, column: 58, planned: true });
	assert.deepEqual(document.ignored[3], { key: 'colour', file, line: 4, column: 20, planned: false });
	assert.deepEqual(document.misspelt, []);
});

test('a slip in the name of a variable is told, and those of scripts are left alone', async (t) => {
	const scratch = newHome(t, {});
	scratch.env.MCPX_SERCH_LIMIT = '3';
	scratch.env.MCPX_SESSION_ID = 's';
	scratch.env.MCPX_FAVOURITE = 'red';
	const told = 'the variable MCPX_SERCH_LIMIT is no setting; did you mean MCPX_SEARCH_LIMIT?\n';
	assert.equal(await text(scratch, 'config'), `read      ${scratch.path('config.json')}\nignored   ${told}`);
	assert.deepEqual((await runJson(scratch, ['config', '--json'])).misspelt, [{ variable: 'MCPX_SERCH_LIMIT', meant: 'MCPX_SEARCH_LIMIT' }]);
	assert.equal((await run(scratch, ['settings', 'list'])).stderr, 'mcpx: the variable "MCPX_SERCH_LIMIT" is no setting; did you mean MCPX_SEARCH_LIMIT?\n');
	assert.equal((await run(scratch, ['ls'])).stderr, '');
	await run(scratch, ['stop']);
	const daemon = await startDaemon(scratch);
	assert.equal(daemon.log.match(/MCPX_SERCH_LIMIT/g).length, 1);
	assert.match(daemon.log, /MCPX_SEARCH_LIMIT/);
	assert.doesNotMatch(daemon.log, /MCPX_SESSION_ID|MCPX_FAVOURITE/);
});

test('settings show what is in force in a running daemon, and what this command says beside it', async (t) => {
	const scratch = newHome(t, { pool: { callTimeout: '9s', max: 2 } });
	const file = scratch.path('config.json');
	// Without a daemon, what one would be started with. None is started for the question.
	assert.match(await text(scratch, 'settings', 'get', 'pool.callTimeout'), /^pool\.callTimeout = 9s\n {2}from {7}file /);
	assert.deepEqual(scratch.processes(), []);
	await run(scratch, ['ls']);
	assert.equal((await run(scratch, ['settings', 'set', 'pool.callTimeout', '5s'])).status, 0);
	const lines = (await text(scratch, 'settings', 'get', 'pool.callTimeout')).split('\n');
	assert.deepEqual(lines.slice(0, 5), [
		'pool.callTimeout = 5s',
		'  from       runtime, in the daemon that is running',
		`  displaced  9s from file ${file}:3:5`,
		'  displaced  2m from default',
		`  here       9s from file ${file}:3:5`,
	]);
	const env = { MCPX_POOL_CALL_TIMEOUT: '3s', MCPX_POOL_MAX: '2' };
	const record = await runJson(scratch, ['settings', 'get', 'pool.callTimeout', '--json'], { env });
	assert.deepEqual([record.value, record.source, record.fromDaemon], ['5s', 'runtime', true]);
	assert.deepEqual(record.here, { value: '3s', source: 'env', origin: 'MCPX_POOL_CALL_TIMEOUT' });
	const { stdout } = await run(scratch, ['settings', 'list', '--changed'], { env });
	assert.match(stdout, /^pool\.callTimeout +5s +runtime +3s, env MCPX_POOL_CALL_TIMEOUT$/m);
	assert.match(stdout, /^pool\.max +2 +file \S.*config\.json:\d+:\d+$/m);
	assert.doesNotMatch(stdout, /daemon\.warm/);
	assert.equal((await run(scratch, ['settings', 'list', '--scope', 'plugin'])).stdout, 'no setting is like that\n');
});

test('settings of a call are those of this command over those of the daemon', async (t) => {
	const scratch = newHome(t, {});
	await run(scratch, ['settings', 'set', 'search.limit', '7']);
	const plain = await runJson(scratch, ['settings', 'get', 'search.limit', '--json']);
	assert.deepEqual([plain.value, plain.source], ['7', 'runtime']);
	const own = await runJson(scratch, ['settings', 'get', 'search.limit', '--json'], { env: { MCPX_SEARCH_LIMIT: '3' } });
	assert.deepEqual([own.value, own.source, own.origin, own.here], ['3', 'env', 'MCPX_SEARCH_LIMIT', undefined]);
	assert.deepEqual(own.shadowed.map(({ value, source }) => [value, source]), [['7', 'runtime'], ['20', 'default']]);
	const flag = await runJson(scratch, ['settings', 'get', 'search.limit', '--search-limit=4', '--json'], { env: { MCPX_SEARCH_LIMIT: '3' } });
	assert.deepEqual([flag.value, flag.source, flag.origin], ['4', 'flag', '--search-limit']);
	assert.deepEqual(flag.shadowed.map(({ value, source }) => [value, source]), [['3', 'env'], ['7', 'runtime'], ['20', 'default']]);
	// What the command acts on is the command's.
	const local = await runJson(scratch, ['settings', 'get', 'output.color', '--color=never', '--json']);
	assert.deepEqual([local.value, local.source, local.fromDaemon], ['never', 'flag', undefined]);
});

test('two flags for one setting are refused, whichever table they come from', async (t) => {
	const scratch = newHome(t, {});
	for (const flags of [['--n', '1', '--limit', '2'], ['--limit', '2', '--search-limit', '1'], ['-n', '1', '--search-limit=2']]) {
		const { status, stderr } = await run(scratch, ['search', 'echo', ...flags]);
		assert.equal(status, 2, flags.join(' '));
		assert.match(stderr, /are two spellings of one setting, search\.limit: give one of them/);
	}
	assert.equal((await run(scratch, ['search', 'echo', '--limit', '2', '--limit=1'])).status, 0);
});

test('servers that are off are told apart from none, and from those that are on', async (t) => {
	const off = { ...scriptedServer(), mcpx: { disabled: true } };
	const scratch = newHome(t, { mcpServers: { one: off, two: off } });
	assert.equal(await text(scratch, 'ls'), 'every configured server is switched off; `mcpx servers list` shows them\n');
	assert.match(await text(scratch, 'servers', 'list'), /^one +one +off +global /m);
	await run(scratch, ['stop']);
	scratch.writeConfig({ mcpServers: { on: scriptedServer(), other: { aliasOf: 'on' } } });
	const listed = await text(scratch, 'servers', 'list');
	assert.match(listed, /^SERVER +NAMESPACE +ALIAS OF +SCOPE /m);
	assert.match(listed, /^other +other +on +global /m);
	await run(scratch, ['stop']);
	scratch.writeConfig({});
	assert.equal(await text(scratch, 'ls'), 'no server is configured: name one under "mcpServers" in .mcpx.json; `mcpx config --sources` lists every place\n');
});

test('values of the wrong form are refused where they are written', async (t) => {
	const scratch = newHome(t, { proto: { mcpPath: 'mcp' } });
	assert.match((await run(scratch, ['ls'])).stderr, /config\.json:3:5: proto\.mcpPath: "mcp" does not begin with \//);
	scratch.writeConfig({ script: { env: ['A=1', 'B'] } });
	assert.match((await run(scratch, ['ls'])).stderr, /script\.env: "B" has no =: a variable is written NAME=VALUE/);
	scratch.writeConfig({});
	const flag = await run(scratch, ['exec', '--env', 'B', 'return 1']);
	assert.deepEqual([flag.status, flag.stderr.includes('--env: "B" has no =')], [2, true]);
});

// -- edits while a daemon runs ---------------------------------------------------------------------------------------------

// The periodic look would come too late for any of these: what they see is the watch.
const never = { daemon: { reapInterval: '10h' } };
const names = async (daemon) => (await get(daemon.socket, '/v1/namespaces')).json.map(({ namespace }) => namespace);
const write = (file, config) => fs.writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config));

test('an edit is in force for the next request, however the editor writes', async (t) => {
	const scratch = newScratch(t);
	const file = scratch.writeConfig({ ...never, mcpServers: { one: scriptedServer() } });
	// Whoever looks by itself does so behind what is done here with the file out of the way.
	const daemon = await startDaemon(scratch, { config: file, env: { MCPX_DAEMON_WATCH_DELAY: '5s' } });
	assert.deepEqual(await names(daemon), ['one']);
	// In place.
	write(file, { ...never, mcpServers: { one: scriptedServer(), two: scriptedServer() } });
	assert.deepEqual(await names(daemon), ['one', 'two']);
	// A new file renamed over it.
	write(`${file}.new`, { ...never, mcpServers: { two: scriptedServer() } });
	fs.renameSync(`${file}.new`, file);
	assert.deepEqual(await names(daemon), ['two']);
	// The old one out of the way, and then a new one.
	fs.renameSync(file, `${file}~`);
	assert.deepEqual(await names(daemon), ['two']);
	write(file, { ...never, mcpServers: { three: scriptedServer() } });
	assert.deepEqual(await names(daemon), ['three']);
	// Nobody needs to ask.
	write(file, { ...never, logging: { level: 'debug' }, mcpServers: {} });
	await until(() => daemon.log.match(/config\.reload/g)?.length === 4);
});

test('a file that is gone counts as empty until it is back', async (t) => {
	const scratch = newScratch(t);
	const file = scratch.writeConfig({ ...never, mcpServers: { one: scriptedServer() } });
	const daemon = await startDaemon(scratch, { config: file });
	fs.unlinkSync(file);
	await until(async () => (await names(daemon)).length === 0);
	write(file, { ...never, mcpServers: { back: scriptedServer() } });
	assert.deepEqual(await names(daemon), ['back']);
});

test('a broken edit changes nothing, and is told once', async (t) => {
	const scratch = newScratch(t);
	const file = scratch.writeConfig({ mcpServers: { one: scriptedServer() } });
	const daemon = await startDaemon(scratch, { config: file, env: { MCPX_DAEMON_REAP_INTERVAL: '20ms' } });
	// Whole at once: an empty file, which there is for a moment otherwise, would be one more mistake.
	const replace = (config) => fs.renameSync(scratch.writeConfig(config, 'config.new'), file);
	replace('{ "mcpServers": {,} }');
	await until(() => /config\.refused/.test(daemon.log));
	const status = async () => (await get(daemon.socket, '/v1/status')).json;
	assert.equal((await status()).configError, `${file}:1:18: expected a member name in double quotes`);
	assert.deepEqual(await names(daemon), ['one']);
	await new Promise((resolve) => setTimeout(resolve, 200)); // some looks later
	assert.equal(daemon.log.match(/config\.refused/g).length, 1);
	// Another mistake is told anew, and none that is left is over.
	replace({ pool: { max: 'many' } });
	await until(() => daemon.log.match(/config\.refused/g).length === 2);
	replace({ mcpServers: { one: scriptedServer() } });
	await until(async () => (await status()).configError === undefined);
	assert.deepEqual(await names(daemon), ['one']);
});

test('a file that appears is noticed: by commands, and by the daemon that does not have it', async (t) => {
	const scratch = newScratch(t);
	scratch.atEnd(() => run(scratch, ['stop']));
	scratch.env.MCPX_DAEMON_REAP_INTERVAL = '10h';
	const daemon = await startDaemon(scratch);
	assert.deepEqual(await names(daemon), []);
	scratch.write('.config/mcpx/config.json', { mcpServers: { late: scriptedServer() } });
	assert.match((await run(scratch, ['ls'])).stdout, /^late /m);
	await until(() => daemon.log.includes('config.elsewhere'));
	assert.ok(daemon.log.includes(scratch.path('.config/mcpx/config.json')));
	assert.deepEqual(await names(daemon), []);
});

// -- commands beside a file that cannot be taken ---------------------------------------------------------------------------

test('an edit that cannot be taken leaves the daemon within reach', async (t) => {
	const scratch = newHome(t, { mcpServers: { one: scriptedServer() } });
	const file = scratch.env.MCPX_CONFIG;
	assert.equal((await run(scratch, ['call', 'one.echo', 'text=up'])).stdout, 'up\n');
	write(file, '{ "mcpServers": {,} }');
	const fault = `${file}:1:18: expected a member name in double quotes`;
	// The daemon itself says it once the edit has settled.
	await until(async () => (await runJson(scratch, ['status', '--json'])).configError === fault);
	assert.ok((await run(scratch, ['status'])).stdout.includes(`not in force as it is: ${fault}`));
	const note = `mcpx: ${fault}; the daemon goes on with what it has\n`;
	for (const [args, expected] of [
		[['status'], /^daemon /],
		[['health'], /^daemon /],
		[['ls'], /^one /m],
		[['call', 'one.echo', 'text=still'], /^still\n$/],
		[['exec', 'return await one.echo({ text: "script" })'], /script/],
	]) {
		const { status, stdout, stderr } = await run(scratch, args);
		assert.deepEqual([status, stderr], [0, note], args[0]);
		assert.match(stdout, expected);
	}
	assert.match(await text(scratch, 'completion', 'words', '--', 'zsh', 'mcpx', 'call', 'one.ec'), /^wone\.echo:/m);
	// What is about the files themselves fails on them.
	for (const args of [['config'], ['daemon']])
		assert.deepEqual(await run(scratch, args).then(({ status, stdout, stderr }) => [status, stdout, stderr]), [1, '', `mcpx: ${fault}\n`], args[0]);
	assert.deepEqual(await run(scratch, ['stop']).then(({ status, stdout, stderr }) => [status, stdout, stderr]), [0, 'the daemon has stopped\n', note]);
	// No daemon is started with such a file.
	for (const args of [['status'], ['stop'], ['ls'], ['exec', 'return 1']])
		assert.deepEqual(await run(scratch, args).then(({ status, stdout, stderr }) => [status, stdout, stderr]), [1, '', `mcpx: ${fault}\n`], args[0]);
	assert.deepEqual(scratch.processes(), []);
});

test('a named file that is gone leaves the daemon within reach', async (t) => {
	const scratch = newScratch(t);
	const file = scratch.writeConfig({ mcpServers: { one: scriptedServer() } });
	fs.symlinkSync(file, scratch.path('link.json'));
	scratch.env.MCPX_CONFIG = scratch.path('link.json');
	scratch.atEnd(() => run(scratch, ['stop']));
	assert.match((await run(scratch, ['ls'])).stdout, /^one /m);
	fs.unlinkSync(file);
	const fault = `mcpx: cannot read the configuration file ${scratch.path('link.json')}: No such file or directory`;
	const note = `${fault}; the daemon goes on with what it has\n`;
	assert.deepEqual(await run(scratch, ['status']).then(({ status, stderr }) => [status, stderr]), [0, note]);
	assert.deepEqual(await run(scratch, ['stop']).then(({ status, stdout, stderr }) => [status, stdout, stderr]), [0, 'the daemon has stopped\n', note]);
	assert.deepEqual(await run(scratch, ['stop']).then(({ status, stderr }) => [status, stderr]), [1, `${fault}\n`]);
	assert.deepEqual(scratch.processes(), []);
});

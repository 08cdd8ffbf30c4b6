// Who may ask the daemon anything: users of the machine, tokens, names, and web pages in the user's browser.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { run } from '../lib/command.mjs';
import { startDaemon } from '../lib/daemon.mjs';
import { exchange, get, post, request } from '../lib/http.mjs';
import { httpClient } from '../lib/mcp.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';

const hello = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'access', version: '1' } } };
const mcpHeaders = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

const mode = (file) => (fs.statSync(file).mode & 0o777).toString(8);
const find = (scratch, end) => path.join(scratch.state, fs.readdirSync(scratch.state).find((name) => name.endsWith(end)));

// A daemon that listens on loopback and wants its token.
async function guarded(t, { args = [], ...more } = {}) {
	const scratch = newScratch(t);
	const daemon = await startDaemon(scratch, { config: { mcpServers: { scripted: scriptedServer() } }, args: ['--daemon-tcp', ...args], ...more });
	const port = Number(new URL((await get(daemon.socket, '/v1/health')).json.endpoint).port);
	const file = find(scratch, '.token');
	return { scratch, daemon, port, file, token: fs.readFileSync(file, 'utf8') };
}

test('what is in the state directory is for its user alone', async (t) => {
	// Whatever the umask of who starts it.
	const umask = process.umask(0);
	t.after(() => process.umask(umask));
	const { scratch, daemon, file } = await guarded(t);
	assert.equal(mode(scratch.state), '700');
	assert.equal(mode(daemon.socket), '600');
	assert.equal(mode(file), '600');
	const { json } = await request(daemon.socket, 'POST', '/v1/artifacts', { body: Buffer.from('secret') });
	assert.ok(json.id);
	const walk = (directory) => fs.readdirSync(directory, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [path.join(directory, entry.name), ...walk(path.join(directory, entry.name))] : [path.join(directory, entry.name)]));
	for (const name of walk(scratch.state).filter((entry) => !fs.lstatSync(entry).isSymbolicLink())) assert.match(mode(name), /^[4-7]00$/, name);
});

test('over TCP nothing is told without the token', async (t) => {
	const { port, token, scratch } = await guarded(t);
	const routes = [
		['GET', '/v1/health'],
		['GET', '/v1/nothing'],
		['GET', '/'],
		['POST', '/v1/shutdown'],
		['GET', '/v1/stdio'],
		['GET', '/mcp'],
		['POST', '/mcp'],
		['DELETE', '/mcp'],
		['OPTIONS', '/mcp'],
		['GET', '/v1/artifacts/art-00000000000000000000000000000000'],
	];
	const wrong = [undefined, '', 'Bearer', 'Bearer ', 'Bearer x', `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Bearer ${token.toUpperCase()}x`, `Bearer  ${token} x`, `Basic ${token}`, token, `Bearer ${token},Bearer ${token}`];
	for (const [method, route] of routes)
		for (const authorization of wrong) {
			const answer = await request(port, method, route, { headers: authorization === undefined ? {} : { authorization } });
			assert.equal(answer.status, 401, `${method} ${route} with ${authorization}`);
			assert.equal(answer.headers['www-authenticate'], 'Bearer realm="mcpx"');
			assert.equal(answer.headers['access-control-allow-origin'], undefined);
			assert.ok(!answer.text.includes(token));
		}
	// The scheme's name is not case-sensitive; a token in the query is no token.
	assert.equal((await get(port, '/v1/health', { headers: { authorization: `bEARER ${token}` } })).status, 200);
	for (const query of [`access_token=${token}`, `token=${token}`]) assert.equal((await get(port, `/v1/health?${query}`)).status, 401);
	assert.match(token, /^[0-9a-f]{64}$/);

	// The official client, with and without.
	await assert.rejects(httpClient(scratch, `http://127.0.0.1:${port}/mcp`), (error) => error.code === 401);
	const client = await httpClient(scratch, `http://127.0.0.1:${port}/mcp`, { headers: { authorization: `Bearer ${token}` } });
	assert.ok((await client.listTools()).tools.length > 0);
});

test('the token is in its file and nowhere else', async (t) => {
	const { scratch, daemon, port, token, file } = await guarded(t, { args: ['--log-level', 'debug'] });
	const authorization = `Bearer ${token}`;
	await get(port, '/v1/health', { headers: { authorization } });
	await get(port, '/v1/nothing', { headers: { authorization } });
	await get(port, `/v1/health`, { headers: { authorization: `Bearer ${token}x` } });
	await post(port, '/mcp', '{', { headers: { ...mcpHeaders, authorization } });
	for (const route of ['/v1/health', '/v1/status', '/v1/settings?plumbing=1', '/v1/servers']) assert.ok(!(await get(daemon.socket, route)).text.includes(token), route);
	const called = await post(daemon.socket, '/v1/call', { server: 'scripted', tool: 'env', args: { name: 'MCPX_DAEMON_TOKEN' } });
	assert.equal(called.json.result.content[0].text, '');
	for (const pid of [daemon.pid, ...scratch.processes().map((process) => process.pid ?? process)]) {
		for (const name of ['cmdline', 'environ']) {
			let text = '';
			try {
				text = fs.readFileSync(`/proc/${pid}/${name}`, 'latin1');
			} catch {
				continue; // it has ended
			}
			assert.ok(!text.includes(token), `/proc/${pid}/${name}`);
		}
	}
	const status = await run(scratch, ['--config', path.join(scratch.home, 'config.json'), 'status', '--json']);
	assert.equal(status.status, 0, status.stderr);
	await daemon.stop();
	for (const text of [daemon.log, status.stdout, status.stderr]) assert.ok(!text.includes(token));
	for (const name of scratch.files(/./).filter((entry) => fs.lstatSync(scratch.path(entry)).isFile())) assert.ok(!fs.readFileSync(scratch.path(name), 'latin1').includes(token), name);
	assert.ok(!fs.existsSync(file), 'it ends with the daemon');
});

// Every way to write who is asked for. Browsers send the name of the page's own address.
const ours = ['127.0.0.1', 'localhost', 'LOCALHOST', 'LocalHost:PORT', '127.0.0.1:PORT', 'localhost:PORT', '[::1]', '[::1]:PORT', '[0:0:0:0:0:0:0:1]', '127.1.2.3'];
const foreign = [
	'evil.example',
	'evil.example:PORT',
	'localhost.evil.example',
	'evil.localhost.example',
	'127.0.0.1.evil.example',
	'127.0.0.1.nip.io:PORT',
	'localhost.',
	'127.0.0.1.',
	'127.1',
	'2130706433',
	'0x7f000001',
	'0177.0.0.1',
	'0.0.0.0',
	'[::]',
	'[::ffff:127.0.0.1]',
	'[::ffff:7f00:1]',
	'[fe80::1%25lo]',
	'192.168.0.1',
	'10.0.0.1:PORT',
	'localhost:',
	'localhost:x',
	'localhost:99999',
	'localhost:80:80',
	'[::1',
	'::1',
	'user@localhost',
	'localhost@evil.example',
	'localhost,evil.example',
	'localhost evil.example',
	'localhost/evil',
	'xn--lcalhost-54a',
];

test('a name that is not this machine is refused, however it is written', async (t) => {
	for (const auth of ['token', 'none']) {
		const scratch = newScratch(t);
		const daemon = await startDaemon(scratch, { config: { mcpServers: {} }, args: ['--daemon-tcp', '--daemon-auth', auth] });
		const port = Number(new URL((await get(daemon.socket, '/v1/health')).json.endpoint).port);
		const authorization = auth === 'token' ? `Authorization: Bearer ${fs.readFileSync(find(scratch, '.token'), 'utf8')}\r\n` : '';
		const ask = async (host, more = '') => {
			const answer = await exchange(port, `GET /v1/health HTTP/1.1\r\n${host === null ? '' : `Host: ${host.replaceAll('PORT', port)}\r\n`}${authorization}${more}Connection: close\r\n\r\n`);
			return Number(answer.split(' ')[1]);
		};
		for (const host of ours) assert.equal(await ask(host), 200, `${auth}: ${host}`);
		// Malformed ones may be refused as such.
		for (const host of foreign) assert.ok([400, 403].includes(await ask(host)), `${auth}: ${host}`);
		assert.equal(await ask('evil.example'), 403);
		assert.equal(await ask(null), 400);
		assert.ok([400, 403].includes(await ask('')));
		assert.equal(await ask('localhost', 'Host: evil.example\r\n'), 400);
		// A target with an authority of its own does not get past it.
		const absolute = await exchange(port, `GET http://evil.example/v1/health HTTP/1.1\r\nHost: localhost\r\n${authorization}Connection: close\r\n\r\n`);
		assert.match(absolute, /^HTTP\/1\.1 4/);
	}
});

test('pages of other origins are refused, over whatever they come', async (t) => {
	const { port, token, daemon } = await guarded(t, { args: ['--transport-allowed-origins', 'https://app.example'] });
	const authorization = `Bearer ${token}`;
	const ask = async (at, origin) => (await get(at, '/v1/health', { headers: { authorization, origin } })).status;
	for (const at of [port, daemon.socket]) {
		for (const origin of ['http://localhost', `http://localhost:${port}`, 'http://127.0.0.1:3000', 'http://[::1]:3000', 'https://localhost', 'https://app.example']) assert.equal(await ask(at, origin), 200, origin);
		for (const origin of ['http://evil.example', 'https://evil.example', 'null', '', 'http://localhost.evil.example', 'http://localhost.', 'file://', 'http://app.example', 'https://app.example:444', 'https://app.example.evil', 'moz-extension://localhost', 'http://localhost http://evil.example', 'localhost']) assert.equal(await ask(at, origin), 403, `${origin}`);
	}
	// MCP says 403, too, and what a page may send without asking first does no more.
	const { status, headers } = await post(port, '/mcp', hello, { headers: { ...mcpHeaders, authorization, origin: 'http://evil.example' } });
	assert.equal(status, 403);
	assert.equal(headers['access-control-allow-origin'], undefined);
	assert.equal((await request(port, 'OPTIONS', '/mcp', { headers: { origin: 'http://evil.example', 'access-control-request-method': 'POST' } })).status, 403);
	assert.equal((await post(port, '/mcp', JSON.stringify(hello), { headers: { ...mcpHeaders, authorization, 'content-type': 'text/plain' } })).status, 415);
});

test('a session belongs to who opened it', async (t) => {
	const { port, token, daemon } = await guarded(t);
	const authorization = `Bearer ${token}`;
	const opened = await post(daemon.socket, '/mcp', hello, { headers: mcpHeaders });
	const session = { ...mcpHeaders, 'mcp-session-id': opened.headers['mcp-session-id'] };
	const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
	assert.equal((await post(daemon.socket, '/mcp', ping, { headers: session })).status, 200);
	assert.equal((await post(port, '/mcp', ping, { headers: { ...session, authorization } })).status, 404);
	assert.equal((await request(port, 'DELETE', '/mcp', { headers: { ...session, authorization } })).status, 404);
	assert.equal((await request(port, 'GET', '/mcp', { headers: { ...session, authorization, 'last-event-id': 'get-1-1' } })).status, 404);
	assert.equal((await post(daemon.socket, '/mcp', ping, { headers: session })).status, 200);
});

const cannotBeOthers = process.getuid() !== 0 ? 'needs root, to become another user' : spawnSync('setpriv', ['--version']).status !== 0 ? 'needs setpriv' : false;

// Runs a program as nobody: what it wrote, or the error it ended with.
function asNobody(args, env) {
	const result = spawnSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', ...args], { encoding: 'utf8', env, timeout: 30_000 });
	return { status: result.status, text: result.stdout + result.stderr };
}

test('another user of the machine gets neither in nor near', { skip: cannotBeOthers }, async (t) => {
	const { scratch, daemon, file } = await guarded(t);
	const connect = `
		const http = require('http');
		const message = http.get({ socketPath: process.argv[1], path: '/v1/health', headers: { host: 'localhost' } }, (response) => {
			response.setEncoding('utf8');
			let text = String(response.statusCode) + ' ';
			response.on('data', (data) => (text += data));
			response.on('end', () => console.log(text));
		});
		message.on('error', (error) => console.log(error.code));`;
	const node = [process.execPath, '-e', connect, daemon.socket];
	// Whether nobody can run node at all: it may stand where only root looks.
	if (asNobody([process.execPath, '-e', '0'], scratch.env).status !== 0) return t.skip('nobody cannot run node');
	fs.chmodSync(scratch.home, 0o755);
	// By the modes of directory and socket ...
	assert.equal(asNobody(node, scratch.env).text.trim(), 'EACCES');
	assert.match(asNobody(['cat', file], scratch.env).text, /Permission denied/);
	// ... and, were these ever loosened, by what the kernel says of the peer.
	fs.chmodSync(scratch.state, 0o755);
	fs.chmodSync(daemon.socket, 0o666);
	assert.match(asNobody(node, scratch.env).text, /^403 .*this daemon belongs to another user/);
	// Root may ask a daemon of nobody's; here the same user asks.
	assert.equal((await get(daemon.socket, '/v1/health')).status, 200);
});

test('a state directory that others could write to is not used', { skip: cannotBeOthers }, async (t) => {
	const scratch = newScratch(t);
	fs.mkdirSync(scratch.state);
	fs.chownSync(scratch.state, 65534, 65534);
	scratch.atEnd(() => fs.chownSync(scratch.state, 0, 0));
	await assert.rejects(startDaemon(scratch, { config: { mcpServers: {} } }), /belongs to user 65534, not to us \(0\)/);
});

test('an open listener on loopback is still closed to the network', async (t) => {
	const scratch = newScratch(t);
	const config = scratch.writeConfig({ mcpServers: {} });
	for (const address of ['0.0.0.0', '::', '192.0.2.1']) {
		const refused = await run(scratch, ['--config', config, 'daemon', '--daemon-tcp', '--daemon-address', address, '--daemon-auth', 'none']);
		assert.notEqual(refused.status, 0);
		assert.match(refused.stderr, /daemon\.auth none is for loopback only/);
	}
	const daemon = await startDaemon(scratch, { config, args: ['--daemon-tcp', '--daemon-auth', 'none'] });
	const { endpoint } = (await get(daemon.socket, '/v1/health')).json;
	assert.equal((await get(Number(new URL(endpoint).port), '/v1/health')).status, 200);
	assert.ok(!fs.readdirSync(scratch.state).some((name) => name.endsWith('.token')), 'no token is made that nobody needs');
});

// The /v1 routes as a program uses them: operations, errors, artifacts, settings, and who may ask.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { run } from '../lib/command.mjs';
import { assertNothingLeft, startDaemon, untilCalls, untilWarm } from '../lib/daemon.mjs';
import { get, post, request } from '../lib/http.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch, root } from '../lib/scratch.mjs';

const sha256 = (bytes) => crypto.createHash('sha256').update(bytes).digest('hex');

async function daemonWith(t, mcpServers = { scripted: scriptedServer() }, more = {}) {
	const scratch = newScratch(t);
	const daemon = await startDaemon(scratch, { config: { mcpServers }, ...more });
	return { scratch, daemon, at: daemon.socket };
}

test('the server as a whole says which methods it takes', async (t) => {
	const { at } = await daemonWith(t, {});
	const { status, headers, text } = await request(at, 'OPTIONS', '*');
	assert.deepEqual([status, headers.allow, text], [204, 'GET, HEAD, POST, PUT, DELETE, OPTIONS', '']);
	const artifact = (await post(at, '/v1/artifacts?name=a.txt', Buffer.from('0123456789'))).json;
	const ranged = await get(at, `/v1/artifacts/${artifact.id}`, { headers: { range: 'bytes=4-99999999999999999999999' } });
	assert.deepEqual([ranged.status, ranged.text, ranged.headers['content-range']], [206, '456789', 'bytes 4-9/10']);
});

test('what is said of the daemon, a server and a tool has every field', async (t) => {
	const tool = {
		name: 'whole', title: 'T', description: 'd', inputSchema: { type: 'object' }, outputSchema: { type: 'object' }, annotations: { readOnlyHint: true },
		execution: { taskSupport: 'optional' }, icons: [{ src: 'data:,' }], _meta: { 'x.y/z': 1 },
	};
	const { at } = await daemonWith(t, {
		whole: { ...scriptedServer({ tools: [tool] }), env: { A_TOKEN: 'x' }, mcpx: { description: 'all of it', requiresSecrets: ['A_TOKEN', 'HOME'] } },
		plain: scriptedServer(),
	});
	const has = (object, fields) => assert.deepEqual(fields.filter((field) => object[field] === undefined), []);
	const { json: found } = await get(at, '/v1/tools?ns=whole.whole');
	const { name, ...rest } = tool;
	assert.deepEqual(found, [{ namespace: 'whole', server: 'whole', tool: name, function: name, ...rest }]);
	const [{ score, ...best }] = (await get(at, '/v1/search?q=whole&limit=1')).json;
	assert.deepEqual([typeof score, best], ['number', found[0]]);
	const [whole, plain] = (await get(at, '/v1/namespaces')).json;
	has(whole, ['namespace', 'server', 'tools', 'description', 'live', 'sharing', 'scope', 'cached']);
	assert.deepEqual([whole.requiresSecrets, plain.requiresSecrets], [['A_TOKEN', 'HOME'], undefined]);
	const health = (await get(at, '/v1/health')).json;
	has(health, ['status', 'version', 'pid', 'uptime', 'endpoint']);
	assert.match(health.uptime, /^(\d+m)?\d+s$/);
	const status = (await get(at, '/v1/status')).json;
	has(status, ['version', 'pid', 'uptime', 'endpoint', 'socket', 'config', 'servers']);
	has(status.servers[0], ['name', 'namespace', 'sharing', 'scope', 'max', 'live', 'tools', 'schemaAge', 'instances']);
	assert.match(status.servers[0].schemaAge, /^(\d+m)?\d+s$/);
	await post(at, '/v1/call', { server: 'whole', tool: 'echo' });
	const [{ calls, instances }] = (await get(at, '/v1/status')).json.servers;
	assert.deepEqual([calls, instances[0].calls], [1, 1]);
	has(status.servers[0].instances[0], ['id', 'pid', 'holders', 'key', 'calls', 'uptimeSec', 'idleSec']);
});

test('health, status, namespaces and tools say what there is', async (t) => {
	const odd = { name: 'odd one', inputSchema: { oneOf: [{ $ref: '#/x' }] }, unknownField: { keep: 1 } };
	const { at, scratch } = await daemonWith(t, {
		scripted: scriptedServer({ tools: [odd] }),
		broken: { command: '/no/such/program' },
		failing: scriptedServer({ startFail: 3 }),
	});
	const health = (await get(at, '/v1/health')).json;
	assert.equal(health.status, 'ok');
	assert.match(health.version, /^\d+\.\d+\.\d+$/);

	const namespaces = (await get(at, '/v1/namespaces')).json;
	assert.deepEqual(namespaces.map(({ namespace }) => namespace), ['scripted', 'broken', 'failing']);
	assert.ok(namespaces[0].tools > 5);
	assert.match(namespaces[1].error, /\/no\/such\/program/);
	assert.match(namespaces[2].error, /exited with code 3.*told to fail/s);

	// One broken server and one odd schema hide nothing.
	const tools = (await get(at, '/v1/tools')).json;
	const found = tools.find(({ tool }) => tool === 'odd one');
	assert.deepEqual(found.inputSchema, odd.inputSchema);
	assert.equal(found.function, 'odd_one');
	assert.ok(tools.some(({ tool }) => tool === 'echo'));
	assert.equal((await get(at, '/v1/tools?ns=nobody')).status, 404);
	const misspelt = await get(at, '/v1/tools?ns=scripted.ehco');
	assert.deepEqual([misspelt.status, misspelt.json.error], [404, 'no tool is called "scripted.ehco"; did you mean scripted.echo?']);
	assert.deepEqual((await get(at, '/v1/tools?ns=scripted.echo')).json.map(({ tool }) => tool), ['echo']);

	const status = (await get(at, '/v1/status')).json;
	assert.equal(status.servers[0].instances[0].state, 'ready');
	assert.ok(status.memoryBytes > 0);
	assert.ok(status.servers[1].retryInSec > 0);
	assert.deepEqual(status.config, [path.join(scratch.home, 'config.json')]);
});

test('search ranks, and takes any text', async (t) => {
	const { at } = await daemonWith(t);
	const hits = (await get(at, '/v1/search?q=echo&limit=2')).json;
	assert.equal(hits[0].tool, 'echo');
	assert.ok(hits[0].score >= 100);
	assert.deepEqual((await get(at, '/v1/search?q=%22%27%5b%2a')).json, []);
	assert.equal((await get(at, '/v1/search')).status, 400);
	assert.match((await get(at, '/v1/search?q=x&limit=0')).json.error, /"limit" must be an integer of at least 1, and is "0"/);
	assert.equal((await get(at, '/v1/search?q=%zz')).status, 400);
});

test('a call gives the result as the server wrote it, or says what went wrong', async (t) => {
	const { at } = await daemonWith(t);
	const call = async (tool, args, more = {}) => post(at, '/v1/call', { server: 'scripted', tool, args, ...more });
	const echo = await call('echo', { text: 'h\u00e9llo \u0000' });
	assert.deepEqual(echo.json.result, { content: [{ type: 'text', text: 'h\u00e9llo \u0000' }] });
	assert.match(echo.json.traceId, /^[0-9a-f]{16}$/);
	assert.equal((await call('fail', {})).json.result.isError, true);

	const refused = await call('error', { text: 'refused' });
	assert.equal(refused.status, 502);
	assert.deepEqual(refused.json.upstream, { code: -32042, message: 'refused', data: { seen: true } });

	const unknown = await post(at, '/v1/call', { server: 'nobody', tool: 'x' });
	assert.equal(unknown.status, 400);
	assert.match(unknown.json.error, /no server is called "nobody"; there are: scripted/);
	assert.match((await post(at, '/v1/call', { server: 'scripted' })).json.error, /"tool" is missing/);
	assert.match((await post(at, '/v1/call', { server: 1, tool: 'x' })).json.error, /"server" must be a string, and is 1/);
	assert.match((await post(at, '/v1/call', '[]')).json.error, /not a JSON object/);
	assert.equal((await post(at, '/v1/call', '{"server":')).status, 400);

	const late = await call('sleep', { ms: 60_000 }, { timeoutMs: 50 });
	assert.equal(late.status, 504);
	assert.equal(late.json.outcome, 'unknown');
});

test('a server that dies in a call is told of, and started again for the next', async (t) => {
	const { at } = await daemonWith(t);
	const died = await post(at, '/v1/call', { server: 'scripted', tool: 'exit', args: { status: 7 } });
	assert.equal(died.status, 502);
	assert.equal(died.json.outcome, 'unknown');
	assert.match(died.json.error, /exited with code 7/);
	assert.equal((await post(at, '/v1/call', { server: 'scripted', tool: 'echo', args: { text: 'again' } })).json.result.content[0].text, 'again');
});

test('a relayed call streams its progress, and its answer last', async (t) => {
	const { at } = await daemonWith(t);
	const { text } = await post(at, '/v1/call', { server: 'scripted', tool: 'progress', args: { steps: 3 }, relay: true });
	const lines = text.trim().split('\n').map((line) => JSON.parse(line));
	assert.deepEqual(lines.slice(0, 3).map(({ params }) => params.progress), [1, 2, 3]);
	assert.equal(lines[3].status, 200);
	assert.equal(lines[3].body.result.content[0].text, '3 steps');
	// Without progress the answer is plain.
	const plain = await post(at, '/v1/call', { server: 'scripted', tool: 'echo', args: { text: 'x' }, relay: true });
	assert.equal(plain.json.result.content[0].text, 'x');
});

test('media become links for who asks for them, and only then', async (t) => {
	const { at } = await daemonWith(t);
	const bare = await post(at, '/v1/call', { server: 'scripted', tool: 'image' });
	assert.equal(bare.json.result.content[0].type, 'image');
	const linked = await post(at, '/v1/call', { server: 'scripted', tool: 'image', links: true });
	const [link] = linked.json.result.content;
	assert.equal(link.type, 'resource_link');
	assert.equal(link.mimeType, 'image/png');
	const body = await get(at, `/v1/artifacts/${link.uri.split('/').pop()}`);
	assert.equal(sha256(body.body), sha256(Buffer.from(bare.json.result.content[0].data, 'base64')));
});

test('artifacts are put, listed, read in ranges and deleted', async (t) => {
	const { at, scratch } = await daemonWith(t);
	const bytes = crypto.randomBytes(300_000);
	const put = await request(at, 'POST', '/v1/artifacts?name=../../sh%20ot.png&run=r1', { body: bytes, headers: { 'content-type': 'application/octet-stream' } });
	assert.equal(put.status, 201);
	assert.equal(put.json.name, 'sh-ot.png');
	assert.equal(put.json.mime, 'image/png');
	assert.equal(put.json.sha256, sha256(bytes));
	const where = `/v1/artifacts/${put.json.id}`;

	const whole = await get(at, where);
	assert.equal(whole.headers['content-disposition'], 'attachment; filename="sh-ot.png"');
	assert.equal(whole.headers['x-mcpx-sha256'], sha256(bytes));
	assert.equal(whole.headers['x-content-type-options'], 'nosniff');
	assert.ok(whole.body.equals(bytes));
	const tail = await get(at, where, { headers: { range: 'bytes=-10' } });
	assert.equal(tail.status, 206);
	assert.ok(tail.body.equals(bytes.subarray(-10)));
	assert.equal((await get(at, where, { headers: { range: 'bytes=300000-' } })).status, 416);
	assert.equal((await get(at, where, { headers: { 'if-none-match': whole.headers.etag } })).status, 304);
	const stale = await get(at, where, { headers: { range: 'bytes=0-1', 'if-range': '"other"' } });
	assert.equal(stale.status, 200);
	const head = await request(at, 'HEAD', where);
	assert.equal(head.headers['content-length'], '300000');
	assert.equal(head.body.length, 0);

	// A file of ours is named, not sent.
	const file = scratch.write('report.txt', 'a report');
	const named = await request(at, 'POST', '/v1/artifacts', { headers: { 'x-mcpx-path': file } });
	assert.equal(named.json.name, 'report.txt');
	assert.equal((await request(at, 'POST', '/v1/artifacts', { headers: { 'x-mcpx-path': '/no/such/file' } })).status, 404);

	const listed = (await get(at, '/v1/artifacts')).json.artifacts;
	assert.deepEqual(listed.map(({ id }) => id), [named.json.id, put.json.id]);
	assert.deepEqual((await get(at, '/v1/artifacts?run=r1')).json.artifacts.map(({ id }) => id), [put.json.id]);
	assert.equal((await request(at, 'DELETE', where)).json.deleted, put.json.id);
	assert.equal((await get(at, where)).status, 404);
	assert.equal((await request(at, 'DELETE', where)).status, 404);
	assert.equal((await get(at, '/v1/artifacts/art-00000000000000000000000000000000')).status, 404);
});

test('the first daemon of a state directory keeps its artifacts under the plain name', async (t) => {
	const scratch = newScratch(t);
	const put = (at, text) => request(at, 'POST', '/v1/artifacts', { body: Buffer.from(text) });
	const blob = (directory, text) => path.join(scratch.state, directory, 'blobs', sha256(text).slice(0, 2), sha256(text).slice(2));
	let id;
	for (const restart of [false, true]) {
		const first = await startDaemon(scratch, { config: scratch.write('one.json', { mcpServers: {} }) });
		if (restart) assert.equal((await get(first.socket, `/v1/artifacts/${id}`)).text, 'mine');
		id = (await put(first.socket, 'mine')).json.id;
		assert.equal(fs.readFileSync(blob('artifacts', 'mine'), 'utf8'), 'mine');
		await first.stop();
	}
	const second = await startDaemon(scratch, { config: scratch.write('two.json', { mcpServers: {} }) });
	assert.equal((await get(second.socket, `/v1/artifacts/${id}`)).status, 404);
	await put(second.socket, 'yours');
	const own = fs.readdirSync(scratch.state).find((name) => /^artifacts-[0-9a-f]{16}$/.test(name));
	assert.equal(fs.readFileSync(blob(own, 'yours'), 'utf8'), 'yours');
});

test('without a store artifacts are refused, and nothing else', async (t) => {
	const { at, scratch } = await daemonWith(t, { scripted: scriptedServer() }, { env: { MCPX_ARTIFACTS_ENABLED: 'false' } });
	const id = 'art-00000000000000000000000000000000';
	for (const [method, route] of [
		['POST', '/v1/artifacts'],
		['GET', '/v1/artifacts'],
		['GET', `/v1/artifacts/${id}`],
		['HEAD', `/v1/artifacts/${id}`],
		['DELETE', `/v1/artifacts/${id}`],
	]) {
		const refused = await request(at, method, route, method === 'POST' ? { body: Buffer.from('x') } : {});
		assert.equal(refused.status, 503, `${method} ${route}`);
		if (method !== 'HEAD') assert.match(refused.json.error, /artifacts\.enabled/);
	}
	assert.equal((await post(at, '/v1/call', { server: 'scripted', tool: 'image', links: true })).json.result.content[0].type, 'image');
	assert.ok(!fs.existsSync(path.join(scratch.state, 'artifacts')));
});

test('what is said of an artifact comes back, and what is wrong is refused', async (t) => {
	const { at } = await daemonWith(t, {});
	const put = (query, headers = {}) => request(at, 'POST', `/v1/artifacts${query}`, { body: Buffer.from('x'), headers });
	const { status, json } = await put('?name=a%20b.txt&mime=text/x-own&run=r1&session=s1&ttl=1h');
	assert.equal(status, 201);
	assert.deepEqual(Object.keys(json), ['id', 'name', 'mime', 'size', 'sha256', 'uri', 'run', 'session', 'created', 'expires']);
	assert.match(json.id, /^art-[0-9a-f]{32}$/);
	assert.deepEqual([json.name, json.mime, json.size, json.sha256, json.uri, json.run, json.session], ['a-b.txt', 'text/x-own', 1, sha256('x'), `mcpx://artifacts/${json.id}`, 'r1', 's1']);
	assert.equal(Date.parse(json.expires) - Date.parse(json.created), 3_600_000);
	assert.equal(json.id.includes(json.sha256), false);
	// Explicit type, then the transfer's unless that says nothing, then the name's.
	assert.equal((await put('?name=x.png', { 'content-type': 'text/csv' })).json.mime, 'text/csv');
	assert.equal((await put('?name=x.png', { 'content-type': 'application/octet-stream' })).json.mime, 'image/png');
	// Who calls may say so in headers.
	const labelled = (await put('', { 'x-mcpx-run': 'r2', 'x-mcpx-session': 's2' })).json;
	assert.deepEqual([labelled.run, labelled.session], ['r2', 's2']);
	const ids = async (query) => (await get(at, `/v1/artifacts${query}`)).json.artifacts.map(({ id }) => id);
	assert.deepEqual(await ids('?session=s2'), [labelled.id]);
	assert.deepEqual(await ids('?run=r2&session=s1'), []);
	assert.equal((await ids('?limit=2')).length, 2);
	for (const [query, problem] of [
		['?ttl=soon', /ttl: duration "soon" has no number/],
		['?mime=image', /"image" is not a media type/],
		[`?run=${'x'.repeat(257)}`, /run: longer than 256 bytes/],
		['?name=%zz', /broken escape/],
	]) {
		const refused = await put(query);
		assert.equal(refused.status, 400, query);
		assert.match(refused.json.error, problem);
	}
	assert.equal((await get(at, '/v1/artifacts?limit=0')).status, 400);
	assert.equal((await request(at, 'PUT', `/v1/artifacts/${json.id}`)).status, 405);
	const wrong = await request(at, 'DELETE', '/v1/artifacts');
	assert.deepEqual([wrong.status, wrong.headers.allow], [405, 'POST, GET, HEAD']);
});

test('an artifact over the limit is refused, never cut', async (t) => {
	const { at } = await daemonWith(t, {}, { env: { MCPX_ARTIFACTS_MAX_BYTES: '1000', MCPX_ARTIFACTS_QUOTA: '1500' } });
	const put = (n, fill) => request(at, 'POST', '/v1/artifacts', { body: Buffer.alloc(n, fill) });
	const large = await put(1001, 1);
	assert.equal(large.status, 413);
	assert.match(large.json.error, /artifacts\.maxBytes/);
	assert.equal((await put(1000, 1)).status, 201);
	assert.equal((await put(1000, 1)).status, 201, 'the same bytes count once');
	const full = await put(1000, 2);
	assert.equal(full.status, 413);
	assert.match(full.json.error, /artifacts\.quota/);
});

test('settings tell their source, change while they are hot, and come back', async (t) => {
	const { at } = await daemonWith(t, {}, { env: { MCPX_POOL_CALL_TIMEOUT: '90s' } });
	const record = (await get(at, '/v1/settings/pool.callTimeout')).json;
	assert.equal(record.source, 'env');
	assert.equal(record.shadowed[0].source, 'default');
	const set = await request(at, 'PUT', '/v1/settings/pool.callTimeout', { body: { value: '30s' } });
	assert.equal(set.json.applied, true);
	assert.equal((await get(at, '/v1/settings/pool.callTimeout')).json.source, 'runtime');
	assert.equal((await request(at, 'PUT', '/v1/settings/pool.callTimeout', { body: { value: 'soon' } })).status, 400);
	const cold = await request(at, 'PUT', '/v1/settings/daemon.port', { body: { value: '1' } });
	assert.equal(cold.json.applied, false);
	assert.equal(cold.json.restartRequired, true);
	const unset = await request(at, 'DELETE', '/v1/settings/pool.callTimeout');
	assert.equal(unset.json.removed, true);
	assert.equal(unset.json.source, 'env');
	const missing = await get(at, '/v1/settings/pool.callTimeot');
	assert.equal(missing.status, 404);
	assert.match(missing.json.error, /did you mean pool\.callTimeout\?/);
	const changed = (await get(at, '/v1/settings?changed=1')).json.settings;
	assert.ok(changed.some(({ path: name }) => name === 'pool.callTimeout'));
	assert.ok(!changed.some(({ path: name }) => name === 'search.limit'));
	assert.equal((await get(at, '/v1/settings?scope=nobody')).status, 400);
});

test('a setting of one call holds for that call', async (t) => {
	const { at } = await daemonWith(t);
	const one = await get(at, '/v1/search?q=', { headers: { 'x-mcpx-settings': '{"search.limit":"1"}' } });
	assert.equal(one.json.length, 1);
	assert.ok((await get(at, '/v1/search?q=')).json.length > 1);
	// What no call may change is not changed, and a malformed header harms nobody.
	assert.equal((await get(at, '/v1/search?q=', { headers: { 'x-mcpx-settings': '{"pool.max":"1"}' } })).status, 200);
	assert.equal((await get(at, '/v1/search?q=', { headers: { 'x-mcpx-settings': '{' } })).status, 200);
});

test('servers are listed without the values of their variables', async (t) => {
	const { at } = await daemonWith(t, { scripted: { ...scriptedServer(), env: { API_TOKEN: 'hush-hush' } } });
	const answer = await get(at, '/v1/servers');
	assert.deepEqual(answer.json.servers[0].envKeys, ['API_TOKEN']);
	assert.doesNotMatch(answer.text, /hush-hush/);
});

test('the configuration is read again when asked, and a bad file changes nothing', async (t) => {
	// The watch would read an edit before it is asked to.
	const { at, scratch } = await daemonWith(t, { one: scriptedServer() }, { env: { MCPX_DAEMON_WATCH_CONFIG: 'false' } });
	const pid = async () => (await post(at, '/v1/call', { server: 'one', tool: 'pid' })).json.result.content[0].text;
	const before = await pid();
	scratch.writeConfig({ mcpServers: { one: scriptedServer(), two: scriptedServer({ name: 'two' }) } });
	const refreshed = (await post(at, '/v1/refresh')).json;
	assert.equal(refreshed.added, 1);
	assert.deepEqual(refreshed.errors, []);
	assert.equal((await post(at, '/v1/call', { server: 'two', tool: 'echo', args: { text: 'x' } })).status, 200);
	assert.equal(await pid(), before, 'a server whose definition did not change keeps its process');
	scratch.write('config.json', '{ "mcpServers": { "one": }');
	const bad = await post(at, '/v1/refresh');
	assert.equal(bad.status, 400);
	assert.match(bad.json.error, /config\.json:1:26: expected a value/);
	assert.equal(await pid(), before);
});

test('routes refuse what they do not take, and describe themselves', async (t) => {
	const { at } = await daemonWith(t, {});
	assert.equal((await get(at, '/v1/nothing')).status, 404);
	const wrong = await post(at, '/v1/health');
	assert.equal(wrong.status, 405);
	assert.equal(wrong.headers.allow, 'GET, HEAD');
	assert.equal((await post(at, '/v1/refresh', 'x'.repeat(70_000))).status, 413);
	const document = (await get(at, '/v1/openapi.json')).json;
	assert.equal(document.openapi, '3.1.0');
	const table = JSON.parse(fs.readFileSync(path.join(root, 'src/api/operations.json'), 'utf8')).operations;
	for (const { route, method } of table) assert.ok(document.paths[route][method.toLowerCase()], `${method} ${route}`);
	assert.deepEqual(document.paths['/v1/search'].get.parameters.map(({ name }) => name), ['q', 'limit']);
});

test('over TCP a token is needed, unless none was asked for, and foreign names are refused', async (t) => {
	const scratch = newScratch(t);
	const daemon = await startDaemon(scratch, { config: { mcpServers: {} }, args: ['--daemon-tcp'] });
	const endpoint = (await get(daemon.socket, '/v1/health')).json.endpoint;
	const port = Number(new URL(endpoint).port);
	const token = fs.readFileSync(path.join(scratch.state, fs.readdirSync(scratch.state).find((name) => name.endsWith('.token'))), 'utf8');
	assert.equal((await get(port, '/v1/health')).status, 401);
	assert.equal((await get(port, '/v1/health', { headers: { authorization: 'Bearer wrong' } })).status, 401);
	assert.equal((await get(port, '/v1/health', { headers: { authorization: `Bearer ${token}` } })).status, 200);
	const authorization = `Bearer ${token}`;
	assert.equal((await get(port, '/v1/health', { headers: { authorization, host: 'evil.example' } })).status, 403);
	assert.equal((await get(port, '/v1/health', { headers: { authorization, origin: 'http://evil.example' } })).status, 403);
	assert.equal((await get(port, '/v1/health', { headers: { authorization, origin: `http://localhost:${port}` } })).status, 200);
	// A path is a statement about this machine's files, which a TCP peer cannot make.
	const path_ = await request(port, 'POST', '/v1/artifacts', { headers: { authorization, 'x-mcpx-path': '/etc/hostname' } });
	assert.equal(path_.status, 403);
});

test('without a token only loopback is listened on', async (t) => {
	const scratch = newScratch(t);
	await assert.rejects(
		startDaemon(scratch, { config: { mcpServers: {} }, args: ['--daemon-tcp', '--daemon-address', '0.0.0.0', '--daemon-auth', 'none'] }),
		/daemon\.auth none is for loopback only/,
	);
});

test('a second daemon for the same files gives way to the first', async (t) => {
	const { scratch, at } = await daemonWith(t, {});
	const second = await run(scratch, ['--config', path.join(scratch.home, 'config.json'), 'daemon']);
	assert.equal(second.status, 69);
	assert.match(second.stderr, /a daemon for these configuration files runs already/);
	assert.equal((await get(at, '/v1/health')).status, 200);
});

test('a caller that goes away ends its call', async (t) => {
	const { at, scratch } = await daemonWith(t, { scripted: scriptedServer() });
	const body = JSON.stringify({ server: 'scripted', tool: 'sleep', args: { ms: 600_000 } });
	await untilWarm(at);
	const caller = net.connect(at);
	caller.write(`POST /v1/call HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
	await untilCalls(at, 1);
	caller.destroy();
	await untilCalls(at, 0);
	assert.ok(scratch.processes().length > 0);
});

test('shutdown leaves nothing behind', async (t) => {
	const { at, scratch, daemon } = await daemonWith(t, { stubborn: scriptedServer({ stubborn: true, forks: 2 }) }, { env: { MCPX_POOL_CLOSE_GRACE: '50ms', MCPX_POOL_TERM_GRACE: '50ms' } });
	assert.equal((await post(at, '/v1/call', { server: 'stubborn', tool: 'echo', args: { text: 'x' } })).status, 200);
	assert.deepEqual((await post(at, '/v1/shutdown')).json, { stopping: true });
	assert.equal((await daemon.child.finished).status, 0);
	await assertNothingLeft(scratch);
});

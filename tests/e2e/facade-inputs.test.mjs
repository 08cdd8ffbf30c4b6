// What is given to an operation under a name that it does not have changes nothing in silence; and the routes and documents that clients build upon.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, runJson } from '../lib/command.mjs';
import { startDaemon } from '../lib/daemon.mjs';
import { get, post, request } from '../lib/http.mjs';
import { httpClient } from '../lib/mcp.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';

async function started(t, server = scriptedServer()) {
	const scratch = newScratch(t);
	const config = scratch.writeConfig({ mcpServers: { scripted: server } });
	const daemon = await startDaemon(scratch, { config, tcp: true });
	return { scratch, config, daemon };
}

test('names that an operation does not have are refused, and those that it has are told', async (t) => {
	const { daemon, scratch } = await started(t);
	const at = daemon.socket;
	for (const [method, target, body, problem] of [
		['GET', '/v1/tools?nss=files', undefined, 'tools has no input "nss"; there are: ns'],
		['GET', '/v1/search?q=x&limitt=1', undefined, 'search has no input "limitt"; there are: limit, q'],
		['GET', '/v1/health?x', undefined, 'health takes no input, and was given "x"'],
		['GET', '/v1/client.ts?output=x', undefined, 'client has no input "output"; there are: ns, plain'],
		['POST', '/v1/call', { server: 'scripted', tool: 'echo', argz: {} }, 'call has no input "argz"; there are: args, server, tool, timeoutMs, context, session, relay, links'],
		['POST', '/v1/call', { server: 'scripted', tool: 'echo', raw: null }, /^call has no input "raw"; there are: /],
		['POST', '/v1/call', { server: 'scripted', tool: 'echo', context: { cwdd: '/' } }, '"context" has no member "cwdd"; there are: sessionId, parentSessionId, callId, cwd, pid, run'],
		['POST', '/v1/call', { server: 'scripted', tool: 'echo', context: { cwd: 5 } }, '"context.cwd" must be a string'],
		['POST', '/v1/call', { server: 'scripted', tool: 'echo', context: { pid: 'x' } }, '"context.pid" must be the number of a process'],
		['POST', '/v1/exec', { code: '1' }, /^exec has no input "code"; there are: /],
		['POST', '/v1/exec', { source: '1', options: { runtimes: 'node' } }, /there is no option runtimes; there are /],
		['POST', '/v1/artifacts?nam=x', 'bytes', /^artifact_put has no input "nam"; there are: name, /],
		['POST', '/v1/call/scripted/echo?sesion=x', {}, 'call_tool has no input "sesion"; there are: session, server, tool, args, timeoutMs, links'],
		['PUT', '/v1/settings/search.limit', { value: '5', persistt: 'user' }, 'settings_set has no input "persistt"; there are: persist, path, value'],
		['PUT', '/v1/settings/search.limit', { value: '5', persist: 'project' }, /persist "project" does not exist yet, nothing was changed/],
	]) {
		const answer = await request(at, method, target, { body });
		assert.equal(answer.status, 400, `${target} ${answer.text}`);
		if (typeof problem === 'string') assert.equal(answer.json.error, problem);
		else assert.match(answer.json.error, problem);
	}
	assert.equal((await get(at, '/v1/settings/search.limit')).json.source, 'default');
	assert.equal((await request(at, 'PUT', '/v1/settings/search.limit', { body: { value: '5', persist: 'runtime' } })).json.applied, true);
	const upgrade = { connection: 'upgrade', upgrade: 'mcpx-stdio' };
	assert.match((await get(at, '/v1/stdio?moed=full', { headers: upgrade })).json.error, /no input "moed"; there are: mode, passthrough, pageSize/);
	assert.equal((await get(at, '/v1/stdio?mode=reactive', { headers: upgrade })).json.error, 'mode must be code-mode or full');
	assert.equal((await get(at, '/v1/stdio?pageSize=0', { headers: upgrade })).json.error, 'pageSize: 0 is too small; the least is 1');

	// A model is offered less: who calls, and what is on this machine, is not its to say.
	const client = await httpClient(scratch, `${daemon.url}/mcp`);
	for (const [name, args, problem] of [
		['mcpx_search', { q: 'x', limits: 1 }, 'mcpx_search has no input "limits"; there are: limit, query'],
		['mcpx_call', { namespace: 'scripted', tool: 'echo', context: { cwd: '/' } }, /^mcpx_call has no input "context"; there are: /],
		['mcpx_call', { namespace: 'scripted', tool: 'echo', relay: true }, /^mcpx_call has no input "relay"; there are: /],
		['mcpx_call', { namespace: 'scripted', tool: 'echo', session: 's' }, /^mcpx_call has no input "session"; there are: /],
		['mcpx_exec', { file: '/etc/passwd' }, /^mcpx_exec has no input "file"; there are: /],
		['mcpx_exec', { source: '1', options: { session: 's' } }, /^options.session is not for tools/],
		['mcpx_health', { x: 1 }, 'mcpx_health takes no input, and was given "x"'],
	]) {
		const { isError, content } = await client.callTool({ name, arguments: args });
		assert.equal(isError, true);
		if (typeof problem === 'string') assert.equal(content[0].text, problem);
		else assert.match(content[0].text, problem);
	}
	// Names of /v1 are taken for what they are.
	const { content } = await client.callTool({ name: 'mcpx_call', arguments: { server: 'scripted', tool: 'echo', args: { text: 'x' } } });
	assert.equal(content[0].text, 'x');
});

test('too much at once is told for what it is', async (t) => {
	const { daemon } = await started(t);
	const call = async (body) => {
		const answer = await post(daemon.socket, '/v1/call', body);
		assert.equal(answer.status, 400);
		return answer.json.error;
	};
	const deep = await call(`{"server":"scripted","tool":"echo","args":{"x":${'['.repeat(300)}${']'.repeat(300)}}}`);
	assert.match(deep, /^the input: .*more than \d+ levels of nested arrays and objects/);
	const wide = await call(JSON.stringify(Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, 1]))));
	assert.match(wide, /^the input: .*more than 256 members/);
	for (const body of ['5', '[]', '{', ' ']) assert.match(await call(body), /^the input is not a JSON object/);
	const routed = await post(daemon.socket, '/v1/call/scripted/echo', `{"x":${'['.repeat(300)}${']'.repeat(300)}}`);
	assert.match(routed.json.error, /^the input: .*more than \d+ levels/);
});

test('a call whose route names the tool', async (t) => {
	const odd = 'odd/name with.dots';
	const { daemon } = await started(t, scriptedServer({ tools: [{ name: odd, inputSchema: { type: 'object' } }] }));
	const at = daemon.socket;
	const { status, json } = await post(at, '/v1/call/scripted/echo', { text: 'h\u00e9llo' });
	assert.equal(status, 200);
	assert.deepEqual([json.ok, json.result.content[0].text, typeof json.durationMs], [true, 'h\u00e9llo', 'number']);
	assert.equal((await post(at, '/v1/call/scripted/echo')).json.ok, true);
	// What the body says is the tool's, also what we would call an input, and more than we take of those.
	const own = { server: 'x', nss: 'y', tool: null, ...Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, i])) };
	const wide = await post(at, `/v1/call/scripted/${encodeURI(odd)}`, own);
	assert.equal(wide.status, 200, wide.text);
	assert.deepEqual(JSON.parse(wide.json.result.content[0].text), own);
	assert.equal((await post(at, '/v1/call/scripted/image?links=1', {})).json.result.content[0].type, 'resource_link');
	assert.equal((await post(at, '/v1/call/scripted/fail', {})).json.result.isError, true);

	const failed = await post(at, '/v1/call/scripted/error', { text: 'refused' });
	assert.equal(failed.status, 502);
	assert.deepEqual([failed.json.ok, failed.json.error, failed.json.outcome], [false, 'refused', 'answered']);
	const unknown = await post(at, '/v1/call/nobody/echo', {});
	assert.equal(unknown.status, 400);
	assert.equal(unknown.json.ok, false);
	assert.match(unknown.json.error, /no server is called "nobody"/);
	for (const body of ['5', '[]', '"x"', '{']) assert.match((await post(at, '/v1/call/scripted/echo', body)).json.error, /^the input is not a JSON object/);
	assert.equal((await get(at, '/v1/call/scripted/echo')).headers.allow, 'POST');
	assert.equal((await post(at, '/v1/call/scripted', {})).status, 404);
	const { paths } = (await get(at, '/v1/openapi.json')).json;
	assert.deepEqual(paths['/v1/call/{server}/{tool}'].post.parameters.map(({ name, in: place }) => [name, place]), [['server', 'path'], ['tool', 'path'], ['session', 'query'], ['timeoutMs', 'query'], ['links', 'query']]);
	assert.equal(paths['/v1/call/{server}/{tool}'].post.requestBody.content['application/json'].schema.type, 'object');
});

test('every command gives one JSON document where one is asked for', async (t) => {
	const { scratch, config } = await started(t);
	const { types } = await runJson(scratch, ['--config', config, '--json', 'types', 'scripted']);
	assert.match(types, /scripted/);
	const { client } = await runJson(scratch, ['--config', config, '--json', 'client', 'scripted']);
	assert.match(client, /scripted/);
	assert.equal((await run(scratch, ['--config', config, 'types', 'scripted'])).stdout.trim(), types.trim());
});

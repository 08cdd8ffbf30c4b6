// What is asked of a server that nobody has seen before: no list on the disk, none read yet.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDaemon } from '../lib/daemon.mjs';
import { get, post } from '../lib/http.mjs';
import { stdioClient } from '../lib/mcp.mjs';
import { everythingServer, scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';

const cold = { MCPX_DAEMON_WARM: 'false' };
const long = 'a server whose name is so long that its tools need another one';
const sum = { a: 1, b: 2 };

async function daemonWith(t, mcpServers) {
	const scratch = newScratch(t);
	const config = scratch.writeConfig({ mcpServers });
	const { socket } = await startDaemon(scratch, { config, env: cold });
	return { at: socket, serve: (...args) => stdioClient(scratch, ['--config', config, 'serve', ...args]) };
}

const text = ({ content }) => content[0].text;

test('a call finds a tool by each of its names', async (t) => {
	const names = ['get-sum', 'get_sum', 'server_2__get-sum'];
	const { at } = await daemonWith(t, Object.fromEntries(names.map((name, i) => [`server-${i}`, { ...everythingServer(), env: { NTH: `${i}` } }])));
	for (const [i, tool] of names.entries()) {
		const answer = (await post(at, '/v1/call', { server: `server-${i}`, tool, args: sum })).json;
		assert.equal(text(answer.result), 'The sum of 1 and 2 is 3.', tool);
	}
});

test('an MCP client finds a tool by the name that another daemon gave it', async (t) => {
	const one = await daemonWith(t, { [long]: everythingServer() });
	const listing = await one.serve('--mode', 'full');
	const { name } = (await listing.listTools()).tools.find((tool) => tool.description.startsWith('Returns the sum'));
	assert.match(name, /_[0-9a-f]{8}$/);

	const other = await daemonWith(t, { [long]: everythingServer() });
	const client = await other.serve('--mode', 'full');
	assert.equal(text(await client.callTool({ name, arguments: sum })), 'The sum of 1 and 2 is 3.');
	await assert.rejects(client.callTool({ name: 'nothing_of_the_kind', arguments: {} }), /-32602: unknown tool/);
});

test('an MCP client finds a tool by its own name', async (t) => {
	const { serve } = await daemonWith(t, { every: everythingServer() });
	const client = await serve('--passthrough', 'every');
	assert.equal(text(await client.callTool({ name: 'get-sum', arguments: sum })), 'The sum of 1 and 2 is 3.');
});

test('who names a server that does not work is told why', async (t) => {
	const { at } = await daemonWith(t, { scripted: scriptedServer(), failing: scriptedServer({ startFail: 3 }) });
	const told = /^the tools of failing are not known: .*exited with code 3/s;
	for (const path of ['tools?ns=failing', 'tools?ns=failing.echo', 'types?ns=failing', 'types?ns=scripted,failing', 'client.ts?ns=failing']) {
		const { status, json } = await get(at, `/v1/${path}`);
		assert.equal(status, 503, path);
		assert.match(json.error, told, path);
	}
	const run = await post(at, '/v1/exec', { source: 'return 1', options: { ns: ['failing'] } });
	assert.equal(run.status, 400);
	assert.match(run.json.error, told);
});

test('a server is known by its name wherever its namespace is', async (t) => {
	const { at } = await daemonWith(t, { 'two-words': scriptedServer() });
	assert.equal((await get(at, '/v1/tools?ns=two-words.echo')).json.length, 1);
	assert.match((await get(at, '/v1/types?ns=two-words.echo')).text, /declare const two_words: \{[^}]*\becho\(/s);
	assert.match((await get(at, '/v1/client.ts?ns=two-words')).text, /two_words/);
	const run = (await post(at, '/v1/exec', { source: 'return Object.keys(tools)', options: { ns: ['two-words'] } })).json;
	assert.deepEqual(run.result, ['two_words']);
});

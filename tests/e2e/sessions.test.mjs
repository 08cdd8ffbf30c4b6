// Whose instance a call uses: with the scope `session`, every MCP client has its own, and nothing of it stays when the client has gone.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { run } from '../lib/command.mjs';
import { startDaemon } from '../lib/daemon.mjs';
import { post } from '../lib/http.mjs';
import { httpClient, stdioClient } from '../lib/mcp.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';
import { until } from '../lib/wait.mjs';

async function scene(t, mcpxBlock) {
	const scratch = newScratch(t);
	const config = { mcpServers: { scripted: { ...scriptedServer(), mcpx: mcpxBlock } } };
	const daemon = await startDaemon(scratch, { config, tcp: true, env: { MCPX_SERVE_MODE: 'full' } });
	return { scratch, daemon, serve: () => stdioClient(scratch, ['--config', scratch.path('config.json'), 'serve', '--mode', 'full']) };
}

const pidOf = async (client) => Number((await client.callTool({ name: 'scripted__pid', arguments: {} })).content[0].text);
const lives = (pid) => fs.existsSync(`/proc/${pid}`);

test('each MCP client is a session of its own, whichever way it comes', async (t) => {
	const { scratch, daemon, serve } = await scene(t, { scope: 'session', max: 8 });
	const clients = [await serve(), await serve(), await httpClient(scratch, `${daemon.url}/mcp`), await httpClient(scratch, `${daemon.url}/mcp`)];
	const pids = [];
	for (const client of clients) {
		pids.push(await pidOf(client));
		assert.equal(await pidOf(client), pids.at(-1), 'a client keeps its instance');
	}
	assert.equal(new Set(pids).size, clients.length, `instances were shared: ${pids}`);
});

test('a client that goes takes the instances of its session along', async (t) => {
	const { scratch, daemon, serve } = await scene(t, { scope: 'session', max: 8 });
	const stays = await serve();
	const kept = await pidOf(stays);

	const stdio = await serve();
	const ofStdio = await pidOf(stdio);
	await stdio.close();
	await until(() => !lives(ofStdio), 'the instance of the client that closed its pipe ends');

	const http = await httpClient(scratch, `${daemon.url}/mcp`);
	const ofHttp = await pidOf(http);
	await http.transport.terminateSession();
	await until(() => !lives(ofHttp), 'the instance of the session that was deleted ends');

	assert.equal(await pidOf(stays), kept);
});

test('a script is where its caller is, and of the sessions that its caller names', async (t) => {
	const scratch = newScratch(t);
	const scopes = { dir: 'cwd', session: 'session', parent: 'parent-session' };
	const config = scratch.writeConfig({
		mcpServers: Object.fromEntries(Object.entries(scopes).map(([name, scope]) => [name, { ...scriptedServer(), mcpx: { scope, max: 8 } }])),
	});
	const { socket } = await startDaemon(scratch, { config, env: { MCPX_PARENT_SESSION_ID: 'of-the-daemon' } });
	const called = { MCPX_SESSION_ID: 'named', MCPX_PARENT_SESSION_ID: 'parent' };
	const mcpx = async (...args) => (await run(scratch, ['--config', config, ...args], { env: called })).stdout.trim();

	for (const name of Object.keys(scopes)) {
		const pid = await mcpx('call', `${name}.pid`);
		assert.match(pid, /^\d+$/, name);
		const source = `return [await ${name}.pid(), await ${name}.pid()].join(' ')`;
		assert.equal(await mcpx('exec', source), `${pid} ${pid}`, `mcpx exec, ${name}`);
		const headers = { 'x-mcpx-cwd': scratch.home, 'x-mcpx-session': 'named', 'x-mcpx-parent-session': 'parent' };
		assert.equal((await post(socket, '/v1/exec', { source }, { headers })).json.result, `${pid} ${pid}`, `POST /v1/exec, ${name}`);
	}
	const source = 'return process.env.MCPX_PARENT_SESSION_ID';
	assert.equal((await post(socket, '/v1/exec', { source })).json.result, '', "the daemon's own session is nobody else's parent");
});

// Whose instance a call uses: with the scope `session`, every MCP client has its own, and nothing of it stays when the client has gone.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { startDaemon } from '../lib/daemon.mjs';
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

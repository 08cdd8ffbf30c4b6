// Whose instance a call uses: with the scope `session`, every MCP client has its own, and nothing of it stays when the client has gone.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { run } from '../lib/command.mjs';
import { startDaemon } from '../lib/daemon.mjs';
import { post } from '../lib/http.mjs';
import { httpClient, stdioClient } from '../lib/mcp.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { mcpx, newScratch } from '../lib/scratch.mjs';
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

// The text that the tool `pid` of a server answers with, asked for in every way there is, by a caller who says who it is.
function everyWay(scratch, config, daemon) {
	const json = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
	const env = (who) => ({ MCPX_SESSION_ID: who.session, MCPX_PARENT_SESSION_ID: who.parent, MCPX_PID: String(who.pid) });
	const fields = (who) => ({ 'x-mcpx-cwd': who.cwd, 'x-mcpx-session': who.session, 'x-mcpx-parent-session': who.parent, 'x-mcpx-pid': who.pid });
	const command = async (who, ...args) => (await run(scratch, ['--config', config, ...args], { env: env(who), cwd: who.cwd })).stdout.trim();
	const ofClient = async (client, name) => (await client.callTool({ name: `${name}__pid`, arguments: {} })).content[0].text;
	const script = (name) => `return await ${name}.pid()`;
	const nested = (name) => `const { execFileSync } = await import('node:child_process');
		return String(execFileSync(${JSON.stringify(mcpx)}, ['--config', ${JSON.stringify(config)}, 'call', '${name}.pid'])).trim()`;
	const v1 = async (target, body, headers) => (await post(daemon.socket, target, body, { headers })).json;
	return {
		'mcpx call': (who, name) => command(who, 'call', `${name}.pid`),
		'mcpx exec': (who, name) => command(who, 'exec', script(name)),
		'mcpx call in a script of mcpx exec': (who, name) => command(who, 'exec', nested(name)),
		'POST /v1/exec': async (who, name) => String((await v1('/v1/exec', { source: script(name) }, fields(who))).result),
		'mcpx call in a script of POST /v1/exec': async (who, name) => (await v1('/v1/exec', { source: nested(name) }, fields(who))).result,
		'POST /v1/call, fields': async (who, name) => (await v1('/v1/call', { server: name, tool: 'pid' }, fields(who))).result.content[0].text,
		'POST /v1/call, context': async (who, name) => {
			const context = { cwd: who.cwd, sessionId: who.session, parentSessionId: who.parent, pid: who.pid };
			return (await v1('/v1/call', { server: name, tool: 'pid', context })).result.content[0].text;
		},
		'mcpx serve': async (who, name) => ofClient(await stdioClient(scratch, ['--config', config, 'serve', '--mode', 'full'], { env: env(who), cwd: who.cwd }), name),
		'/mcp, a session': async (who, name) => ofClient(await httpClient(scratch, `${daemon.url}/mcp`, { headers: fields(who) }), name),
		'/mcp, a modern request': async (who, name) => {
			const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
			const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: `${name}__pid`, arguments: {}, _meta } };
			const headers = { ...json, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': `${name}__pid`, ...fields(who) };
			return (await post(daemon.port, '/mcp', body, { headers })).json.result.content[0].text;
		},
	};
}

test('who calls is the same, whichever way the call comes', async (t) => {
	const scratch = newScratch(t);
	const scopes = { dir: 'cwd', tree: 'worktree', session: 'session', parent: 'parent-session', client: 'pid' };
	const config = scratch.writeConfig({
		mcpServers: Object.fromEntries(Object.entries(scopes).map(([name, scope]) => [name, { ...scriptedServer(), mcpx: { scope, max: 8 } }])),
	});
	const daemon = await startDaemon(scratch, { config, tcp: true, env: { MCPX_SERVE_MODE: 'full', MCPX_PARENT_SESSION_ID: 'of-the-daemon' } });
	const one = { cwd: scratch.path('one'), session: 'one', parent: 'parent of one', pid: process.pid };
	const other = { cwd: scratch.path('other'), session: 'other', parent: 'parent of other', pid: process.ppid };
	for (const { cwd } of [one, other]) fs.mkdirSync(path.join(cwd, '.git'), { recursive: true });

	for (const name of Object.keys(scopes)) {
		const pids = new Map();
		for (const [way, ask] of Object.entries(everyWay(scratch, config, daemon))) pids.set(way, await ask(one, name));
		assert.match(pids.get('mcpx call'), /^\d+$/, name);
		assert.equal(new Set(pids.values()).size, 1, `scope ${scopes[name]}: ${JSON.stringify([...pids], null, 1)}`);
		const another = await everyWay(scratch, config, daemon)['mcpx call'](other, name);
		assert.match(another, /^\d+$/, name);
		assert.notEqual(another, pids.get('mcpx call'), `scope ${scopes[name]}: another caller has another process`);
	}
	const source = 'return process.env.MCPX_PARENT_SESSION_ID + process.env.MCPX_PID';
	assert.equal((await post(daemon.socket, '/v1/exec', { source })).json.result, '', "the daemon's own session and process are nobody else's");
});

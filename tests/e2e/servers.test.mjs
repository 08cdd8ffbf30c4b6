// The scripted server is what other tests lean on, so it is tested with a client that we did not write.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { callWithProgress } from '../lib/mcp.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch, processesAfter } from '../lib/scratch.mjs';

async function client(scratch, options) {
	const transport = new StdioClientTransport({ ...scriptedServer(options), env: scratch.env, stderr: 'pipe' });
	const found = new Client({ name: 'mcpx-tests', version: '1.0.0' });
	await found.connect(transport);
	scratch.atEnd(() => found.close());
	return found;
}

test('the scripted server speaks MCP', async (t) => {
	const scratch = newScratch(t);
	const mcp = await client(scratch, { tools: [{ name: 'odd', inputSchema: { type: 'object', $ref: '#' } }] });
	const { tools } = await mcp.listTools();
	assert.ok(tools.some(({ name }) => name === 'odd'));
	assert.equal((await mcp.callTool({ name: 'echo', arguments: { text: 'hello' } })).content[0].text, 'hello');
	assert.equal((await mcp.callTool({ name: 'fail', arguments: { text: 'no' } })).isError, true);
	await assert.rejects(mcp.callTool({ name: 'error', arguments: { text: 'refused' } }), /refused/);
	const steps = [];
	await callWithProgress(mcp, { name: 'progress', arguments: { steps: 3 } }, ({ progress }) => steps.push(progress));
	assert.deepEqual(steps, [1, 2, 3]);
});

test('a scratch home finds what came from it, however it was started', async (t) => {
	const scratch = newScratch(t);
	const mcp = await client(scratch, { forks: 2 });
	assert.equal((await mcp.callTool({ name: 'echo', arguments: { text: 'up' } })).content[0].text, 'up');
	assert.equal(scratch.processes().length, 3);
	await mcp.close();
	const left = await processesAfter(scratch, 100);
	assert.deepEqual(left.map(({ command }) => command), ['sleep 600', 'sleep 600']);
	for (const { pid } of left) process.kill(pid, 'SIGKILL');
});

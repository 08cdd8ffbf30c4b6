// `mcpx serve` as a pipe: nothing lost, nothing cut off, and an orderly end.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { run, start } from '../lib/command.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { mcpx, newScratch } from '../lib/scratch.mjs';

function newHome(t) {
	const scratch = newScratch(t);
	scratch.env.MCPX_CONFIG = scratch.writeConfig({ mcpServers: { scripted: scriptedServer() } });
	scratch.atEnd(() => run(scratch, ['stop']));
	return scratch;
}

const line = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const hello = line({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } } }) + line({ method: 'notifications/initialized' });
const call = (id, name, args) => line({ id, method: 'tools/call', params: { name, arguments: args } });
const answers = ({ stdout }) => new Map(stdout.trim().split('\n').map((text) => JSON.parse(text)).filter(({ id }) => id !== undefined).map((message) => [message.id, message]));

test('what was asked before standard input ended is answered after it', async (t) => {
	const scratch = newHome(t);
	const stdin = hello + call(1, 'scripted__sleep', { ms: 300 }) + call(2, 'scripted__echo', { text: 'quick' });
	const result = await run(scratch, ['serve', '--mode', 'full'], { stdin });
	assert.deepEqual([result.status, result.stderr], [0, '']);
	const found = answers(result);
	assert.deepEqual([...found.keys()].sort(), [0, 1, 2]);
	assert.equal(found.get(2).result.content[0].text, 'quick');
	assert.ok(found.get(1).result);
});

test('what takes longer than transport.stdioDrain is not waited for', async (t) => {
	const scratch = newHome(t);
	const stdin = hello + call(1, 'scripted__sleep', { ms: 600_000 });
	const result = await run(scratch, ['serve', '--mode', 'full', '--transport-stdio-drain=200ms'], { stdin });
	assert.deepEqual([result.status, result.stderr], [0, '']);
	assert.deepEqual([...answers(result).keys()], [0]);
});

test('megabytes pass both ways, and wait for a slow reader', async (t) => {
	const scratch = newHome(t);
	const child = start(scratch, mcpx, ['serve', '--mode', 'full'], { stdin: null });
	const texts = Array.from({ length: 8 }, (_, i) => `${i}`.repeat(700_000));
	child.stdout.pause();
	child.stdin.write(hello);
	texts.forEach((text, i) => child.stdin.write(call(i + 1, 'scripted__echo', { text })));
	child.stdin.end();
	await once(child.stdin, 'finish'); // all of it was taken while nobody read
	child.stdout.resume();
	const result = await child.finished;
	assert.deepEqual([result.status, result.stderr], [0, '']);
	const found = answers(result);
	texts.forEach((text, i) => assert.ok(found.get(i + 1).result.content[0].text === text, `answer ${i + 1}`));
});

test('a daemon that stops ends the channel with a word', async (t) => {
	const scratch = newHome(t);
	const child = start(scratch, mcpx, ['serve'], { stdin: null });
	child.stdin.write(hello);
	await once(child.stdout, 'data');
	await run(scratch, ['stop']);
	const { status, stderr } = await child.finished;
	assert.equal(status, 1);
	assert.match(stderr, /^mcpx: the daemon closed the channel/);
});

test('a client that goes away ends it', async (t) => {
	const scratch = newHome(t);
	const child = start(scratch, mcpx, ['serve'], { stdin: null });
	child.stdin.write(hello);
	await once(child.stdout, 'data');
	child.stdout.destroy();
	child.stderr.resume();
	child.stdin.write(line({ id: 1, method: 'ping' }));
	const [status, signal] = await once(child, 'exit');
	assert.ok(status !== null || signal === 'SIGPIPE');
	child.stdin.destroy();
});

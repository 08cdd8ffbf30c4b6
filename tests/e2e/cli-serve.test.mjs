// `mcpx serve` as a pipe: nothing lost, nothing cut off, and an orderly end.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';
import { run, runJson, start } from '../lib/command.mjs';
import { newHome } from '../lib/home.mjs';
import { mcpx } from '../lib/scratch.mjs';

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

test('pages are as long as the command says, whoever started the daemon', async (t) => {
	const scratch = newHome(t);
	await run(scratch, ['ls']);
	for (const [flags, env] of [[['--mcp-page-size', '3'], {}], [[], { MCPX_MCP_PAGE_SIZE: '3' }]]) {
		const result = await run(scratch, ['serve', ...flags], { env, stdin: hello + line({ id: 1, method: 'tools/list' }) });
		const { tools, nextCursor } = answers(result).get(1).result;
		assert.deepEqual([tools.length, typeof nextCursor, result.stderr], [3, 'string', '']);
	}
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

// A client of `mcpx serve` that reads answers while it asks.
function client(scratch, words = []) {
	const child = start(scratch, mcpx, ['serve', '--mode', 'full', ...words], { stdin: null });
	let text = '';
	const seen = [];
	const waiting = [];
	child.stdout.on('data', (data) => {
		const lines = (text + data).split('\n');
		text = lines.pop();
		seen.push(...lines.filter(Boolean).map((one) => JSON.parse(one)));
		for (const look of [...waiting]) look();
	});
	const message = (which) =>
		new Promise((resolve, reject) => {
			const look = () => {
				const found = seen.find(which);
				if (!found) return;
				waiting.splice(waiting.indexOf(look), 1);
				resolve(found);
			};
			waiting.push(look);
			child.finished.then(({ status, signal, stderr }) => reject(new Error(`mcpx serve ended with ${status ?? signal} before the message came:\n${stderr}`)), reject);
			look();
		});
	return { child, say: (text) => child.stdin.write(text), seen, message, answer: (id) => message((one) => one.id === id) };
}

const daemonPid = async (scratch) => (await runJson(scratch, ['health', '--json'])).pid;

test('a client outlives the daemon, and hears what became of its requests', async (t) => {
	const scratch = newHome(t);
	const { child, say, seen, message, answer } = client(scratch);
	say(hello);
	await answer(0);
	say(call(1, 'scripted__sleep', { ms: 600_000 }));
	say(call('two', 'scripted__echo', { text: 'quick' }));
	assert.equal((await answer('two')).result.content[0].text, 'quick');
	const killed = await daemonPid(scratch);
	process.kill(killed, 'SIGKILL');
	assert.match((await answer(1)).error.message, /the daemon ended while this request was under way: whether it took effect is not known/);
	say(call(3, 'scripted__echo', { text: 'again' }));
	assert.equal((await answer(3)).result.content[0].text, 'again');
	await message(({ method }) => method === 'notifications/tools/list_changed');
	assert.notEqual(await daemonPid(scratch), killed);
	assert.equal(seen.filter(({ id }) => id === 0).length, 1, 'the handshake was answered twice');
	await run(scratch, ['stop']);
	say(call(4, 'scripted__echo', { text: 'after an orderly stop' }));
	assert.equal((await answer(4)).result.content[0].text, 'after an orderly stop');
	await run(scratch, ['stop']);
	child.stdin.end();
	assert.deepEqual((({ status, stderr }) => [status, stderr])(await child.finished), [0, '']);
	assert.match((await run(scratch, ['health'])).stderr, /no daemon is running/, 'the end of the input started one');
});

test('what a client was saying when the daemon ended is not said by halves to the next', async (t) => {
	const scratch = newHome(t);
	const { child, say, answer } = client(scratch);
	say(hello);
	await answer(0);
	// The beginning of the long line passes together with the short one.
	say(call('quick', 'scripted__echo', { text: 'y' }) + call(1, 'scripted__echo', { text: 'x'.repeat(200_000) }).slice(0, 150_000));
	await answer('quick');
	process.kill(await daemonPid(scratch), 'SIGKILL');
	assert.match((await answer(1)).error.message, /the daemon ended/);
	say(`the rest of it\n${call(2, 'scripted__echo', { text: 'whole' })}`);
	assert.equal((await answer(2)).result.content[0].text, 'whole');
	child.stdin.end();
	assert.equal((await child.finished).status, 0);
});

// Stands where the daemon was, and ends each channel when it has read so much of it.
async function fakeDaemon(t, socket, enough) {
	fs.rmSync(socket, { force: true });
	const server = net.createServer((peer) => {
		let text = '';
		peer.on('error', () => {});
		peer.on('data', (data) => {
			if (text === '') peer.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: mcpx-stdio\r\nConnection: Upgrade\r\n\r\n');
			text += data;
			if (text.length - text.indexOf('\r\n\r\n') - 4 >= enough) peer.destroy();
		});
	});
	t.after(() => server.close());
	server.listen(socket);
	await once(server, 'listening');
	const heard = once(server, 'connection').then(([peer]) => once(peer, 'close'));
	return { heard, end: () => new Promise((resolve) => server.close(resolve)) };
}

test('a handshake that is said again is not answered again, wherever the next daemon ends', async (t) => {
	const scratch = newHome(t);
	const { child, say, seen, answer } = client(scratch);
	say(hello);
	await answer(0);
	for (const [i, enough] of [0, 1, hello.length, hello.length + 1].entries()) {
		// A client that was told of its request knows that the daemon has ended.
		say(call(`under way ${i}`, 'scripted__sleep', { ms: 600_000 }) + call(`quick ${i}`, 'scripted__echo', { text: 'x' }));
		await answer(`quick ${i}`);
		process.kill(await daemonPid(scratch), 'SIGKILL');
		assert.match((await answer(`under way ${i}`)).error.message, /the daemon ended/);
		const fake = await fakeDaemon(t, scratch.path(scratch.files(/\.sock$/)[0]), enough);
		say(call(`lost ${i}`, 'scripted__echo', { text: 'x' }));
		await fake.heard;
		await fake.end();
		// What was not sent yet goes to the daemon after it.
		const { error, result } = await answer(`lost ${i}`);
		assert.ok(error ? error.message.includes('the daemon ended') : enough <= hello.length && result);
		say(call(`next ${i}`, 'scripted__echo', { text: 'whole' }));
		assert.equal((await answer(`next ${i}`)).result.content[0].text, 'whole');
	}
	assert.equal(seen.filter(({ id }) => id === 0).length, 1);
	child.stdin.end();
	assert.deepEqual((({ status, stderr }) => [status, stderr])(await child.finished), [0, '']);
	await run(scratch, ['stop']);
});

test('without autostart a client ends after its daemon, with a word', async (t) => {
	const scratch = newHome(t);
	await run(scratch, ['ls']);
	const { child, say, answer } = client(scratch, ['--daemon-autostart=false']);
	say(hello);
	await answer(0);
	await run(scratch, ['stop']);
	say(line({ id: 1, method: 'ping' }));
	const { status, stderr } = await child.finished;
	assert.equal(status, 1);
	assert.match(stderr, /^mcpx: no daemon is running/);
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

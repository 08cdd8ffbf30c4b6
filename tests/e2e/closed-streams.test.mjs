// Commands that were started without a standard input, output or error. Whatever they open next must not get its number: what
// a tool answers would be written into the daemon's socket, as a request.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { run, runJson, start } from '../lib/command.mjs';
import { newHome } from '../lib/home.mjs';
import { mcpx } from '../lib/scratch.mjs';
import { until } from '../lib/wait.mjs';

const closings = ['<&-', '>&-', '2>&-', '<&- >&-', '<&- 2>&-', '>&- 2>&-', '<&- >&- 2>&-'];
const unwritable = 'mcpx: cannot write to standard output: Bad file descriptor\n';

const startClosed = (scratch, closing, words, options) => start(scratch, '/bin/sh', ['-c', `exec "$@" ${closing}`, 'sh', mcpx, ...words], options);

// With each of the closings, `words` print `output` or, without a standard output, fail for that.
async function assertWorks(scratch, words, output, options) {
	for (const closing of closings) {
		const { status, signal, stdout, stderr } = await startClosed(scratch, closing, words, options).finished;
		const what = `${words.join(' ')} ${closing}`;
		const failed = / ?>&-/.test(closing.replace('2>&-', ''));
		assert.deepEqual([status, signal], [failed ? 1 : 0, null], `${what}\n${stderr}`);
		assert.equal(stderr, failed && !closing.includes('2>&-') ? unwritable : '', what);
		if (failed) assert.equal(stdout, '', what);
		else assert.match(stdout, output, what);
	}
}

test('what a tool answers never becomes a request to the daemon', async (t) => {
	const scratch = newHome(t);
	await run(scratch, ['ls']);
	const { pid } = await runJson(scratch, ['health', '--json']);
	const text = 'POST /v1/shutdown HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
	for (const words of [['call', 'scripted.echo', `text=${text}`], ['exec', `return await scripted.echo(${JSON.stringify({ text })})`]])
		assert.equal((await startClosed(scratch, '>&-', words).finished).stderr, unwritable);
	const health = await runJson(scratch, ['health', '--json']);
	assert.deepEqual([health.status, health.pid], ['ok', pid]);
});

test('every command works without standard streams, and says when its output went nowhere', async (t) => {
	const scratch = newHome(t);
	scratch.write('script.ts', 'export default () => 5;\n');
	const { id } = await runJson(scratch, ['artifact', 'put', scratch.write('body', 'bytes'), '--json']);
	await assertWorks(scratch, ['call', 'scripted.echo', 'text=up'], /^up\n$/);
	await assertWorks(scratch, ['call', 'scripted.echo', 'text=up', '--json'], /^\{.*\}\n$/);
	await assertWorks(scratch, ['exec', 'return 5'], /^5\n$/);
	await assertWorks(scratch, ['run', 'script.ts'], /^5\n$/);
	await assertWorks(scratch, ['status'], /^daemon /);
	await assertWorks(scratch, ['status', '--json'], /^\{.*\}\n$/);
	await assertWorks(scratch, ['artifact', 'get', id], /^bytes$/);
	await assertWorks(scratch, ['artifact', 'get', id, '--json'], /^bytes$/);
	await assertWorks(scratch, ['completion', 'bash'], /./);
	await assertWorks(scratch, ['completion', 'bash', '--json'], /./);
	await assertWorks(scratch, ['help', '--man'], /^\.TH/m);
	await assertWorks(scratch, ['--version'], /^mcpx /);
	await assertWorks(scratch, ['config', '--path'], /config\.json\n$/);
});

test('what writes to a file needs no standard output', async (t) => {
	const scratch = newHome(t);
	const { id } = await runJson(scratch, ['artifact', 'put', scratch.write('body', 'bytes'), '--json']);
	for (const closing of closings) {
		const { status, stderr } = await startClosed(scratch, closing, ['artifact', 'get', id, '-o', scratch.path('copy')]).finished;
		assert.deepEqual([status, stderr], [0, ''], closing);
		assert.equal(fs.readFileSync(scratch.path('copy'), 'utf8'), 'bytes');
		fs.rmSync(scratch.path('copy'));
	}
});

test('serve without an input ends at once, and without an output when there is something to say', async (t) => {
	const scratch = newHome(t);
	const stdin = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`;
	for (const closing of closings) {
		const { status, signal, stdout, stderr } = await startClosed(scratch, closing, ['serve'], { stdin }).finished;
		const [input, output, error] = ['<&-', ' >&-', '2>&-'].map((word) => !` ${closing}`.includes(word));
		assert.deepEqual([status, signal], [input && !output ? 1 : 0, null], `${closing}\n${stderr}`);
		assert.equal(stderr, input && !output && error ? unwritable : '', closing);
		assert.equal(stdout, input && output ? '{"jsonrpc":"2.0","id":1,"result":{}}\n' : '', closing);
	}
});

test('a daemon keeps the numbers of what it was started without', async (t) => {
	const scratch = newHome(t);
	for (const closing of closings) {
		const child = startClosed(scratch, closing, ['daemon']);
		await until(async () => (await run(scratch, ['health'])).status === 0, `a daemon with ${closing}`);
		for (const [fd, word] of ['<&-', ' >&-', '2>&-'].entries())
			assert.equal(fs.readlinkSync(`/proc/${child.pid}/fd/${fd}`) === '/dev/null', ` ${closing}`.includes(word), `${closing}: ${fd}`);
		assert.equal((await run(scratch, ['call', 'scripted.echo', 'text=up'])).stdout, 'up\n', closing);
		assert.equal((await run(scratch, ['stop'])).status, 0, closing);
		const { status, signal } = await child.finished;
		assert.deepEqual([status, signal], [0, null], closing);
	}
});

test('a command without standard streams starts a daemon as any other does', async (t) => {
	const scratch = newHome(t);
	assert.equal((await startClosed(scratch, '<&- >&- 2>&-', ['ls']).finished).status, 1);
	const { pid } = await runJson(scratch, ['health', '--json']);
	for (const fd of [0, 1]) assert.equal(fs.readlinkSync(`/proc/${pid}/fd/${fd}`), '/dev/null');
	assert.equal((await run(scratch, ['call', 'scripted.echo', 'text=up'])).stdout, 'up\n');
});

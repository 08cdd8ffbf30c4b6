// The daemon as a process: its log, how it goes on when nobody reads that, and the file that tells of it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { test } from 'node:test';
import { startDaemon } from '../lib/daemon.mjs';
import { get, post } from '../lib/http.mjs';
import { newScratch } from '../lib/scratch.mjs';

const { O_RDWR, O_NONBLOCK } = fs.constants;

// Everything that is in a pipe now.
function drain(fd) {
	const pieces = [];
	const piece = Buffer.alloc(65536);
	try {
		for (let n; (n = fs.readSync(fd, piece)) > 0; ) pieces.push(Buffer.from(piece.subarray(0, n)));
	} catch (error) {
		if (error.code !== 'EAGAIN') throw error;
	}
	return Buffer.concat(pieces).toString();
}

function fill(fd) {
	try {
		for (;;) fs.writeSync(fd, 'x'.repeat(4096));
	} catch (error) {
		if (error.code !== 'EAGAIN') throw error;
	}
}

test('a standard error that nobody reads does not hold the daemon up', async (t) => {
	const scratch = newScratch(t);
	const fifo = scratch.path('stderr');
	execFileSync('mkfifo', [fifo]);
	const own = fs.openSync(fifo, O_RDWR | O_NONBLOCK);
	const theirs = fs.openSync(fifo, O_RDWR);
	scratch.atEnd(() => [own, theirs].forEach((fd) => fs.closeSync(fd)));
	fill(own);
	const daemon = await startDaemon(scratch, { config: {}, stderr: theirs });
	// The log file tells when a signal was heard.
	const log = scratch.path('state', fs.readdirSync(scratch.state).find((name) => name.endsWith('.log')));
	const reload = async (times) => {
		daemon.child.kill('SIGHUP');
		while (fs.readFileSync(log, 'utf8').split('config.reload').length <= times) await new Promise((resolve) => setTimeout(resolve, 5));
	};
	await reload(1);
	assert.equal((await get(daemon.socket, '/v1/health')).status, 200);
	assert.match(drain(own), /^x+$/);
	await reload(2);
	const lines = drain(own).trimEnd().split('\n');
	assert.equal(lines.length, 2, lines.join('\n'));
	assert.match(lines[0], /log\.dropped records=2 /);
	assert.match(lines[1], /config\.reload/);
	fill(own);
	assert.equal((await daemon.stop()).status, 0);
});

test('a file tells which daemon runs, and with which configuration', async (t) => {
	const scratch = newScratch(t);
	const daemon = await startDaemon(scratch, { config: { mcpServers: {} } });
	const told = () => JSON.parse(fs.readFileSync(scratch.path(scratch.files(/daemon-\w+\.json$/)[0]), 'utf8'));
	const first = told();
	assert.deepEqual(Object.keys(first), ['pid', 'socket', 'endpoint', 'configPath', 'configHash', 'version', 'startedAt']);
	assert.deepEqual([first.pid, first.socket, first.configPath], [daemon.pid, daemon.socket, scratch.path('config.json')]);
	assert.match(first.configHash, /^[0-9a-f]{16}$/);
	scratch.writeConfig({ mcpServers: { off: { command: 'none', mcpx: { disabled: true } } } });
	await post(daemon.socket, '/v1/refresh', {});
	const { configHash, ...rest } = told();
	assert.notEqual(configHash, first.configHash);
	assert.deepEqual({ ...rest, configHash: first.configHash }, first);
	assert.equal((await daemon.stop()).status, 0);
});

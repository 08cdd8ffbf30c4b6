// The demo is what a newcomer sees first, so it is a test too.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { start } from '../lib/command.mjs';
import { newScratch, programs, root } from '../lib/scratch.mjs';

test('the demo runs to its end and leaves nothing', { skip: programs !== path.join(root, 'build/bin') && 'the demo runs the release build' }, async (t) => {
	const scratch = newScratch(t);
	const result = await start(scratch, path.join(root, 'demo/demo.sh'), []).finished;
	assert.equal(result.status, 0, result.stderr + result.stdout);
	assert.match(result.stdout, /"artifact": "art-[0-9a-f]{32}"/);
	assert.match(result.stderr, /info: step 4 of 4/);
	assert.match(result.stdout, /its SHA-256 is the one that the script said/);
	assert.match(result.stdout, /the daemon uses \d+ KiB of memory/);
	assert.match(result.stdout, /no process, socket, lock or temporary file is left/);
	assert.ok(fs.existsSync(path.join(root, 'build/demo/tiny.png')));
});

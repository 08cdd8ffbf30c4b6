// ./run says what it can do, and does nothing that it was not asked for.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const root = path.resolve(import.meta.dirname, '../..');
const run = (...words) => spawnSync(path.join(root, 'run'), words, { encoding: 'utf8' });

test('help names every verb once, and is what comes without a verb', () => {
	const help = run('help').stdout;
	const listed = [...help.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, verb]) => verb);
	const [, verbs] = /^([a-z |]+)\) "do_\$verb"/m.exec(fs.readFileSync(path.join(root, 'run'), 'utf8'));
	assert.deepEqual(listed, verbs.split(' | '));
	assert.equal(run().stdout, help);
});

test('an unknown verb is named, with the help', () => {
	const { status, stdout, stderr } = run('fly');
	assert.equal(status, 2);
	assert.equal(stdout, '');
	assert.match(stderr, /^run: no verb `fly'\nusage: \.\/run VERB/);
});

test('the lock file names no registry', () => {
	const lock = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
	for (const [name, entry] of Object.entries(lock.packages)) {
		assert.equal(entry.resolved, undefined, name);
		if (name) assert.match(entry.integrity, /^sha512-/, name);
	}
});

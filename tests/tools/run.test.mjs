// ./run says what it can do, and does nothing that it was not asked for.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
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

test('install writes under PREFIX, which is not remembered', (t) => {
	const place = fs.mkdtempSync(path.join(os.tmpdir(), 'run-install-'));
	t.after(() => fs.rmSync(place, { recursive: true }));
	fs.copyFileSync(path.join(root, 'run'), path.join(place, 'run'));
	const log = path.join(place, 'log');
	for (const program of ['meson', 'ninja'])
		fs.writeFileSync(path.join(place, program), `#!/bin/sh\necho "${program} $*" >>'${log}'\n`, { mode: 0o755 });
	const install = (env) => {
		fs.rmSync(log, { force: true });
		const { status, stderr } = spawnSync(path.join(place, 'run'), ['install', '--quiet'], { encoding: 'utf8', env: { ...process.env, PATH: `${place}:${process.env.PATH}`, ...env } });
		assert.equal(status, 0, stderr);
		return fs.readFileSync(log, 'utf8').split('\n').filter((line) => /^meson (configure|install)/.test(line));
	};
	assert.deepEqual(install({ PREFIX: '/opt/own' }), ['meson configure build -Dprefix=/opt/own', 'meson install -C build --no-rebuild --quiet']);
	assert.deepEqual(install({ PREFIX: '' }), ['meson configure build -Dprefix=/usr/local', 'meson install -C build --no-rebuild --quiet']);
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

// tools/count-tests reads what the runners wrote; a lie here would hide a failure everywhere else.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

const tool = path.resolve(import.meta.dirname, '../../tools/count-tests');

function count(t, files) {
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'count-tests-'));
	t.after(() => fs.rmSync(dir, { recursive: true }));
	for (const [name, content] of Object.entries(files)) {
		const lines = Array.isArray(content) ? content.map((row) => JSON.stringify(row)).join('\n') : content;
		fs.writeFileSync(path.join(dir, name), lines);
	}
	const run = spawnSync(tool, [dir], { encoding: 'utf8' });
	return { status: run.status, lines: run.stdout.trimEnd().split('\n') };
}

const unit = (stdout, result = 'OK', returncode = 0, command = ['src/base/buf_test']) => [
	{ name: 'base / buf', stdout, result, returncode, command },
];
const node = (body) => `TAP version 13\n${body}# tests 1\n`;

test('counts the cases of a cmocka program', (t) => {
	const { status, lines } = count(t, { 'unit.json': unit('1..2\nok 1 - grows\nok 2 - stops at its maximum\n') });
	assert.deepEqual(lines, ['2 passed, 0 failed']);
	assert.equal(status, 0);
});

test('names a failed cmocka case', (t) => {
	const { status, lines } = count(t, {
		'unit.json': unit('1..2\nok 1 - grows\nnot ok 2 - stops\n# 1 != 2\n# not ok - group\n', 'FAIL', 1),
	});
	assert.deepEqual(lines, ['FAILED   base / buf: stops', '1 passed, 1 failed']);
	assert.equal(status, 1);
});

test('takes cmocka\'s skipped case for skipped, though it says "not ok"', (t) => {
	const { status, lines } = count(t, { 'unit.json': unit('1..2\nok 1 - a\nnot ok 2 # SKIP needs_shared\n') });
	assert.deepEqual(lines, ['skipped  base / buf: needs_shared', '1 passed, 0 failed, 1 skipped']);
	assert.equal(status, 0);
});

test('gives the reason that stands before a skipped case, to that case alone', (t) => {
	const { lines } = count(t, { 'unit.json': unit('1..3\nskipped: needs ../shared\nnot ok 1 # SKIP suite\nok 2 - a\nnot ok 3 # SKIP other\n') });
	assert.deepEqual(lines, ['skipped  base / buf: suite (needs ../shared)', 'skipped  base / buf: other', '1 passed, 0 failed, 2 skipped']);
});

test('gives the last words of a program that skips itself as the reason', (t) => {
	const { lines } = count(t, { 'unit.json': unit('looking around\nskipped: needs ../shared\n', 'SKIP', 77) });
	assert.deepEqual(lines, ['skipped  base / buf: needs ../shared', '0 passed, 0 failed, 1 skipped']);
});

test('counts a program that crashed, and the cases it did not reach', (t) => {
	const crashed = count(t, { 'unit.json': unit('', 'FAIL', -6) });
	assert.deepEqual(crashed.lines, ['FAILED   base / buf: ended with FAIL, exit status -6', '0 passed, 1 failed']);
	const stopped = count(t, { 'unit.json': unit('1..3\nok 1 - a\n', 'FAIL', -11) });
	assert.equal(stopped.lines.at(-1), '1 passed, 2 failed');
});

test('counts a leak found after every case passed', (t) => {
	const { lines } = count(t, { 'unit.json': unit('1..1\nok 1 - a\n', 'FAIL', 1) });
	assert.equal(lines.at(-1), '1 passed, 1 failed');
});

test('counts a program without TAP as one test', (t) => {
	const { lines } = count(t, { 'unit.json': unit('12 inputs\n', 'OK', 0, ['src/base/units_fuzz', 'tests/corpus/units']) });
	assert.equal(lines.at(-1), '1 passed, 0 failed');
});

test('fails a test program that reports no case', (t) => {
	const { lines } = count(t, { 'unit.json': unit('') });
	assert.deepEqual(lines, ['FAILED   base / buf: reported no test case', '0 passed, 1 failed']);
});

test('counts the tests of node, not its suites', (t) => {
	const { lines } = count(t, {
		'e2e-release.tap': node(
			`# Subtest: suite
    # Subtest: inner
    ok 1 - inner
      ---
      type: 'test'
      ...
    1..1
ok 1 - suite
  ---
  type: 'suite'
  ...
not ok 2 - fails \\# with a hash
  ---
  type: 'test'
  ...
ok 3 - waits # SKIP needs ../shared
  ---
  type: 'test'
  ...
`,
		),
	});
	assert.deepEqual(lines, [
		'skipped  e2e-release: waits (needs ../shared)',
		'FAILED   e2e-release: fails # with a hash',
		'1 passed, 1 failed, 1 skipped',
	]);
});

test('counts a test runner that did not finish', (t) => {
	const { lines } = count(t, { 'e2e-release.tap': 'TAP version 13\nok 1 - a\n  ---\n  type: \'test\'\n  ...\n' });
	assert.equal(lines.at(-1), '1 passed, 1 failed');
});

test('fails when there was nothing to count', (t) => {
	const { status, lines } = count(t, {});
	assert.deepEqual(lines, ['0 passed, 0 failed']);
	assert.equal(status, 1);
});

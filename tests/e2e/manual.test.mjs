// The manual page, as programs that show manual pages see it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { run } from '../lib/command.mjs';
import { newScratch } from '../lib/scratch.mjs';

const lacks = (program, ...args) => (spawnSync(program, args, { input: '' }).error ? `needs ${program}, which is not installed` : false);

async function page(t) {
	const result = await run(newScratch(t), ['help', '--man']);
	assert.deepEqual([result.status, result.stderr], [0, '']);
	return result.stdout;
}

test('groff shows the manual page without a warning', { skip: lacks('groff', '--version') }, async (t) => {
	const input = await page(t);
	const groff = spawnSync('groff', ['-ww', '-man', '-Tutf8'], { input, encoding: 'utf8' });
	assert.deepEqual([groff.status, groff.stderr], [0, '']);
	const text = groff.stdout.replace(/.\u0008|\u001b\[[0-9;]*m/g, '');
	// What is shown can be copied: no typographic hyphens and quotes.
	assert.match(text, /mcpx call files\.read_multiple_files paths:='\["a\.txt", "b\.txt"\]'/);
	assert.match(text, /--pool-call-timeout DURATION/);
	assert.doesNotMatch(text, /[\u2010\u2018\u2019\u201c\u201d\u2212]/);
});

test('mandoc finds nothing wrong with the manual page', { skip: lacks('mandoc', '-Tlint') }, async (t) => {
	const input = await page(t);
	const { stdout } = spawnSync('mandoc', ['-Tlint'], { input, encoding: 'utf8' });
	// It has no date on purpose: the same source gives the same page.
	assert.deepEqual(stdout.split('\n').filter((line) => line && !line.includes('missing date')), []);
});

test('every command of the help is in the manual page', async (t) => {
	const text = await page(t);
	const help = await run(newScratch(t), ['help', '--json']);
	const { commands } = JSON.parse(help.stdout);
	assert.ok(commands.length > 20);
	for (const { command } of commands) assert.ok(text.includes(`\n\\fBmcpx ${command}\\fR`), command);
});

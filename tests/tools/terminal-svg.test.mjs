// tools/terminal-svg draws what is on a terminal in the end, not what went over it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';

const tool = path.resolve(import.meta.dirname, '../../tools/terminal-svg');
const draw = (script) => spawnSync(tool, ['--columns', '60', 'sh', '-c', script], { encoding: 'utf8' });
const words = (svg) => [...svg.matchAll(/<text.*?<\/text>/g)].map(([text]) => text.replaceAll(/<[^>]*>/g, ''));

test('draws the last state of a line that was drawn over', () => {
	const { stdout, status } = draw(String.raw`printf ' 50%%\r100%%\nlong line\r\033[Kend\n'`);
	assert.equal(status, 0);
	assert.deepEqual(words(stdout).slice(-2), ['100%', 'end']);
});

test('keeps colours and weight, and escapes markup', () => {
	const { stdout } = draw(String.raw`printf '\033[1;32m<ok>\033[0m done\n'`);
	assert.match(stdout, /fill="#a6e3a1" font-weight="bold">&lt;ok&gt;<\/tspan>/);
	assert.match(stdout, /<tspan x="[\d.]+" textLength="[\d.]+"> done<\/tspan>/);
});

test('tells the command how wide its window is', () => {
	assert.equal(words(draw('stty size').stdout).at(-1), '200 60');
});

test('draws nothing of a command that fails', () => {
	const { stdout, stderr, status } = draw('echo broken; exit 3');
	assert.equal(stdout, '');
	assert.match(stderr, /broken/);
	assert.equal(status, 3);
});

// What `./run install` puts where, and that a program of somebody else can be built on the library that is installed.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { newScratch, programs, root } from '../lib/scratch.mjs';

const build = path.dirname(programs);
const options = JSON.parse(execFileSync('meson', ['introspect', '--buildoptions', build], { encoding: 'utf8' }));
const option = (name) => options.find((one) => one.name === name).value;

// Installs below the scratch home; returns the path there of a path below the prefix.
function install(scratch) {
	execFileSync('meson', ['install', '-C', build, '--no-rebuild', '--quiet'], { env: { ...process.env, DESTDIR: scratch.path('stage') } });
	return (...parts) => scratch.path('stage', option('prefix').slice(1), ...parts);
}

test('an installation has its programs, manual page, completions and schema where systems look for them', (t) => {
	const scratch = newScratch(t);
	const at = install(scratch);
	for (const file of ['bin/mcpx', 'libexec/mcpx/mcpx-daemon', 'libexec/mcpx/mcpx-supervisor'])
		assert.equal(fs.statSync(at(file)).mode & 0o777, 0o755, file);
	assert.deepEqual(fs.readdirSync(at('bin')), ['mcpx']);
	assert.match(fs.readFileSync(at('share/man/man1/mcpx.1'), 'utf8'), /^\.TH MCPX 1/);
	assert.match(fs.readFileSync(at('share/bash-completion/completions/mcpx'), 'utf8'), /^# Completion of mcpx for bash/);
	assert.match(fs.readFileSync(at('share/zsh/site-functions/_mcpx'), 'utf8'), /^#compdef mcpx/);
	assert.match(fs.readFileSync(at('share/fish/vendor_completions.d/mcpx.fish'), 'utf8'), /^# Completion of mcpx for fish/);
	assert.equal(JSON.parse(fs.readFileSync(at('share/mcpx/config.schema.json'), 'utf8')).title, 'mcpx configuration file');
	assert.match(execFileSync(at('bin/mcpx'), ['--version'], { encoding: 'utf8' }), /^mcpx \d/);
});

test('a server of somebody else is built on the installed libmcp, and serves', { skip: option('b_sanitize') !== 'none' && 'needs a build without sanitizers' }, (t) => {
	const scratch = newScratch(t);
	const at = install(scratch);
	const env = { ...process.env, PKG_CONFIG_PATH: at(option('libdir'), 'pkgconfig') };
	const source = scratch.write('elsewhere/greeter.c', fs.readFileSync(path.join(root, 'tests/library/greeter.c'), 'utf8'));
	const cwd = path.dirname(source);
	const prefix = path.relative(cwd, at()); // no blank in it, whatever the path of the home is: flags are words
	const flags = (...asked) => execFileSync('pkg-config', [`--define-variable=prefix=${prefix}`, ...asked, 'libmcp'], { env, encoding: 'utf8' }).trim().split(/\s+/);
	const program = scratch.path('elsewhere/greeter');
	const compiler = ['-std=gnu17', '-Wall', '-Wextra', '-Werror', ...flags('--cflags'), source, '-o', program, ...flags('--libs')];
	const compiled = spawnSync('cc', compiler, { cwd, encoding: 'utf8' });
	assert.deepEqual([compiled.status, compiled.stderr], [0, '']);
	const requests = [
		{ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } } },
		{ method: 'notifications/initialized' },
		{ id: 2, method: 'tools/list' },
		{ id: 3, method: 'tools/call', params: { name: 'greet', arguments: { name: 'you' } } },
	];
	const input = requests.map((request) => `${JSON.stringify({ jsonrpc: '2.0', ...request })}\n`).join('');
	const ran = spawnSync(program, { input, encoding: 'utf8' });
	assert.deepEqual([ran.status, ran.stderr], [0, '']);
	const [opened, listed, greeted] = ran.stdout.trim().split('\n').map((line) => JSON.parse(line).result);
	assert.equal(opened.serverInfo.name, 'greeter');
	assert.deepEqual(listed.tools.map(({ name }) => name), ['greet']);
	assert.deepEqual(greeted.content, [{ type: 'text', text: 'Hello, you!' }]);
	assert.deepEqual(flags('--variable=supervisor'), [path.join(prefix, 'libexec/mcpx/mcpx-supervisor')]);
	assert.ok(!fs.readdirSync(at('include/libmcp/base')).includes('banned.h'));
});

// What README.md tells a newcomer to type, typed.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { run } from '../lib/command.mjs';
import { stdioClient } from '../lib/mcp.mjs';
import { newScratch, root } from '../lib/scratch.mjs';
import { filesystemServer } from '../lib/servers.mjs';

const readme = fs.readFileSync(path.join(root, 'README.md'), 'utf8');
const commands = readme.match(/^mcpx .*$/gm).map((line) => line.replace(/ +#.*/, ''));

function project(t) {
	const scratch = newScratch(t);
	scratch.write('.mcpx.json', { mcpServers: { files: filesystemServer('.') } });
	scratch.write('README.md', readme);
	scratch.write('report.ts', 'export default async () => (await files.read_text_file({ path: "README.md" })).content.length;\n');
	scratch.atEnd(() => run(scratch, ['stop']));
	return scratch;
}

// A command line as a shell splits it: words, and one pair of single quotes.
const words = (line) => line.match(/'[^']*'|\S+/g).map((word) => word.replace(/^'(.*)'$/, '$1'));

test('every command of the README does what it says', async (t) => {
	const scratch = project(t);
	const said = {};
	for (const command of commands) {
		const result = await run(scratch, words(command).slice(1));
		assert.equal(result.status, 0, `${command}\n${result.stderr}${result.stdout}`);
		said[words(command)[1]] = result.stdout;
	}
	assert.match(said.ls, /files +14 +running/);
	assert.match(said.search, /read_text_file/);
	assert.match(said.call, /^# mcpx$/m);
	assert.match(said.exec, /README\.md/);
	assert.equal(said.run, `${[...readme].length}\n`);
	assert.match(said.status, /files/);
});

test('an MCP client sees the tools of mcpx, or every tool of every server', async (t) => {
	const scratch = project(t);
	const few = (await (await stdioClient(scratch, ['serve'])).listTools()).tools.map(({ name }) => name);
	const all = (await (await stdioClient(scratch, ['serve', '--mode', 'full'])).listTools()).tools.map(({ name }) => name);
	assert.ok(few.every((name) => name.startsWith('mcpx_')), few.join(' '));
	assert.ok(few.includes('mcpx_search') && few.includes('mcpx_call') && few.includes('mcpx_exec'), few.join(' '));
	assert.ok(all.includes('files__read_text_file'), all.join(' '));
});

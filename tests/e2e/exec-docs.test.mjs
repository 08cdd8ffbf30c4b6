// docs/scripts.md, done as it stands there: its files are written, its commands typed, and what they print is what it shows. In what is shown,
// "…" stands for anything, on a line of its own for any lines, and "[1]" at the end for the exit status.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { run, start } from '../lib/command.mjs';
import { post } from '../lib/http.mjs';
import { newScratch, programs, root } from '../lib/scratch.mjs';
import { everythingServer, filesystemServer } from '../lib/servers.mjs';

const page = fs.readFileSync(path.join(root, 'docs/scripts.md'), 'utf8');
const blocks = [...page.matchAll(/^```(\w+)(?: ([^\n]*))?\n(.*?)^```$/gms)].map(([, language, about, text]) => ({ language, about, text }));

const escape = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
const pattern = (shown) => new RegExp(`^${shown.split('\n').map((line) => (line === '…' ? '[^]*' : escape(line).replaceAll('…', '.*'))).join('\n')}$`);

// [command, what it shows, exit status] of each command in a block.
function commandsOf(text) {
	const parts = text.split(/^\$ /m);
	assert.equal(parts.shift(), '', text);
	return parts.map((part) => {
		const end = part.indexOf('\n');
		const [, shown, status = '0'] = /^(.*?)(?:\[(\d+)\]\n)?$/s.exec(part.slice(end + 1));
		return [part.slice(0, end), shown, Number(status)];
	});
}

async function type(scratch, command, shown, status) {
	const said = await start(scratch, 'sh', ['-c', `{ ${command}\n} 2>&1`]).finished;
	assert.match(said.stdout, pattern(shown), `${command}\n${said.stdout}`);
	assert.equal(said.status, status, command);
}

// What the page shows of an answer is in it.
function includes(answer, shown, where) {
	if (shown === null || typeof shown !== 'object') return assert.deepEqual(answer, shown, where);
	for (const [name, value] of Object.entries(shown)) includes(answer?.[name], value, `${where}.${name}`);
}

test('every example of the page on scripts does what it shows', async (t) => {
	const scratch = newScratch(t);
	scratch.env.PATH = `${programs}:${scratch.env.PATH}`;
	scratch.atEnd(() => run(scratch, ['stop']));
	let answer;
	const done = { console: 0, ts: 0, json: 0 };
	for (const { language, about, text } of blocks) {
		if (about === '.mcpx.json') {
			// Those servers, without the network.
			assert.deepEqual(Object.keys(JSON.parse(text).mcpServers), ['files', 'everything']);
			scratch.write(about, { mcpServers: { files: filesystemServer('.'), everything: everythingServer() } });
		} else if (about?.startsWith('POST ')) {
			const socket = scratch.path('state', fs.readdirSync(scratch.state).find((name) => name.endsWith('.sock')));
			answer = await post(socket, about.slice('POST '.length), JSON.parse(text));
			assert.equal(answer.status, 200, answer.text);
		} else if (about === 'answer') {
			includes(answer.json, JSON.parse(text), 'answer');
		} else if (language === 'ts') {
			scratch.write(about, text);
		} else {
			assert.equal(language, 'console', `what is a block of ${language}?`);
			for (const [command, shown, status] of commandsOf(text)) await type(scratch, command, shown, status);
		}
		done[language]++;
	}
	// The page's fences are all found, so this has tested something.
	assert.equal(blocks.length, page.match(/^```\w/gm).length);
	assert.ok(done.console > 10 && done.ts > 3 && done.json === 3, JSON.stringify(done));
});

test('the page names the helpers that there are, and the settings by their names', async (t) => {
	const scratch = newScratch(t);
	scratch.writeConfig({});
	const types = (await run(scratch, ['types'])).stdout;
	scratch.atEnd(() => run(scratch, ['stop']));
	for (const [, name] of types.matchAll(/^declare (?:function|const|class) (\w+)/gm)) assert.match(page, new RegExp(`\`${name}[(\`]`), `${name} is missing`);
	const { stdout } = await run(scratch, ['settings', 'list', '--plumbing', '--json']);
	const known = new Set(stdout.match(/"path": ?"[^"]+"/g).map((member) => /"([^"]+)"$/.exec(member)[1]));
	for (const [, name] of page.matchAll(/`((?:exec|script|artifacts)\.[a-z]\w+)`/gi))
		assert.ok(known.has(name), `there is no setting ${name}`);
});

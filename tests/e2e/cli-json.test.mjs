// Every operation by its command: with --json one document, which is what the table says it is.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { run } from '../lib/command.mjs';
import { newHome } from '../lib/home.mjs';
import { everythingServer, filesystemServer } from '../lib/servers.mjs';
import { root } from '../lib/scratch.mjs';

const { operations } = JSON.parse(fs.readFileSync(path.join(root, 'src/api/operations.json'), 'utf8'));

// What is typed for each operation, in an order in which it works. A function gets what was answered before, by operation.
const typed = [
	['namespaces', ['ls']],
	['tools', ['tools', 'every']],
	['search', ['search', 'sum', 'of', 'numbers', '-n', '3']],
	['types', ['types', 'every.get-sum']],
	['client', ['client', 'every']],
	['call', ['call', 'every.get-sum', 'a=1', 'b=2.5']],
	['exec', ['exec', 'emit(1); return { two: 2 }']],
	['artifact_put', ['artifact', 'put', 'note.txt']],
	['artifacts', ['artifact', 'list', '--limit', '5']],
	['artifact_get', ({ artifact_put }) => ['artifact', 'get', artifact_put.id]],
	['artifact_delete', ({ artifact_put }) => ['artifact', 'delete', artifact_put.id]],
	['settings_list', ['settings', 'list', '--daemon', '--scope', 'call']],
	['settings_get', ['settings', 'get', 'pool.max', '--daemon']],
	['settings_set', ['settings', 'set', 'pool.max', '6']],
	['settings_unset', ['settings', 'unset', 'pool.max']],
	['servers_list', ['servers', 'list']],
	['refresh', ['refresh']],
	['session_release', ['session', 'release', 'nobody']],
	['openapi', ['openapi']],
	['health', ['health']],
	['status', ['status']],
	['shutdown', ['stop']],
];

function project(t) {
	const scratch = newHome(t, { every: everythingServer(), files: filesystemServer('.') });
	scratch.write('note.txt', 'a note\n');
	return scratch;
}

test('every operation has its row here', () => {
	assert.deepEqual(typed.map(([name]) => name).sort(), operations.filter(({ command }) => command).map(({ name }) => name).sort());
});

test('each command prints one document of the shape that its operation promises', async (t) => {
	const scratch = project(t);
	const ajv = new Ajv2020({ strict: false });
	const answers = {};
	for (const [name, words] of typed) {
		const operation = operations.find((one) => one.name === name);
		const args = typeof words === 'function' ? words(answers) : words;
		const { status, stdout, stderr } = await run(scratch, [...args, '--json']);
		assert.deepEqual([status, stderr], [0, ''], `${name}: ${stderr}`);
		if (operation.flags.includes('text') || name === 'artifact_get') {
			assert.ok(stdout.length > 0);
			continue;
		}
		answers[name] = JSON.parse(stdout);
		assert.ok(ajv.validate(operation.output, answers[name]), `${name}: ${ajv.errorsText()}\n${stdout}`);
	}
	assert.deepEqual(answers.call.result.content, [{ type: 'text', text: 'The sum of 1 and 2.5 is 3.5.' }]);
	assert.deepEqual([answers.exec.result, answers.exec.emits], [{ two: 2 }, [1]]);
	assert.equal(answers.tools.length, answers.namespaces.find(({ namespace }) => namespace === 'every').tools);
	assert.equal(answers.artifact_delete.deleted, answers.artifact_put.id);
});

test('each command has something to show to people', async (t) => {
	const scratch = project(t);
	const put = JSON.parse((await run(scratch, ['artifact', 'put', 'note.txt', '--json'])).stdout);
	const shown = {};
	for (const [name, words] of typed) {
		const args = typeof words === 'function' ? words({ artifact_put: put }) : words;
		const { status, stdout, stderr } = await run(scratch, args);
		assert.deepEqual([status, stderr], [0, ''], `${name}: ${stderr}`);
		assert.ok(stdout.endsWith('\n'), name);
		assert.doesNotMatch(stdout, /\u001b/, name);
		shown[name] = stdout;
	}
	assert.match(shown.namespaces, /^NAMESPACE +TOOLS +STATE\nevery +\d+ +running\nfiles +\d+ +running\n$/);
	assert.match(shown.tools, /^TOOL +DESCRIPTION\n(every\.\S+ .*\n)+$/);
	assert.match(shown.search, /every\.get-sum +Returns the sum of two numbers/);
	assert.equal(shown.call, 'The sum of 1 and 2.5 is 3.5.\n');
	assert.equal(shown.artifact_get, 'a note\n');
	assert.match(shown.artifacts, new RegExp(`^ID +SIZE +TYPE +CREATED +EXPIRES +NAME\n(.*\n)*${put.id} +7 B +text/plain +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d .* note\\.txt\n`));
	assert.match(shown.servers_list, /^SERVER +NAMESPACE +SCOPE/);
	assert.match(shown.status, /^daemon +version \d.*\nmemory +\d/);
	assert.match(shown.status, /^SERVER +TOOLS +LIVE +CALLS/m);
	assert.match(shown.health, /^daemon +version \d\S*, process \d+, up \S+\nendpoint +unix:/);
	assert.equal(JSON.parse(shown.openapi).openapi, '3.1.0');
	assert.match(shown.refresh, /^2 namespaces, 0 added, 0 removed\n$/);
});

test('a tool that is named whole is shown with its arguments, and one that is not there is a failure', async (t) => {
	const scratch = project(t);
	const { stdout } = await run(scratch, ['tools', 'files.edit_file']);
	assert.match(stdout, /^mcpx call files\.edit_file path=\.\.\. edits=\.\.\. \[dryRun=\.\.\.\]\n\n\S.*\n\nArguments\n {2}path: string\n {2}edits: JSON\n {2}dryRun\?: boolean {8}\S.*\n\n`mcpx types files\.edit_file` has the types in full\.\n$/);
	assert.match((await run(scratch, ['tools', 'every.get-tiny-image'])).stdout, /\n\nIt takes no arguments\.\n$/);
	const [tool] = JSON.parse((await run(scratch, ['tools', 'files.edit_file', '--json'])).stdout);
	assert.deepEqual(tool.inputSchema.required, ['path', 'edits']);
	for (const [name, hint] of [['files.edit_fil', 'did you mean files.edit_file?'], ['files.zzzz', 'ask for files alone to see those it has']]) {
		const missed = await run(scratch, ['tools', name, '--json']);
		assert.equal(missed.status, 1);
		assert.equal(JSON.parse(missed.stdout).error, `no tool is called "${name}"; ${hint}`);
	}
});

test('settings look the same from here and from the daemon', async (t) => {
	const scratch = project(t);
	await run(scratch, ['ls']);
	for (const words of [['list', '--plumbing', '--scope', 'client'], ['list', '--changed', '--scope', 'client'], ['get', 'exec.output'], ['get', 'search.limit', '--json']]) {
		const shown = async (...more) => (await run(scratch, ['settings', ...words, ...more])).stdout.replace(',"fromDaemon":true', '');
		const here = await shown();
		assert.match(here, /\S/);
		assert.equal(await shown('--daemon'), here, words.join(' '));
	}
});

test('commands that are no operation print documents too, and so do failures', async (t) => {
	const scratch = project(t);
	const document = async (...words) => {
		const { status, stdout } = await run(scratch, words);
		return [status, JSON.parse(stdout)];
	};
	assert.deepEqual(Object.keys((await document('--version', '--json'))[1]), ['version']);
	const [, { commands }] = await document('help', '--json');
	for (const { command } of operations.filter((one) => one.command)) assert.ok(commands.some((one) => one.command === command), command);
	assert.equal((await document('help', 'call', '--json'))[1].commands.length, 1);
	assert.ok((await document('config', '--json'))[1].sources.length > 0);
	assert.ok((await document('settings', 'list', '--json'))[1].settings.length > 50);
	assert.equal((await document('settings', 'get', 'pool.max', '--json'))[1].path, 'pool.max');
	for (const [words, expected] of [[['serch'], 2], [['call', 'x'], 2], [['tools', 'nobody'], 1], [['settings', 'get', 'pool.maxx'], 1], [['settings', 'set', 'output.color', 'never'], 1]]) {
		const [status, answer] = await document(...words, '--json');
		assert.equal(status, expected, words.join(' '));
		assert.ok(answer.error || answer.note, words.join(' '));
	}
	assert.deepEqual(await document('config', '--path', '--json'), [0, { path: scratch.env.MCPX_CONFIG }]);
	// The wish for a document counts however it is spelled, and also where the mistake comes before it.
	for (const words of [['serch', '--json=true'], ['serch', '--output-json'], ['--bogus', '--json'], ['call', '--timeout-ms', 'x', '--json']])
		assert.ok((await document(...words))[1].error, words.join(' '));
	scratch.env.MCPX_OUTPUT_JSON = 'true';
	for (const words of [['serch'], ['call'], ['settings']]) assert.ok((await document(...words))[1].error, words.join(' '));
	assert.deepEqual(Object.keys((await document('--version'))[1]), ['version']);
	assert.ok((await document('--help'))[1].commands.length > 10);
	delete scratch.env.MCPX_OUTPUT_JSON;
	// A call that failed at its server keeps what the daemon knows of it.
	const [status, failed] = await document('call', 'every.get-sum', 'a:="x"', 'b=1', '--json');
	assert.equal(status, 1);
	assert.ok(failed.error || failed.result.isError);
});

test('generated text goes to a file at once or not at all', async (t) => {
	const scratch = project(t);
	for (const [words, content] of [[['client'], /export/], [['openapi'], /"openapi": ?"3\.1\.0"/]]) {
		const result = await run(scratch, [...words, '-o', 'out.txt']);
		assert.deepEqual([result.status, result.stdout, result.stderr], [0, '', '']);
		assert.match(fs.readFileSync(scratch.path('out.txt'), 'utf8'), content);
	}
	const refused = await run(scratch, ['openapi', '-o', '/dev/null']);
	assert.equal(refused.status, 1);
	assert.match(refused.stderr, /^mcpx: \/dev\/null is not a regular file/);
	assert.equal((await run(scratch, ['openapi', '-o', 'nowhere/out.txt'])).status, 1);
	assert.deepEqual(scratch.files(/\.tmp$/), []);
});

// The first change that CONTRIBUTING.md walks through is made on a copy of the sources, and compiles.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { programs, root } from '../lib/scratch.mjs';

test('the walk through adding an operation is true', (t) => {
	const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'first-change-'));
	t.after(() => fs.rmSync(copy, { recursive: true }));
	fs.cpSync(path.join(root, 'src'), path.join(copy, 'src'), { recursive: true });

	const guide = fs.readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8');
	const block = (language) => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(guide)[1];
	const edit = (name, before, after) => {
		const file = path.join(copy, 'src/api', name);
		const text = fs.readFileSync(file, 'utf8');
		assert.ok(text.includes(before), `${name}: ${before}`);
		fs.writeFileSync(file, text.replace(before, () => after));
	};
	edit('operations.json', '\t\t{\n\t\t\t"name": "namespaces",', `${block('json')}\t\t{\n\t\t\t"name": "namespaces",`);
	edit('status.c', 'void api_status(', `${block('c')}\nvoid api_status(`);
	edit('api.h', 'api_operation api_health,', 'api_operation api_places, api_health,');
	edit('api.c', '[OPERATION_STATUS] = api_status,', '[OPERATION_STATUS] = api_status,\n\t[OPERATION_PLACES] = api_places,');

	const generated = path.join(copy, 'build/api');
	fs.mkdirSync(generated, { recursive: true });
	const [generate, table, ids, rows] = ['generate.py', 'operations.json', 'operation_ids.h', 'operation_table.c'];
	const api = path.join(copy, 'src/api');
	execFileSync('python3', [path.join(api, generate), path.join(api, table), path.join(generated, ids), path.join(generated, rows)]);
	const compiled = spawnSync(
		'gcc',
		['-std=gnu17', '-D_GNU_SOURCE', '-Wall', '-Werror', '-fsyntax-only', `-I${path.dirname(generated)}`, `-I${path.join(copy, 'src')}`]
			.concat([`-I${path.join(path.dirname(programs), 'src')}`, path.join(api, 'status.c'), path.join(api, 'api.c'), path.join(generated, rows)]),
		{ encoding: 'utf8' },
	);
	assert.equal(compiled.stderr, '');
	assert.equal(compiled.status, 0);
});

// What MCP clients see of servers that are odd, too large, or named alike: the official SDK, which judges what it is given, is the client.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '../lib/command.mjs';
import { startDaemon } from '../lib/daemon.mjs';
import { get } from '../lib/http.mjs';
import { httpClient, stdioClient } from '../lib/mcp.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';

async function endpoint(t, mcpServers, { env = {}, ...more } = {}) {
	const scratch = newScratch(t);
	const daemon = await startDaemon(scratch, { config: { mcpServers }, tcp: true, env, ...more });
	return { scratch, daemon, url: `${daemon.url}/mcp` };
}

const full = { MCPX_SERVE_MODE: 'full' };
const out = (x) => ({ inputSchema: { type: 'object' }, outputSchema: { type: 'object', properties: { x } } });

// Each of these, alone, makes the SDK give up the whole list when it is passed on as it is, or nearly did.
const odd = {
	none: {},
	text: { inputSchema: 'x' },
	empty: { inputSchema: null },
	list: { inputSchema: [] },
	anything: { inputSchema: true },
	notype: { inputSchema: { properties: { x: { type: 'string' } } } },
	toplevel_oneof: { inputSchema: { oneOf: [{ type: 'object', properties: { a: {} } }, { type: 'object', properties: { b: {} } }] } },
	types: { inputSchema: { type: ['object', 'null'] } },
	scalar: { inputSchema: { type: 'string' } },
	booleans: { inputSchema: { type: 'object', properties: { a: true, b: false, c: null, d: 5 } } },
	properties: { inputSchema: { type: 'object', properties: 'x' } },
	required: { inputSchema: { type: 'object', required: 'x' } },
	required_list: { inputSchema: { type: 'object', required: [1] } },
	refs: { inputSchema: { type: 'object', $defs: { A: { type: 'object', properties: { next: { $ref: '#/$defs/A' } } } }, properties: { a: { $ref: '#/$defs/A' } } } },
	many: { inputSchema: { type: 'object', properties: Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`p${i}`, i % 2 ? true : {}])) } },
	title: { title: 5 },
	description: { description: { text: 'x' } },
	meta: { _meta: 'x' },
	icons: { icons: 'x' },
	icon: { icons: [5, { src: 5 }, { src: 'data:,', sizes: 'any' }, { src: 'data:,', theme: 'dark' }] },
	annotations: { annotations: [] },
	hints: { annotations: { readOnlyHint: 'yes', title: 5, openWorldHint: true } },
	execution: { execution: 'x' },
	tasks: { execution: { taskSupport: 'sometimes' } },
	out_scalar: { outputSchema: 'x' },
	out_none: { outputSchema: null },
	out_notype: { outputSchema: { properties: {} } },
	out_anyof: { outputSchema: { anyOf: [{ type: 'object' }] } },
	out_type: out({ type: 'nonsense' }),
	out_ref: out({ $ref: '#/$defs/nowhere' }),
	out_far: out({ $ref: 'https://example.com/schema.json' }),
	out_circle: out({ $ref: '#/properties/x' }),
	out_pattern: out({ pattern: '(?i)x' }),
	out_escape: out({ pattern: 'a\\-b' }),
	out_enum: out({ enum: [] }),
	out_null: out(null),
	out_allof: out({ allOf: {} }),
	out_minimum: out({ minimum: '1' }),
	out_draft4: out({ minimum: 1, exclusiveMinimum: true }),
	out_id4: out({ id: 'x' }),
	out_nullable: out({ nullable: true }),
	out_id: { outputSchema: { type: 'object', $id: 5 } },
	['n'.repeat(128)]: {},
	'weird name/with:chars.\u00e9': {},
	'\u202e': {},
	extra: { inputSchema: { type: 'object' }, annotations: { readOnlyHint: true }, _meta: { 'x.y/z': 1 }, title: 'T', icons: [{ src: 'data:,' }], unknownField: { keep: true } },
	out_sound: { inputSchema: { type: 'object' }, outputSchema: { type: 'object', $defs: { a: { pattern: '^[a-z_-]+$' } }, properties: { x: { $ref: '#/$defs/a' } } } },
};
const oddTools = Object.entries(odd).map(([name, more]) => ({ name, ...more }));

for (const env of [full, { MCPX_MCP_PASSTHROUGH: 'odd' }])
	test(`no odd tool costs the official client its list (${Object.keys(env)})`, async (t) => {
		const { scratch, daemon, url } = await endpoint(t, { odd: scriptedServer({ tools: oddTools }), plain: scriptedServer() }, { env: { ...env, MCPX_MCP_PAGE_SIZE: '1000' } });
		const client = await httpClient(scratch, url);
		const { tools } = await client.listTools();
		const own = !env.MCPX_SERVE_MODE;
		const find = (name) => tools.find((tool) => tool.name === (own ? name : `odd__${name}`));
		for (const name of Object.keys(odd)) if (own || /^\w{1,50}$/.test(name)) assert.ok(find(name), name);
		assert.equal(tools.filter(({ name }) => own || name.startsWith('odd__')).length >= oddTools.length, true);
		if (!own) assert.ok(tools.some(({ name }) => name === 'plain__echo'));
		assert.deepEqual(find('notype').inputSchema, { type: 'object', ...odd.notype.inputSchema });
		assert.deepEqual(find('toplevel_oneof').inputSchema, { type: 'object', ...odd.toplevel_oneof.inputSchema });
		assert.deepEqual(find('booleans').inputSchema.properties, { a: {}, b: { not: {} }, c: {}, d: {} });
		assert.deepEqual(find('hints').annotations, { openWorldHint: true });
		assert.deepEqual(find('icon').icons, [{ src: 'data:,', theme: 'dark' }]);
		assert.deepEqual(find('out_sound').outputSchema, odd.out_sound.outputSchema);
		for (const name of Object.keys(odd).filter((key) => key.startsWith('out_') && key !== 'out_sound')) assert.equal(find(name).outputSchema, undefined, name);
		const { title, icons, annotations, _meta } = find('extra');
		assert.deepEqual({ title, icons, annotations, _meta }, { title: 'T', icons: odd.extra.icons, annotations: { readOnlyHint: true }, _meta: { 'x.y/z': 1 } });

		// Inside, and on /v1, every schema is as the server sent it.
		const known = (await get(daemon.socket, '/v1/tools?ns=odd')).json;
		for (const { tool, inputSchema, outputSchema } of known.filter(({ tool }) => Object.hasOwn(odd, tool)))
			assert.deepEqual({ inputSchema, outputSchema }, { inputSchema: odd[tool].inputSchema, outputSchema: odd[tool].outputSchema }, tool);
	});

// Three of one name: two that differ, and a copy of the second.
const twin = (title, type) => ({ name: 'twin', title, inputSchema: { type: 'object', properties: { n: { type } } } });
const echoes = [twin('first', 'string'), twin('again', 'integer'), twin('again', 'integer')];

test('what a server lists twice is listed twice, each with a name of its own', async (t) => {
	const scratch = newScratch(t);
	const config = scratch.writeConfig({ mcpServers: { dup: scriptedServer({ tools: echoes }) } });
	const daemon = await startDaemon(scratch, { config, tcp: true, env: full });
	const isTwin = ({ title }) => ['first', 'again'].includes(title);
	const door = await httpClient(scratch, `${daemon.url}/mcp`);
	const twins = (await door.listTools()).tools.filter(isTwin);

	assert.deepEqual(twins.map(({ title, inputSchema }) => ({ name: 'twin', title, inputSchema })), echoes);
	assert.equal(twins[0].name, 'dup__twin');
	for (const { name } of twins.slice(1)) assert.match(name, /^dup__twin_[0-9a-f]{8}$/);
	assert.equal(new Set(twins.map(({ name }) => name)).size, 3);
	for (const { name } of twins) assert.equal((await door.callTool({ name, arguments: { n: 1 } })).content[0].text, '{"n":1}', name);
	const [{ repeatedTools, repeatedTool }] = (await get(daemon.socket, '/v1/status')).json.servers;
	assert.deepEqual([repeatedTools, repeatedTool], [2, 'twin']);
	assert.match((await run(scratch, ['--config', config, 'status'])).stdout, /dup lists "twin" more than once/);

	// Its name stays when it is passed through, where the first has its own.
	const alone = await stdioClient(scratch, ['--config', config, 'serve', '--passthrough', 'dup']);
	assert.deepEqual((await alone.listTools()).tools.filter(isTwin).map(({ name }) => name), ['twin', twins[1].name, twins[2].name]);
	assert.equal((await alone.callTool({ name: twins[1].name, arguments: { n: 2 } })).content[0].text, '{"n":2}');

	// In scripts, on /v1 and on the command line they are functions, each with its own schema.
	const listed = (await get(daemon.socket, '/v1/tools?ns=dup')).json.filter(isTwin);
	assert.deepEqual(listed.map(({ tool, function: name, repeats }) => [tool, name, repeats]), [['twin', 'twin', undefined], ['twin', 'twin_2', true], ['twin', 'twin_3', true]]);
	assert.match((await run(scratch, ['--config', config, 'ls'])).stdout, new RegExp(`dup +${(await door.listTools()).tools.length} +running`));
	assert.match((await run(scratch, ['--config', config, 'tools', 'dup'])).stdout, /dup\.twin *\ndup\.twin_2 *\ndup\.twin_3/);
	assert.match((await run(scratch, ['--config', config, 'tools', 'dup.twin_2'])).stdout, /^mcpx call dup\.twin_2 \[n=\.\.\.\]\n/);
	assert.match((await run(scratch, ['--config', config, 'types', 'dup.twin_2'])).stdout, /\ttwin_2\(args\?: \{ n\?: number \}/);
	assert.equal((await run(scratch, ['--config', config, 'call', 'dup.twin', 'n=3'])).stdout, '{"n":"3"}\n');
	assert.equal((await run(scratch, ['--config', config, 'call', 'dup.twin_2', 'n=3'])).stdout, '{"n":3}\n');
	const script = "return [await dup.twin({ n: 1 }), await dup.twin_3({ n: 2 }), await call('dup', 'twin_2', { n: 3 }), describe('dup.twin_2').title]";
	assert.deepEqual(JSON.parse((await run(scratch, ['--config', config, '--json', 'exec', script])).stdout).result, [{ n: 1 }, { n: 2 }, { n: 3 }, 'again']);
});

const named = (...names) => ({ tools: names.map((name) => ({ name, description: `another ${name}`, inputSchema: { type: 'object' } })) });

test('a name stands for one tool: who asks for two is told both', async (t) => {
	const scratch = newScratch(t);
	const config = scratch.writeConfig({
		mcpServers: { one: scriptedServer(), two: scriptedServer(), ours: { ...scriptedServer(named('mcpx_call')), mcpx: { tools: ['mcpx_call'] } } },
	});
	const daemon = await startDaemon(scratch, { config, tcp: true, env: { MCPX_MCP_PASSTHROUGH: 'one,two' } });
	await get(daemon.socket, '/v1/tools');

	const clash = /the servers one and two both have a tool called "echo": leave one of them out/;
	const http = await httpClient(scratch, `${daemon.url}/mcp`);
	await assert.rejects(http.listTools(), clash);
	await assert.rejects(http.callTool({ name: 'echo', arguments: {} }), clash);
	assert.equal((await http.callTool({ name: 'mcpx_health', arguments: {} })).isError, undefined);

	// At the start, when the tools are known already.
	for (const [names, problem] of [
		['one,two', clash],
		['one,nosuchserver', /mcp.passthrough \(--passthrough\): no server is called "nosuchserver"; there are: one, two, ours/],
	]) {
		const refused = await run(scratch, ['--config', config, 'serve', '--passthrough', names]);
		assert.notEqual(refused.status, 0);
		assert.match(refused.stderr, problem);
		assert.equal(refused.stdout, '');
	}

	// Ours keep their names; the other is there under its full one.
	const facade = await stdioClient(scratch, ['--config', config, 'serve', '--passthrough', 'ours']);
	const { tools } = await facade.listTools();
	assert.deepEqual(tools.filter(({ name }) => /mcpx_call/.test(name)).map(({ name }) => name), ['mcpx_call', 'ours__mcpx_call']);
	assert.match(facade.getInstructions(), /mcpx_call is the tool of mcpx; the tool of that name of the server ours is ours__mcpx_call\./);
	assert.match((await facade.callTool({ name: 'mcpx_call', arguments: {} })).content[0].text, /"namespace" is missing/);
	assert.equal((await facade.callTool({ name: 'ours__mcpx_call', arguments: { a: 1 } })).content[0].text, '{"a":1}');
});

test('clients are told what the servers say of themselves, each within its share', async (t) => {
	const scratch = newScratch(t);
	const mcpServers = {
		kind: scriptedServer({ instructions: 'Be kind.' }),
		'long-one': scriptedServer({ instructions: '\u00e9'.repeat(5000) }),
		silent: scriptedServer(),
	};
	const config = scratch.writeConfig({ mcpServers });
	const daemon = await startDaemon(scratch, { config, tcp: true, env: { ...full, MCPX_MCP_INSTRUCTIONS_MAX: '201B' } });
	await get(daemon.socket, '/v1/tools');
	const told = (await httpClient(scratch, `${daemon.url}/mcp`)).getInstructions();
	assert.equal(told, `Instructions of the server kind:\nBe kind.\n\nInstructions of the server long-one (long_one):\n${'\u00e9'.repeat(50)} [the first 100 of 10000 bytes: mcp.instructionsMax]`);

	const facade = await stdioClient(scratch, ['--config', config, 'serve', '--mode', 'code-mode']);
	assert.match(facade.getInstructions(), /^mcpx gives you/);
	assert.doesNotMatch(facade.getInstructions(), /kind/);
	const shown = await stdioClient(scratch, ['--config', config, 'serve', '--mode', 'code-mode', '--passthrough', 'kind']);
	assert.match(shown.getInstructions(), /^mcpx gives you[^]*\n\nInstructions of the server kind:\nBe kind\.$/);
});

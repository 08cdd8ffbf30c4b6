// What MCP clients see of servers that are odd, too large, or named alike: the official SDK, which judges what it is given, is the client.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDaemon } from '../lib/daemon.mjs';
import { get } from '../lib/http.mjs';
import { httpClient } from '../lib/mcp.mjs';
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

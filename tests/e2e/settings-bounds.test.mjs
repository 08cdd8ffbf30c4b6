// Every number of the daemon at its least, and every one at its most: whatever a user may write, the daemon starts, serves and ends well.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { assertNothingLeft, startDaemon } from '../lib/daemon.mjs';
import { get, post } from '../lib/http.mjs';
import { smallServer } from '../lib/servers.mjs';
import { newScratch, root } from '../lib/scratch.mjs';

const { settings } = JSON.parse(fs.readFileSync(path.join(root, 'src/settings/settings.json')));
const numbers = settings.filter(({ kind }) => ['int', 'duration', 'bytes'].includes(kind));

// MCPX_HTTP_IDLE_TIMEOUT of http.idleTimeout, as generate.py spells it.
const spelled = (name) => `MCPX_${name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+/g).join('_').toUpperCase()}`;

const initialize = {
	jsonrpc: '2.0',
	id: 1,
	method: 'initialize',
	params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bounds', version: '1' } },
};
const accept = { headers: { accept: 'application/json, text/event-stream' } };

async function servesWith(t, bound, but = {}) {
	const scratch = newScratch(t);
	const env = Object.fromEntries(numbers.map((setting) => [setting.env ?? spelled(setting.path), setting[bound]]));
	for (const [name, value] of Object.entries(but)) env[spelled(name)] = value;
	const daemon = await startDaemon(scratch, { config: { mcpServers: { small: smallServer() } }, env });
	const at = daemon.socket;
	const called = await post(at, '/v1/call', { server: 'small', tool: 'ping', args: {} });
	assert.equal(called.status, 200, called.text);
	for (const target of ['/v1/status', '/v1/tools', '/v1/servers', '/v1/settings', '/v1/artifacts', '/v1/search?query=ping'])
		assert.equal((await get(at, target)).status, 200, target);
	const opened = await post(at, '/mcp', initialize, accept);
	assert.equal(opened.status, 200, opened.text);
	const { status } = await daemon.stop();
	assert.equal(status, 0, daemon.log);
	await assertNothingLeft(scratch);
}

test('every number at its most', (t) => servesWith(t, 'max'));

// What a start is waited for is longer than its least, of which an answer can only say that it was too short. And nobody else calls: of those who wait
// there may be one.
test('every number at its least', (t) =>
	servesWith(t, 'min', { 'pool.startTimeout': '20s', 'daemon.refreshTimeout': '20s', 'catalog.wait': '20s', 'daemon.warm': 'false' }));

test('a number beyond its bounds is refused with the bound', async (t) => {
	for (const [name, value, told] of [
		['artifacts.listLimit', '9223372036854775807', /the most is 100000/],
		['catalog.maxPages', '99999999999999999999999', /is too large; the most is 100000/],
		['http.connections', '4294967296', /the most is 1000000/],
		['http.idleTimeout', '0s', /the least is 100ms/],
		['logging.lineMax', '9223372036854775807', /the most is 1MiB/],
		['json.maxDepth', '1000', /the most is 240/],
	]) {
		const scratch = newScratch(t);
		await assert.rejects(startDaemon(scratch, { env: { [spelled(name)]: value } }), told, name);
	}
});

// The two rankings, the daemon's and the one inside every script's client, are one: a model that searched before it wrote finds the same in the script.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDaemon } from '../lib/daemon.mjs';
import { get, post } from '../lib/http.mjs';
import { scriptedServer } from '../lib/servers.mjs';
import { newScratch } from '../lib/scratch.mjs';

// Small, and the same everywhere: what fails once fails again.
function numbers(seed) {
	let state = seed;
	return (below) => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
}

const verbs = ['read', 'Write', 'LIST', 'get', 'send', 'find', 'delete', 'straße', 'ΟΔΟΣ', 'ﬁnd', 'Ｒｅａｄ', 'İzmir', 'élan'];
const things = ['file', 'files', 'Mail', 'ticket', 'MESSAGE', 'note', 'STRASSE', 'οδος', 'izmir', 'ÉLAN', 'ﬂow', 'ᾼδης', 'co\u00adop', 'ᲀода'];
const words = [
	...verbs, ...things, 'a', 'the', 'of', 'in', 'every', 'Ÿ', 'ǰ', 'ŉ', 'ẞ', 'Ωmega', 'Ωmega', 'ĳs', 'e\u0301lan', '\u200bhidden', 'Ꭰ', 'ꭰ', '½', '①', 'ｶﾞ', 'ガ', 'line\u2028break',
	'no\u00a0break', 'wide\u3000space', 'ogham\u1680space', 'tab\tbed', '日本語', '🙂', 'ΐ', 'ᾳ', 'ά', 'ѴЅ', 'Ꙋ', 'ᲈ', 'ſeſſion', '𝐛𝐨𝐥𝐝', 'ẚ', 'ﬃ',
];

function catalogue(random) {
	const pick = (from) => from[random(from.length)];
	const some = (count) => Array.from({ length: count }, () => pick(words)).join(pick([' ', ', ', ' ', '\n']));
	return Array.from({ length: 150 }, (_, i) => ({
		name: `${pick(verbs)}${pick(['_', '-', ''])}${pick(things)}${random(3) ? `_${i}` : ''}`,
		...(random(8) && { description: some(random(12)) }),
		inputSchema: { type: 'object' },
	}));
}

// A word as somebody types it.
function typed(random, word) {
	const letters = [...word];
	const at = random(letters.length);
	switch (random(6)) {
		case 0:
			return word.toUpperCase();
		case 1:
			return word.toLowerCase();
		case 2:
			return word.normalize(['NFC', 'NFD', 'NFKC', 'NFKD'][random(4)]);
		case 3:
			return letters.toSpliced(at, 1).join('');
		case 4:
			return letters.slice(0, at + 1).join('');
		default:
			return word;
	}
}

test('a script finds tools in the order in which the daemon does', async (t) => {
	const random = numbers(20250601);
	const scratch = newScratch(t);
	const { socket } = await startDaemon(scratch, {
		config: { mcpServers: { first: scriptedServer({ tools: catalogue(random) }), read_mail: scriptedServer({ tools: catalogue(random) }) } },
	});
	const queries = ['', ' , ', 'read', 'read mail', 'no such thing', `${'a '.repeat(15)}file zzz`, `${'zz '.repeat(16)}read`];
	for (let i = 0; i < 300; i++)
		queries.push(Array.from({ length: 1 + random(3) }, () => typed(random, words[random(words.length)])).join([' ', ',', '\t', '\u00a0'][random(4)]));
	const brief = ({ namespace, tool, function: name, score }) => [namespace, tool, name, score];
	const expected = [];
	for (const query of queries) expected.push((await get(socket, `/v1/search?${new URLSearchParams({ q: query, limit: 50 })}`)).json.map(brief));
	assert.ok(expected.filter((hits) => hits.length).length > 200);
	for (const runtime of ['deno', 'node']) {
		const source = `const brief = ${brief}; return ${JSON.stringify(queries)}.map((query) => search(query, 50).map(brief))`;
		const { result, error } = (await post(socket, '/v1/exec', { source, options: { runtime, ns: ['first', 'read_mail'] } })).json;
		assert.equal(error, undefined);
		for (const [i, query] of queries.entries()) assert.deepEqual(result[i], expected[i], `${runtime}: ${JSON.stringify(query)}`);
	}
});

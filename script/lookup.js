// What the catalogue says of tools, without asking anybody: it is a part of this module, and parsed when it is first looked at.
const byName = new Map(); // namespace or server name -> { namespace, server, tools }
for (const [namespace, server, tools] of $index) {
	const entry = { namespace, server, tools: new Map() };
	for (const [position, [name, tool, hint]] of tools.entries()) {
		const found = { server, namespace, tool, function: name, position, ...(hint && { destructiveHint: hint === 2 }) };
		if (!entry.tools.has(tool)) entry.tools.set(tool, found);
		if (!entry.tools.has(name)) entry.tools.set(name, found);
	}
	byName.set(namespace, entry);
	if (!byName.has(server)) byName.set(server, entry);
}

const findTool = (server, tool) => byName.get(String(server))?.tools.get(String(tool));

let details;
function detail({ namespace, server, tool, function: name, position }) {
	details ??= new Map(JSON.parse($details));
	return { namespace, server, tool, function: name, ...details.get(namespace)[position] };
}

function describe(path) {
	const dot = String(path).indexOf('.');
	const [server, tool] = dot < 0 ? [String(path), ''] : [path.slice(0, dot), path.slice(dot + 1)];
	const entry = byName.get(server);
	if (!entry) throw new Error(`describe: there is no namespace ${stringify(server)}; there are ${[...byName.keys()].join(', ') || 'none'}`);
	const found = entry.tools.get(tool);
	if (!found) throw new Error(`describe: ${missing(entry, tool)}`);
	return detail(found);
}

function missing(entry, tool) {
	if (!entry.tools.size) return `${entry.namespace} has no tools, or all of them are hidden by the configuration`;
	const near = entry.tools.get(nearest(tool, entry.tools.keys()))?.function;
	const names = [...new Set([...entry.tools.values()].map((found) => found.function))];
	return `${entry.namespace} has no tool ${stringify(tool)}; ${near ? `did you mean ${near}?` : `it has ${names.join(', ')}`}`;
}

const QUERY_WORDS_MAX = 16; // more say nothing new

// What looks the same and differs in case only becomes the same, as in the daemon (text/normal.h): NFKC_Casefold of Unicode, of which toLowerCase() lacks a few.
function fold(text) {
	if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
	return text
		.normalize('NFKD')
		.replace(/\p{Default_Ignorable_Code_Point}/gu, '')
		.replaceAll('\u0345', 'ι')
		.replace(/[ᲀ-ᲈ]/g, (letter) => letter.toUpperCase())
		.toLowerCase()
		.replaceAll('ß', 'ss')
		.replaceAll('ς', 'σ')
		.normalize('NFKC');
}

// Ranks as GET /v1/search does: a name is what people mean, a description only a hint; every word counts before some words.
function search(query, limit = 20) {
	const words = fold(String(query)).split(/[ \t\n\r,]+/).filter(Boolean).slice(0, QUERY_WORDS_MAX);
	const hits = [];
	for (const [namespace, server, listed] of $index)
		for (const [position, [name, original]] of listed.entries()) {
			const tool = detail({ namespace, server, tool: original, function: name, position });
			const folded = [original, name, namespace, tool.description ?? ''].map(fold);
			const scores = words.map((word) => scoreWord(word, ...folded));
			const matched = scores.filter(Boolean).length;
			if (matched || !words.length)
				hits.push({ every: matched === words.length, tool: { ...tool, score: scores.reduce((sum, score) => sum + score, 0) } });
		}
	hits.sort((a, b) => b.every - a.every || b.tool.score - a.tool.score);
	return hits.slice(0, limit).map(({ tool }) => tool);
}

function scoreWord(word, name, functionName, namespace, description) {
	const byTool = name === word ? 100 : name.startsWith(word) ? 60 : name.includes(word) ? 40 : functionName.includes(word) ? 30 : 0;
	return byTool + (namespace.includes(word) ? 20 : 0) + (description.includes(word) ? 10 : 0);
}

// A tour of what a script can do: every configured server is an object here, every tool a function.
// Run it with: mcpx run demo/tour.ts

export default async function tour() {
	const began = performance.now();

	// Find out what there is, without a single call to a server.
	const found = search('read text file', 3);
	emit({ found: found.map((tool) => `${tool.namespace}.${tool.function}`) });

	// Read a file of this repository through the filesystem server.
	const readme = await files.read_text_file({ path: 'README.md' });
	const text = String(readme.content ?? readme);
	const lines = text.trimEnd().split('\n').length;
	emit({ readme: { lines, title: text.split('\n')[0] } });

	// A long-running tool, with its progress.
	const onProgress = (p) => log.info('step {step} of {steps}', { step: p.progress, steps: p.total });
	await call('everything', 'trigger-long-running-operation', { duration: 1, steps: 4 }, { onProgress });

	// An image: its bytes never pass through anybody's context, only a link to them does.
	const image = await everything.get_tiny_image();
	const kept = await artifact('tiny.png', image);
	log.info('kept {name}', { name: kept.name, bytes: kept.size });

	return { tools: found.length, lines, artifact: kept.id, sha256: kept.sha256, ms: Math.round(performance.now() - began) };
}

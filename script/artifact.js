// artifact(name, data): hands bytes to the store. The script never asks where it runs: a path is named where the daemon sees the same files, and its
// bytes are sent where it does not.
const accepted = 'a string, a Uint8Array, an ArrayBuffer, { path }, an image, audio or resource block, or a tool result';

// node's Buffer passes over whatever is no base64, and its bytes would be others than deno's.
function decodeBase64(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
	const characters = atob(text); // one for each byte
	const bytes = new Uint8Array(characters.length);
	for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
	return bytes;
}

function fromBase64(text, what) {
	try {
		return decodeBase64(text);
	} catch {
		throw new TypeError(`the ${what} has data that is no base64`);
	}
}

// The bytes in one content block of MCP; undefined when it has none.
function blockBytes(block) {
	if (block === null || typeof block !== 'object') return undefined;
	if ((block.type === 'image' || block.type === 'audio') && typeof block.data === 'string')
		return { bytes: fromBase64(block.data, block.type), mime: block.mimeType };
	const resource = block.type === 'resource' ? block.resource : block;
	if (typeof resource?.uri !== 'string') return undefined;
	if (typeof resource.blob === 'string') return { bytes: fromBase64(resource.blob, 'resource'), mime: resource.mimeType };
	if (typeof resource.text === 'string') return { bytes: encoder.encode(resource.text), mime: resource.mimeType };
	return undefined;
}

function artifactBytes(name, data) {
	if (data instanceof Uint8Array) return { bytes: data };
	if (data instanceof ArrayBuffer) return { bytes: new Uint8Array(data) };
	if (ArrayBuffer.isView(data)) return { bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
	const raw = data !== null && typeof data === 'object' ? envelopes.get(data) ?? data.raw : undefined;
	for (const block of Array.isArray(raw?.content) ? raw.content : []) {
		const found = block?.type === 'text' ? undefined : blockBytes(block);
		if (found) return found;
	}
	if (typeof data === 'string' || data instanceof String)
		return { bytes: encoder.encode(String(data)), ...(/\.\w+$/.test(name) || { mime: 'text/plain; charset=utf-8' }) };
	const found = blockBytes(data);
	if (found) return found;
	if (raw) return { bytes: encoder.encode(JSON.stringify(data, replace, 2)), mime: 'application/json' };
	throw new TypeError(`artifact(${stringify(name)}, ...) takes ${accepted}; it got ${asText(data)?.slice(0, 100)}`);
}

// As many bytes as were announced, also of a file that grows meanwhile: what came behind them would be taken for the next request.
async function* filePieces(file, length) {
	const room = new Uint8Array(CHUNK);
	for (let left = length, count; left > 0; left -= count) {
		count = await file.read(room.subarray(0, Math.min(left, CHUNK)));
		if (!count) throw new Error('the file became shorter while it was read');
		yield room.subarray(0, count);
	}
}

async function artifactFile(path, post) {
	const absolute = path.startsWith('/') ? path : `${host.cwd()}/${path}`;
	if (host.env('MCPX_ARTIFACTS_LOCAL') === '1' && isFieldValue(absolute))
		return post({ 'X-Mcpx-Path': absolute }, new Uint8Array(0));
	const file = await host.open(absolute);
	try {
		const { size } = await file.stat();
		return await post({}, { length: size, pieces: filePieces(file, size) });
	} finally {
		file.close();
	}
}

async function artifact(name, data) {
	if (typeof name !== 'string') throw new TypeError('artifact(name, data): the name is a string, such as "report.pdf"');
	const post = async (headers, body, mime) => {
		const dir = host.env('MCPX_ARTIFACTS_DIR');
		// U+0000 is no part of a URL here, and becomes what it becomes in the name of an artifact all the same.
		const query = new URLSearchParams({ name: name.replaceAll('\0', '_'), ...(mime && { mime }), ...(dir && { dir }) });
		const { status, answer } = await requestJson('POST', `/v1/artifacts?${query}`, headers, body);
		if (status !== 201) throw new Error(`artifact ${stringify(name)} was not stored: ${answer.error ?? `status ${status}`}`);
		record('artifact', answer);
		return answer;
	};
	const named = data !== null && typeof data === 'object' && !ArrayBuffer.isView(data) && !envelopes.has(data) && typeof data.path === 'string';
	if (named) return artifactFile(data.path, post);
	const { bytes, mime } = artifactBytes(name, data);
	return post({}, bytes, mime);
}

// HTTP/1.1 to the daemon over its unix socket, with connections that are used again. fetch() cannot reach a unix socket in either runtime without
// flags that may change, and costs more to load than this.
const CONNECTIONS_MAX = 32; // at once; further requests wait for one
const REUSE_MS = 1000; // A connection that was idle for longer may be closing on the other side: a new one is cheap.
const CHUNK = 65536;

const idle = [];
const waiting = [];
let open = 0;
let finished = false;

class Connection {
	constructor(io) {
		this.io = io;
		this.room = new Uint8Array(CHUNK);
		this.rest = this.room.subarray(0, 0);
		this.usedAt = 0;
		this.broken = false; // no more can be written
	}

	// False when it cannot be: the daemon may have refused a request of which it had the begin, and its answer says why.
	async write(bytes) {
		try {
			while (bytes.length) bytes = bytes.subarray(await this.io.write(bytes));
		} catch {
			this.broken = true;
		}
		return !this.broken;
	}

	async read(room, missing) {
		const count = await this.io.read(room).catch(() => 0);
		if (!count) throw new Error(`the daemon ended ${missing}`);
		return count;
	}

	// More of the answer, behind what was not used yet.
	async more() {
		const kept = this.rest;
		if (kept.length === this.room.length) {
			const larger = new Uint8Array(this.room.length * 2);
			larger.set(kept);
			this.room = larger;
		} else if (kept.length) {
			this.room.copyWithin(0, kept.byteOffset - this.room.byteOffset, kept.byteOffset - this.room.byteOffset + kept.length);
		}
		const count = await this.read(this.room.subarray(kept.length), 'before it answered');
		this.rest = this.room.subarray(0, kept.length + count);
	}

	async head() {
		for (let from = 0; ; ) {
			for (; from + 3 < this.rest.length; from++)
				if (this.rest[from] === 13 && this.rest[from + 1] === 10 && this.rest[from + 2] === 13 && this.rest[from + 3] === 10) {
					const text = decoder.decode(this.rest.subarray(0, from));
					this.rest = this.rest.subarray(from + 4);
					return parseHead(text);
				}
			await this.more();
		}
	}

	async line() {
		for (let from = 0; ; ) {
			for (; from + 1 < this.rest.length; from++)
				if (this.rest[from] === 13 && this.rest[from + 1] === 10) {
					const text = decoder.decode(this.rest.subarray(0, from));
					this.rest = this.rest.subarray(from + 2);
					return text;
				}
			await this.more();
		}
	}

	async exactly(length) {
		const bytes = new Uint8Array(length);
		const first = Math.min(length, this.rest.length);
		bytes.set(this.rest.subarray(0, first));
		this.rest = this.rest.subarray(first);
		for (let at = first; at < length; ) at += await this.read(bytes.subarray(at), 'in the middle of its answer');
		return bytes;
	}

	// `heard` gets each piece as it comes.
	async chunks(heard) {
		const parts = [];
		for (;;) {
			const length = Number.parseInt(await this.line(), 16);
			if (!length) break;
			parts.push(await this.exactly(length));
			heard?.(parts.at(-1));
			await this.line();
		}
		while (await this.line()); // trailers
		const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
		let at = 0;
		for (const part of parts) {
			whole.set(part, at);
			at += part.length;
		}
		return whole;
	}
}

function parseHead(text) {
	const [first, ...lines] = text.split('\r\n');
	const headers = new Map(lines.map((line) => {
		const colon = line.indexOf(':');
		return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
	}));
	return { status: Number(first.split(' ')[1]), headers };
}

async function acquire() {
	while (idle.length) {
		const connection = idle.pop();
		if (performance.now() - connection.usedAt < REUSE_MS) {
			connection.io.hold(true);
			return connection;
		}
		discard(connection);
	}
	if (open >= CONNECTIONS_MAX) return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
	open++;
	try {
		return await connect();
	} catch (error) {
		open--;
		for (const { reject } of waiting.splice(0)) reject(error); // there may be no connection left whose end would wake them
		throw error;
	}
}

// No byte of the request was sent.
class Unreachable extends Error {}

async function connect() {
	const path = host.env('MCPX_SOCKET');
	if (!path) throw new Unreachable('MCPX_SOCKET is not set, so the daemon cannot be found: run the script with `mcpx run`');
	try {
		return new Connection(await host.connect(path));
	} catch (error) {
		throw new Unreachable(`the daemon does not answer at ${path}, and any mcpx command starts one: ${error.message}`);
	}
}

function giveBack(connection) {
	connection.usedAt = performance.now();
	if (waiting.length) waiting.shift().resolve(connection);
	else if (finished) discard(connection);
	else {
		connection.io.hold(false); // it must not keep a runtime alive that has nothing else to do
		idle.push(connection);
	}
}

function discard(connection) {
	connection.io.close();
	open--;
	if (waiting.length) {
		const { resolve, reject } = waiting.shift();
		acquire().then(resolve, reject);
	}
}

// The script is over: connections must not keep the runtime alive.
function closeConnections() {
	finished = true;
	for (const connection of idle.splice(0)) discard(connection);
}

// `body` is bytes, or { length, pieces } with an async iterator of bytes. Gives { status, bytes }. `heard` gets the pieces of an answer that is a stream.
async function request(method, path, headers, body, heard) {
	const connection = await acquire();
	try {
		const fields = Object.entries({ Host: 'localhost', ...headers, 'Content-Length': body.length });
		const head = encoder.encode(`${method} ${path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
		if (body.pieces) {
			await connection.write(head);
			for await (const piece of body.pieces) if (!(await connection.write(piece))) break;
		} else {
			const message = new Uint8Array(head.length + body.length);
			message.set(head);
			message.set(body, head.length);
			await connection.write(message);
		}
		let answer;
		do answer = await connection.head();
		while (answer.status < 200);
		const { status, headers: fieldsOf } = answer;
		const bytes = /chunked/i.test(fieldsOf.get('transfer-encoding') ?? '')
			? await connection.chunks(heard)
			: await connection.exactly(Number(fieldsOf.get('content-length') ?? 0));
		if (connection.broken || /close/i.test(fieldsOf.get('connection') ?? '')) discard(connection);
		else giveBack(connection);
		return { status, bytes };
	} catch (error) {
		discard(connection);
		throw error;
	}
}

// What can stand in a header as it is.
const isFieldValue = (text) => !/[\0-\x1f\x7f]|^\s|\s$/.test(text);

// Says who asks: which instances of a server are used depends on it. A run whose caller is nowhere has an empty MCPX_CWD; a saved client that runs by
// itself has none, and is where it is.
function callerHeaders() {
	const caller = {
		'X-Mcpx-Run': host.env('MCPX_RUN'),
		'X-Mcpx-Session': host.env('MCPX_SESSION_ID'),
		'X-Mcpx-Parent-Session': host.env('MCPX_PARENT_SESSION_ID'),
		'X-Mcpx-Cwd': host.env('MCPX_CWD') ?? host.cwd(),
	};
	const headers = { 'X-Mcpx-Pid': host.env('MCPX_PID') || host.pid };
	for (const [field, value] of Object.entries(caller)) if (value && isFieldValue(value)) headers[field] = value;
	return headers;
}

async function requestJson(method, path, headers, body, heard) {
	const { status, bytes } = await request(method, path, { ...callerHeaders(), ...headers }, body, heard);
	try {
		return { status, answer: JSON.parse(decoder.decode(bytes)) };
	} catch {
		return { status, answer: { error: `the daemon answered with status ${status} and no JSON` } };
	}
}

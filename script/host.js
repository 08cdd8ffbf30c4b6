// What differs between deno and node, and nothing else does. What scripts might replace on globalThis is taken first. Looking at `process` costs
// deno some 13 ms and looking at `setTimeout` some 6, because it then loads what it has of node: one is left alone, the other looked at in need.
const { Atomics, Deno, Int32Array, SharedArrayBuffer, TextDecoder, TextEncoder, URLSearchParams, atob, decodeURIComponent, performance, queueMicrotask } = globalThis;
const JSON = { parse: globalThis.JSON.parse, stringify: globalThis.JSON.stringify }; // the object itself is open to scripts
const process = Deno ? undefined : globalThis.process;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const builtin = (name) => process.getBuiltinModule(`node:${name}`);

const host = Deno
	? {
			env: (name) => Deno.env.get(name),
			args: () => [...Deno.args],
			cwd: () => Deno.cwd(),
			entryUrl: () => Deno.mainModule,
			pid: Deno.pid,
			write: (bytes) => Deno.stderr.writeSync(bytes),
			exit: (code) => Deno.exit(code),
			inspect: (value) => Deno.inspect(value),
			open: (path) => Deno.open(path),
			onFatal(fatal) {
				for (const [event, member] of [['error', 'error'], ['unhandledrejection', 'reason']])
					globalThis.addEventListener(event, (happened) => {
						happened.preventDefault();
						fatal(happened[member]);
					});
			},
			onIdle: (idle) => globalThis.addEventListener('beforeunload', idle),
			async connect(path) {
				const connection = await Deno.connect({ transport: 'unix', path });
				return {
					read: (room) => connection.read(room),
					write: (bytes) => connection.write(bytes),
					close: () => connection.close(),
					hold() {}, // only what is being read or written keeps deno alive
				};
			},
		}
	: {
			env: (name) => process.env[name],
			args: () => process.argv.slice(2),
			cwd: () => process.cwd(),
			entryUrl: () => String(builtin('url').pathToFileURL(process.env.MCPX_ENTRY ?? process.argv[1])),
			pid: process.pid,
			write(bytes) {
				try {
					return builtin('fs').writeSync(2, bytes);
				} catch (error) {
					// The reader is slow and the pipe does not block: node has no other way to wait for it.
					if (error.code !== 'EAGAIN') throw error;
					Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
					return 0;
				}
			},
			exit: (code) => process.exit(code),
			inspect: (value) => builtin('util').inspect(value),
			async open(path) {
				const file = await builtin('fs').promises.open(path);
				return {
					stat: () => file.stat(),
					read: async (room) => (await file.read(room, 0, room.length)).bytesRead || null,
					close: () => void file.close(),
				};
			},
			onFatal: (fatal) => process.on('uncaughtException', fatal),
			onIdle: (idle) => process.on('beforeExit', idle),
			connect: (path) => connectNode(path),
		};

// A node socket as something to read from when one wants to, and not when it likes.
function connectNode(path) {
	return new Promise((resolve, reject) => {
		const socket = builtin('net').connect(path);
		let arrived = null;
		let failure = null;
		let ended = false;
		let wake = () => {};
		const settle = (change) => (value) => {
			change(value);
			wake();
		};
		socket.on('error', settle((error) => (failure = error)));
		socket.on('error', reject);
		socket.on('close', settle(() => (ended = true)));
		socket.on('end', settle(() => (ended = true)));
		socket.on('data', settle((chunk) => {
			arrived = chunk;
			socket.pause();
		}));
		socket.on('connect', () =>
			resolve({
				async read(room) {
					while (!arrived) {
						if (failure) throw failure;
						if (ended) return null;
						socket.resume();
						await new Promise((resume) => (wake = resume));
					}
					const count = Math.min(room.length, arrived.length);
					room.set(arrived.subarray(0, count));
					arrived = count < arrived.length ? arrived.subarray(count) : null;
					return count;
				},
				write: (bytes) =>
					new Promise((written, failed) => socket.write(bytes, (error) => (error ? failed(error) : written(bytes.length)))),
				close: () => socket.destroy(),
				hold: (held) => (held ? socket.ref() : socket.unref()),
			}));
	});
}

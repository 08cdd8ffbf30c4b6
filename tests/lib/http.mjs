// HTTP as a program speaks it, and as a hostile peer does. An address is the path of a unix socket, or a port of loopback.
import http from 'node:http';
import net from 'node:net';

const options = (address) => (typeof address === 'string' ? { socketPath: address } : { host: '127.0.0.1', port: address });

// One request with node's client: { status, headers, body (Buffer), text, json }.
export function request(address, method, target, { headers = {}, body } = {}) {
	return new Promise((resolve, reject) => {
		const sent = body !== undefined && typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : body;
		const fields = typeof body === 'object' && !Buffer.isBuffer(body) ? { 'content-type': 'application/json' } : {};
		const message = http.request({ ...options(address), method, path: target, agent: false, headers: { host: 'localhost', ...fields, ...headers } });
		message.on('error', reject);
		// node forgets the socket when the answer is complete, which may be before the request is.
		message.on('socket', (socket) => socket.on('error', reject));
		message.on('response', async (response) => {
			const chunks = [];
			try {
				for await (const chunk of response) chunks.push(chunk);
			} catch (error) {
				return reject(error);
			}
			const content = Buffer.concat(chunks);
			resolve({
				status: response.statusCode,
				headers: response.headers,
				body: content,
				get text() {
					return content.toString('utf8');
				},
				get json() {
					return JSON.parse(content.toString('utf8'));
				},
			});
		});
		message.end(sent);
	});
}

export const get = (address, target, more) => request(address, 'GET', target, more);
export const post = (address, target, body, more) => request(address, 'POST', target, { ...more, body });

// What a request to /mcp was answered with: the whole body, or the last event of a stream, which an answer becomes that takes its time.
export const rpcAnswer = ({ text }) => JSON.parse(text.split('data: ').at(-1));

// Sends bytes as they are and reads until the peer closes, or until `until(text)` is true: what it sent.
export function exchange(address, bytes, { until = () => false, timeout = 10_000 } = {}) {
	return new Promise((resolve, reject) => {
		const socket = typeof address === 'string' ? net.connect(address) : net.connect(address, '127.0.0.1');
		let text = '';
		const timer = setTimeout(() => {
			socket.destroy();
			reject(new Error(`no end after ${timeout} ms; so far: ${JSON.stringify(text)}`));
		}, timeout);
		const finish = () => {
			clearTimeout(timer);
			socket.destroy();
			resolve(text);
		};
		socket.setEncoding('latin1');
		socket.on('data', (data) => {
			text += data;
			if (until(text)) finish();
		});
		socket.on('end', finish);
		socket.on('close', finish);
		socket.on('error', (error) => (error.code === 'ECONNRESET' || error.code === 'EPIPE' ? finish() : reject(error)));
		socket.write(bytes);
	});
}

// Opens a stream of server-sent events: an async iterator of { event, data, id }, with close().
export async function events(address, target, { method = 'GET', headers = {}, body } = {}) {
	const response = await new Promise((resolve, reject) => {
		const message = http.request({
			...options(address),
			method,
			path: target,
			agent: false,
			headers: { host: 'localhost', accept: 'text/event-stream', ...headers },
		});
		message.on('error', reject);
		message.on('response', resolve);
		message.end(body);
	});
	response.setEncoding('utf8');
	return {
		status: response.statusCode,
		headers: response.headers,
		close: () => response.destroy(),
		async *[Symbol.asyncIterator]() {
			let rest = '';
			for await (const chunk of response) {
				rest += chunk;
				for (let end; (end = rest.indexOf('\n\n')) >= 0; rest = rest.slice(end + 2)) {
					const event = { event: 'message', data: '', id: null };
					for (const line of rest.slice(0, end).split('\n')) {
						const [, field, value] = /^(\w*):? ?(.*)$/.exec(line) ?? [];
						if (field === 'data') event.data += (event.data && '\n') + value;
						else if (field) event[field] = value;
					}
					yield event;
				}
			}
		},
	};
}

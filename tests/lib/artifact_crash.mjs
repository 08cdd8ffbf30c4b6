// kill -9 of the daemon at random moments while clients upload, and what must be true after each start:
//   every acknowledged artifact is there, whole; everything that is listed is whole; nothing partial is on the disk; the quota counts exactly the distinct
//   bodies that are there. `artifactCrashTrial` throws when it is not.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { startDaemon } from './daemon.mjs';
import { get, request } from './http.mjs';

const clients = 8;
const bodies = 400; // distinct ones: few enough that some are uploaded again while they are there
const largest = 300_000;
const quota = 4 << 20; // far less than all of them together: some are refused
const settings = {
	MCPX_ARTIFACTS_QUOTA: String(quota),
	MCPX_ARTIFACTS_LIST_LIMIT: '100000',
	MCPX_HTTP_LINGER: '1m', // a client that is refused early may be slow to hear of it on a busy machine
};

const sha256 = (bytes) => crypto.createHash('sha256').update(bytes).digest('hex');

// Mulberry32: dice that fall the same way for the same seed. What the kernel and the daemon do in between does not.
function dice(seed) {
	let state = seed >>> 0;
	return (sides) => {
		state = (state + 0x6d2b79f5) >>> 0;
		let x = Math.imul(state ^ (state >>> 15), state | 1);
		x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
		return Math.floor((((x ^ (x >>> 14)) >>> 0) / 2 ** 32) * sides);
	};
}

function bodyOf(which) {
	const roll = dice(which);
	const bytes = Buffer.alloc(roll(largest));
	for (let at = 0; at + 4 <= bytes.length; at += 4) bytes.writeUInt32LE(roll(2 ** 32), at);
	return bytes;
}

class Trial {
	constructor(scratch, seed) {
		Object.assign(this, { scratch, roll: dice(seed), kept: new Map(), doubtful: new Set() });
		Object.assign(this, { kills: 0, acknowledged: 0, refused: 0, deleted: 0, unacknowledged: 0 });
	}

	async upload(at, client) {
		const body = bodyOf(this.roll(bodies));
		const file = this.roll(4) === 0 ? this.scratch.write(`upload-${client}`, body) : null;
		const answer = await request(at, 'POST', '/v1/artifacts?name=body', file ? { headers: { 'x-mcpx-path': file } } : { body });
		if (answer.status === 413) {
			this.refused++;
			return;
		}
		assert.equal(answer.status, 201, answer.text);
		const { id, size, sha256: hash } = answer.json;
		assert.deepEqual([size, hash], [body.length, sha256(body)]);
		this.kept.set(id, { size, hash });
		this.acknowledged++;
	}

	async remove(at) {
		const ids = [...this.kept.keys()];
		if (!ids.length) return;
		const id = ids[this.roll(ids.length)];
		this.kept.delete(id);
		this.doubtful.add(id);
		assert.equal((await request(at, 'DELETE', `/v1/artifacts/${id}`)).status, 200);
		this.doubtful.delete(id);
		this.deleted++;
	}

	async client(at, alive, client) {
		while (alive.now) {
			try {
				await (this.roll(3) === 0 ? this.remove(at) : this.upload(at, client));
			} catch (error) {
				// After the kill every request fails, and that is all.
				if (alive.now || error.code === 'ERR_ASSERTION') throw error;
			}
		}
	}

	// Lets clients work for a random while, and kills the daemon under their hands.
	async round(daemon) {
		const alive = { now: true };
		const working = Array.from({ length: clients }, (_, client) => this.client(daemon.socket, alive, client));
		const over = Promise.all(working);
		const enough = this.acknowledged + this.roll(25);
		const moment = async () => {
			while (this.acknowledged < enough) await new Promise((resolve) => setTimeout(resolve, 1));
			await new Promise((resolve) => setTimeout(resolve, this.roll(10)));
		};
		await Promise.race([over, moment()]);
		alive.now = false;
		await daemon.kill();
		this.kills++;
		await over;
	}

	blobs() {
		const store = path.join(this.scratch.state, 'artifacts');
		const names = fs.readdirSync(path.join(store, 'blobs'), { recursive: true }).filter((name) => name.includes(path.sep));
		return { hashes: names.map((name) => name.replaceAll(path.sep, '')).sort(), temporary: fs.readdirSync(path.join(store, 'tmp')) };
	}

	async check(daemon) {
		const listed = (await get(daemon.socket, '/v1/artifacts?limit=100000')).json.artifacts;
		const ids = new Set(listed.map(({ id }) => id));
		for (const id of this.kept.keys()) assert.ok(ids.has(id), `the acknowledged ${id} is gone`);
		const sizes = new Map();
		for (const { id, size, sha256: hash } of listed) {
			const { status, body } = await get(daemon.socket, `/v1/artifacts/${id}`);
			assert.equal(status, 200);
			assert.deepEqual([body.length, sha256(body)], [size, hash], `${id} is not whole`);
			const expected = this.kept.get(id);
			if (expected) assert.deepEqual({ size, hash }, expected);
			else if (!this.doubtful.has(id)) this.unacknowledged++;
			this.kept.set(id, { size, hash });
			sizes.set(hash, size);
		}
		this.doubtful.clear();
		const distinct = [...sizes.values()].reduce((sum, size) => sum + size, 0);
		const usage = (await get(daemon.socket, '/v1/status')).json.artifacts;
		assert.deepEqual(usage, { count: listed.length, bytes: distinct, quota });
		assert.ok(distinct <= quota);
		// Bodies that no row counts are removed behind the start.
		for (let tries = 0; this.blobs().hashes.length !== sizes.size && tries < 1000; tries++) await new Promise((resolve) => setTimeout(resolve, 5));
		assert.deepEqual(this.blobs(), { hashes: [...sizes.keys()].sort(), temporary: [] }, 'what is on the disk');
	}
}

// Uploads until `uploads` were acknowledged: { kills, acknowledged, refused, deleted, unacknowledged }.
export async function artifactCrashTrial(scratch, { seed, uploads }) {
	const trial = new Trial(scratch, seed);
	let daemon = await startDaemon(scratch, { config: {}, env: settings });
	do {
		await trial.round(daemon);
		daemon = await startDaemon(scratch, { config: {}, env: settings });
		await trial.check(daemon);
	} while (trial.acknowledged < uploads);
	await daemon.stop();
	return trial;
}

// A scratch home for one test: its own HOME, state and cache directories, and the promise that nothing outlives it.
//
//   const scratch = newScratch(t);
//   const config = scratch.writeConfig({ mcpServers: { echo: echoServer() } });
//   const daemon = await startDaemon(scratch, { config });
//
// When the test ends, every process that came from the scratch home is named and killed, and the test fails for it: an
// environment, a working directory or an argument inside the home gives it away, also after a double fork.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');
export const programs = process.env.MCPX_BIN ?? path.join(root, 'build/bin');
export const mcpx = path.join(programs, 'mcpx');

// Whether the programs under test have AddressSanitizer in them: then everything takes its time.
export const sanitized = fs.existsSync(mcpx) && fs.readFileSync(mcpx).includes('__asan_init');

// What a test needs beyond the repository; a test that lacks it skips, and says what for.
export const shared = path.resolve(root, '../shared');
export const needsShared = fs.existsSync(shared) ? false : 'needs ../shared, which is not part of this repository';

class Scratch {
	constructor(home) {
		this.home = home;
		this.state = path.join(home, 'state');
		this.cache = path.join(home, 'cache');
		// Programs with sanitizers must find a leak at exit and say so in their exit status.
		this.env = {
			PATH: `${path.join(root, 'node_modules/.bin')}:${process.env.PATH}`,
			HOME: home,
			TMPDIR: path.join(home, 'tmp'),
			LANG: 'C.UTF-8',
			NO_COLOR: '1',
			MCPX_STATE_DIR: this.state,
			MCPX_CACHE_DIR: this.cache,
			ASAN_OPTIONS: 'detect_leaks=1:abort_on_error=1',
			UBSAN_OPTIONS: 'halt_on_error=1:print_stacktrace=1',
		};
		this.ends = [];
		fs.mkdirSync(this.env.TMPDIR);
	}

	// Calls `end` when the test ends, before the home is looked over; the last one first.
	atEnd(end) {
		this.ends.unshift(end);
	}

	path(...parts) {
		return path.join(this.home, ...parts);
	}

	// Writes `content` (text, bytes, or anything JSON can say) to a file of the home; returns its path.
	write(name, content) {
		const file = this.path(name);
		fs.mkdirSync(path.dirname(file), { recursive: true });
		const raw = typeof content === 'string' || Buffer.isBuffer(content);
		fs.writeFileSync(file, raw ? content : JSON.stringify(content, null, 2));
		return file;
	}

	writeConfig(config, name = 'config.json') {
		return this.write(name, config);
	}

	// The processes that came from this home: [{ pid, command }].
	processes() {
		return processesOf(this.home);
	}

	// Files below the home that match: paths relative to it.
	files(pattern = /./) {
		return fs
			.readdirSync(this.home, { recursive: true, withFileTypes: true })
			.filter((entry) => !entry.isDirectory())
			.map((entry) => path.relative(this.home, path.join(entry.parentPath, entry.name)))
			.filter((name) => pattern.test(name))
			.sort();
	}
}

// A daemon listens below its home, and the path of a socket has 107 bytes.
const place = Buffer.byteLength(os.tmpdir()) > 40 ? '/tmp' : os.tmpdir();

export function newScratch(t) {
	const scratch = new Scratch(fs.mkdtempSync(path.join(place, 'mcpx-e2e-')));
	t.after(async () => {
		for (const end of scratch.ends) await end();
		const left = await processesAfter(scratch, 2000);
		for (const { pid } of left) {
			try {
				process.kill(pid, 'SIGKILL');
			} catch {
				// It went by itself meanwhile.
			}
		}
		fs.rmSync(scratch.home, { recursive: true, force: true, maxRetries: 5 });
		assert.deepEqual(left, [], 'processes outlived the test');
	});
	return scratch;
}

// Waits until no process of the home is left or `ms` have passed; returns those that are.
export async function processesAfter(scratch, ms) {
	const deadline = Date.now() + ms;
	for (;;) {
		const left = scratch.processes();
		if (!left.length || Date.now() > deadline) return left;
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
}

function processesOf(home) {
	const found = [];
	for (const pid of fs.readdirSync('/proc')) {
		if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
		try {
			const command = fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
			const environment = fs.readFileSync(`/proc/${pid}/environ`, 'latin1');
			const directory = fs.readlinkSync(`/proc/${pid}/cwd`);
			if (environment.includes(home) || command.includes(home) || directory.startsWith(home))
				found.push({ pid: Number(pid), command });
		} catch {
			// It ended while we looked, or is a zombie, or is not ours to look at.
		}
	}
	return found;
}

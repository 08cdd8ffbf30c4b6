// What the command line costs, from its start to its end, beside what every other way of doing it would have to pay: starting node, and
// starting deno. Exits 1 when a figure misses its bar.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { startDaemon } from '../tests/lib/daemon.mjs';
import { mcpx, newScratch, root } from '../tests/lib/scratch.mjs';

const rounds = 60;
const built = path.join(root, 'build/bench/bench');
const timeCommands = path.join(built, 'time_commands');
const ends = [];
const scratch = newScratch({ after: (end) => ends.push(end) });

// [name, command, bar in milliseconds: a number, or the name of another row and what may be added to it]
function rows(config) {
	const configured = ['--config', config];
	return [
		['node -e 0', ['node', '-e', '0']],
		['mcpx --version', [mcpx, '--version'], 2],
		['mcpx call, warm daemon', [mcpx, ...configured, 'call', 'echo.echo', 'text=hello'], 6],
		['deno run, console.log(1)', ['deno', 'run', '--quiet', scratch.write('one.ts', 'console.log(1);\n')]],
		["mcpx exec 'return 1'", [mcpx, ...configured, 'exec', 'return 1'], ['deno run, console.log(1)', 8]],
	];
}

function measure(subjects) {
	const words = subjects.flatMap(([, command], at) => [...(at ? ['--'] : []), ...command]);
	const run = (times) => execFileSync(timeCommands, [String(times), ...words], { cwd: scratch.home, env: scratch.env, encoding: 'utf8' });
	run(3); // caches, and the first start of everything
	return run(rounds).trim().split('\n').map((line) => line.split(' ').map(Number));
}

let missed = false;
try {
	const config = scratch.writeConfig({ mcpServers: { echo: { command: path.join(built, 'echo_server') } } });
	await startDaemon(scratch, { config });
	const subjects = rows(config);
	const figures = measure(subjects);
	const p50 = Object.fromEntries(subjects.map(([name], at) => [name, figures[at][0]]));
	console.log(`${'milliseconds'.padEnd(28)} ${'p50'.padStart(8)} ${'p90'.padStart(8)} ${'least'.padStart(8)}   bar for p50`);
	subjects.forEach(([name, , bar], at) => {
		const most = Array.isArray(bar) ? p50[bar[0]] + bar[1] : bar;
		const held = most === undefined || figures[at][0] <= most;
		missed ||= !held;
		const numbers = figures[at].map((ms) => ms.toFixed(1).padStart(8)).join(' ');
		console.log(`${name.padEnd(28)} ${numbers}   ${most === undefined ? '' : `${most.toFixed(1)}${held ? '' : '  MISSED'}`}`);
	});
} finally {
	for (const end of ends) await end();
}
process.exit(missed ? 1 : 0);

// kill -9 of the daemon at random moments during 1,000 uploads over HTTP, by eight clients. Prints what happened; exits 1 when a promise was broken. An
// argument is the seed of an earlier trial.
import crypto from 'node:crypto';
import { artifactCrashTrial } from '../tests/lib/artifact_crash.mjs';
import { newScratch } from '../tests/lib/scratch.mjs';

const seed = Number(process.argv[2] ?? crypto.randomInt(2 ** 32));
const ends = [];
const scratch = newScratch({ after: (end) => ends.push(end) });
const began = performance.now();
console.log(`seed ${seed}`);
try {
	const { kills, acknowledged, refused, deleted, unacknowledged } = await artifactCrashTrial(scratch, { seed, uploads: 1000 });
	const seconds = ((performance.now() - began) / 1000).toFixed(1);
	console.log(`${kills} kills, ${acknowledged} uploads acknowledged, ${refused} refused by the quota, ${deleted} deleted, in ${seconds} s`);
	console.log(`whole but unacknowledged: ${unacknowledged}`);
	console.log('every acknowledged artifact intact, no partial one visible, quota exact');
} finally {
	for (const end of ends) await end();
}

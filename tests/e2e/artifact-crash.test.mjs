// kill -9 of the daemon while artifacts are uploaded. ARTIFACT_UPLOADS says how many, ARTIFACT_SEED repeats a trial as far as that can be.
import crypto from 'node:crypto';
import { test } from 'node:test';
import { artifactCrashTrial } from '../lib/artifact_crash.mjs';
import { newScratch } from '../lib/scratch.mjs';

const uploads = Number(process.env.ARTIFACT_UPLOADS ?? 100);
const seed = Number(process.env.ARTIFACT_SEED ?? crypto.randomInt(2 ** 32));

test('an artifact that was acknowledged outlives kill -9, and no other is seen in part', async (t) => {
	t.diagnostic(`seed ${seed}`);
	const { kills, acknowledged, refused, deleted, unacknowledged } = await artifactCrashTrial(newScratch(t), { seed, uploads });
	t.diagnostic(`${kills} kills, ${acknowledged} acknowledged, ${refused} refused, ${deleted} deleted, ${unacknowledged} whole but unacknowledged`);
});

// Waiting for what comes about by itself.

// Gives the first true value of `condition`, which is asked again and again; throws, and says what was waited for, after `ms`.
export async function until(condition, what = String(condition), ms = 30_000) {
	for (const deadline = Date.now() + ms; ; await new Promise((resolve) => setTimeout(resolve, 10))) {
		const value = await condition();
		if (value) return value;
		if (Date.now() > deadline) throw new Error(`${what}: not within ${ms} ms`);
	}
}

// For what is to be cut off behind a point that a busy machine is slow to reach: gives the first result of `attempt(seconds)`,
// which is tried with ever more seconds, that `far` says came to that point; else the last.
export async function givenTime(attempt, far) {
	for (let seconds = 1; ; seconds *= 4) {
		const result = await attempt(seconds);
		if (far(result) || seconds >= 16) return result;
	}
}

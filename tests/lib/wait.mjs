// Waiting for what comes about by itself.

// Gives the first true value of `condition`, which is asked again and again; throws, and says what was waited for, after `ms`.
export async function until(condition, what = String(condition), ms = 30_000) {
	for (const deadline = Date.now() + ms; ; await new Promise((resolve) => setTimeout(resolve, 10))) {
		const value = await condition();
		if (value) return value;
		if (Date.now() > deadline) throw new Error(`${what}: not within ${ms} ms`);
	}
}

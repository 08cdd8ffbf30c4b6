// Values as JSON and as text.

// What JSON.stringify() would lose or refuse: errors, big integers, maps and sets. Bytes are named and not written out: artifact() is for them. `lost`
// says what stands for a number that JSON has no word for.
const replacing = (lost) => function (key, value) {
	if (typeof value === 'number') return Number.isFinite(value) ? value : lost(value);
	const original = this[key];
	if (original instanceof Error) {
		const { name, message, stack, cause } = original;
		return { name, message, stack, ...original, ...(cause !== undefined && { cause }) };
	}
	if (typeof value === 'bigint') return String(value);
	if (original instanceof Map) return Object.fromEntries(original);
	if (original instanceof Set) return [...original];
	if (original instanceof ArrayBuffer || ArrayBuffer.isView(original))
		return `[${original.constructor.name} of ${original.byteLength} bytes: keep it with artifact()]`;
	return value;
};

// As fetch() sends them, for tools; as text, for people.
const replace = replacing(() => null);
const replaceShown = replacing(String);

const stringify = (value) => JSON.stringify(value, replace);
const stringifyShown = (value) => JSON.stringify(value, replaceShown);

class Unsayable extends Error {}
const replaceStrictly = replacing((number) => {
	throw new Unsayable(String(number));
});

// Where in a value replaceStrictly() gives up: ".a[3]", or "" for the value itself. A walk of its own, so that others need not know where they are.
function placeOfUnsayable(value) {
	const path = []; // the containers around what is looked at, from the outermost, which JSON.stringify() puts around the value
	try {
		JSON.stringify(value, function (key, inner) {
			const known = path.findIndex(({ container }) => container === this);
			path.splice(known < 0 ? path.length : known, Infinity, { container: this, key });
			return replaceStrictly.call(this, key, inner);
		});
	} catch {
		// It gave up again, at the end of `path`.
	}
	const step = ({ container, key }) => (Array.isArray(container) ? `[${key}]` : /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? `.${key}` : `[${stringify(key)}]`);
	return path.slice(1).map(step).join('');
}

// A value that must not be lost in silence, as JSON. `what` begins the message that says why it cannot be.
function jsonOf(value, what) {
	let json;
	try {
		json = JSON.stringify(value, replaceStrictly);
	} catch (error) {
		if (error instanceof Unsayable) {
			const place = placeOfUnsayable(value);
			throw new TypeError(`${what} ${place ? `has ${error.message} at ${place}` : `is ${error.message}`}, which JSON cannot say`);
		}
		throw new TypeError(`${what} cannot be written as JSON: ${asText(error?.message ?? error).split('\n')[0]}`);
	}
	if (json === undefined) throw new TypeError(`${what} is ${typeof value === 'function' ? 'a function' : asText(value)}, which JSON cannot say`);
	return json;
}

// A value in a line of text: strings as they are, anything else as JSON where that is possible. It never throws, whatever the value does when it is
// looked at.
function asText(value) {
	for (const show of [() => (['string', 'number'].includes(typeof value) || value instanceof String ? String(value) : stringifyShown(value) ?? String(value)), () => host.inspect(value)])
		try {
			return show();
		} catch {
			// A cycle, a getter or a proxy that throws.
		}
	return 'a value that cannot be shown';
}

const NEAR_NAME_MAX = 64; // nobody mistypes a longer one, and comparing takes the product of the lengths

// The nearest of some names, for messages; undefined when none is near.
function nearest(name, names) {
	let best;
	let least = Math.max(2, name.length / 3);
	if (name.length > NEAR_NAME_MAX) return undefined;
	for (const candidate of names) {
		if (candidate.length > NEAR_NAME_MAX) continue;
		const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
		if (distance <= least) [best, least] = [candidate, distance - 1];
	}
	return best;
}

function editDistance(a, b) {
	let row = Array.from({ length: b.length + 1 }, (_, i) => i);
	for (let i = 1; i <= a.length; i++) {
		const next = [i];
		for (let k = 1; k <= b.length; k++)
			next[k] = Math.min(next[k - 1] + 1, row[k] + 1, row[k - 1] + (a[i - 1] === b[k - 1] ? 0 : 1));
		row = next;
	}
	return row[b.length];
}

// 64 bits that tell different texts apart. Not for secrets: a short text can be guessed from it.
function hash(text) {
	let a = 0x9e3779b9 ^ text.length;
	let b = 0x85ebca6b;
	for (let i = 0; i < text.length; i++) {
		const unit = text.charCodeAt(i);
		a = Math.imul(a ^ unit, 0x01000193);
		b = Math.imul(b ^ unit, 0x5bd1e995);
		b ^= b >>> 15;
	}
	return [mix(a ^ (b >>> 3)), mix(b ^ (a << 7))].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}

function mix(half) {
	half = Math.imul(half ^ (half >>> 16), 0x85ebca6b);
	half = Math.imul(half ^ (half >>> 13), 0xc2b2ae35);
	return half ^ (half >>> 16);
}

// JSON with the members of objects in order, so that the same arguments are the same text.
const canonical = (json) =>
	JSON.stringify(JSON.parse(json), (_, value) =>
		value !== null && typeof value === 'object' && !Array.isArray(value)
			? Object.fromEntries(Object.keys(value).sort().map((name) => [name, value[name]]))
			: value);

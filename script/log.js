// log(), log.warn() and so on: records with fields. `{name}` in a message stands for the field of that name.
const levels = ['debug', 'info', 'warn', 'error'];

function fillTemplate(template, fields) {
	return template.replace(/\{\{\s*([\w.$-]+)\s*\}\}|\{([\w.$-]+)\}/g, (whole, doubled, single) => {
		const name = doubled ?? single;
		return Object.hasOwn(fields, name) ? asText(fields[name]) : whole;
	});
}

// Fields are an object's members; anything else that stands in their place is one field, so that log('found', 5) does not lose the 5.
function fieldsOf(more) {
	if (more === undefined || more === null) return {};
	if (more instanceof Error) return { error: more };
	return Object.prototype.toString.call(more) === '[object Object]' ? more : { value: more };
}

function logAt(level, bound, message, more) {
	const fields = { ...bound, ...fieldsOf(more) };
	if (message instanceof Error) {
		fields.error ??= message;
		message = message.message;
	}
	const template = asText(message);
	const msg = fillTemplate(template, fields);
	const attrs = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, writable(value)]));
	record('log', {
		ts: new Date().toISOString(),
		level,
		msg,
		...(msg !== template && { template }),
		...(Object.keys(attrs).length && { attrs }),
	});
}

// A record is never lost to a field that JSON cannot say.
function writable(value) {
	try {
		if (stringify(value) !== undefined) return value;
	} catch {
		// As text, then.
	}
	return asText(value);
}

function logger(bound) {
	const log = (message, fields) => logAt('info', bound, message, fields);
	for (const level of levels) log[level] = (message, fields) => logAt(level, bound, message, fields);
	log.with = (fields) => logger({ ...bound, ...fieldsOf(fields) });
	return log;
}

const log = logger({});

// console.warn() and the like become records; console.log() stays the script's way to stdout.
function captureConsole() {
	const captured = { debug: 'debug', info: 'info', warn: 'warn', error: 'error', trace: 'debug' };
	for (const [method, level] of Object.entries(captured))
		console[method] = (...parts) => record('log', { ts: new Date().toISOString(), level, msg: formatConsole(parts) });
	console.assert = (truth, ...parts) => {
		if (!truth) console.error('Assertion failed', ...parts);
	};
}

function formatConsole([first, ...rest]) {
	const shown = (value) => (typeof value === 'string' ? value : host.inspect(value));
	if (first === undefined && !rest.length) return '';
	if (typeof first !== 'string') return [first, ...rest].map(shown).join(' ');
	const text = first.replace(/%([%sdifjoOc])/g, (whole, kind) => {
		if (kind === '%') return '%';
		if (!rest.length) return whole;
		const value = rest.shift();
		if (kind === 'c') return '';
		if (kind === 'd' || kind === 'i') return String(kind === 'i' ? Math.trunc(Number(value)) : Number(value));
		return kind === 'f' ? String(Number(value)) : kind === 'j' ? asText(value) : shown(value);
	});
	return [text, ...rest.map(shown)].join(' ');
}

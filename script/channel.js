// From the script to its runner: one line of stderr for each record, marked with record separators so that nothing a script prints by accident
// is taken for one. A script that nobody runs (it imported a saved client by itself) prints what it has to say instead.
const hasRunner = host.env('MCPX_CHANNEL') === '1';

function writeError(text) {
	let bytes = encoder.encode(text);
	while (bytes.length) bytes = bytes.subarray(host.write(bytes));
}

// `json` is an object. Its member `kind` stands first.
const writeRecord = (json) => writeError(`\x1emcpx\x1e${json}\n`);

function record(kind, members) {
	if (hasRunner) writeRecord(stringifyShown({ kind, ...members }));
	else if (kind === 'log') writeError(`${members.level}: ${members.msg}\n`);
}

// Values may be large: they become JSON once.
function recordValue(kind, json) {
	if (hasRunner) writeRecord(`{"kind":"${kind}","value":${json}}`);
	else if (kind === 'emit') console.log(json);
}

// Gives an intermediate value to whoever runs the script, at once.
function emit(value) {
	recordValue('emit', jsonOf(value === undefined ? null : value, 'the emitted value'));
}

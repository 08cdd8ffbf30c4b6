// From the script to its runner: one line of stderr for each record, marked with record separators so that nothing a script prints by accident
// is taken for one. A script that nobody runs (it imported a saved client by itself) prints what it has to say instead.
const hasRunner = host.env('MCPX_CHANNEL') === '1';

function writeError(text) {
	let bytes = encoder.encode(text);
	while (bytes.length) bytes = bytes.subarray(host.write(bytes));
}

function record(kind, members) {
	if (hasRunner) writeError(`\x1emcpx\x1e${stringify({ kind, ...members })}\n`);
	else if (kind === 'log') writeError(`${members.level}: ${members.msg}\n`);
	else if (kind === 'emit') console.log(stringify(members.value));
}

// Gives an intermediate value to whoever runs the script, at once.
function emit(value) {
	record('emit', { value: value === undefined ? null : value });
}

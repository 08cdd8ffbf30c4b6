// One object for each namespace with one function for each tool. None has a prototype: only what a server offers can be reached by name.
const tools = Object.create(null);
for (const [namespace, , listed] of $index) {
	const functions = Object.create(null);
	for (const [name] of listed) {
		functions[name] = (args, options) => call(namespace, name, args, options);
		Object.defineProperty(functions[name], 'name', { value: `${namespace}.${name}` });
	}
	tools[namespace] = Object.freeze(functions);
}
Object.freeze(tools);

const paths = Object.freeze({
	cwd: host.env('MCPX_CWD') || host.cwd(),
	entry: host.env('MCPX_ENTRY'),
	client: host.env('MCPX_CLIENT'),
	config: host.env('MCPX_CONFIG_PATH') || undefined,
	scriptDirs: (host.env('MCPX_SCRIPT_DIRS') ?? '').split(':').filter(Boolean),
});

const helpers = { call, emit, log, artifact, search, describe, ToolError, paths, tools };

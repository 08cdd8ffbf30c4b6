// Entries of `mcpServers` for tests: servers of ours that behave or misbehave on request, and official ones.
import path from 'node:path';
import { root } from './scratch.mjs';

const node = path.join(root, 'node_modules/.bin/node');

// tests/servers/scripted.mjs; the options are its own, see there.
export const scriptedServer = (options = {}) => ({
	command: node,
	args: [path.join(root, 'tests/servers/scripted.mjs'), JSON.stringify(options)],
});

export const filesystemServer = (...directories) => ({
	command: node,
	args: [path.join(root, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'), ...directories],
});

export const everythingServer = () => ({
	command: node,
	args: [path.join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
});

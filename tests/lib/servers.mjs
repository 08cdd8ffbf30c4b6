// Entries of `mcpServers` for tests: servers of ours that behave or misbehave on request, and official ones.
import path from 'node:path';
import { root } from './scratch.mjs';

const node = path.join(root, 'node_modules/.bin/node');

// tests/servers/scripted.mjs; the options are its own, see there.
export const scriptedServer = (options = {}) => ({
	command: node,
	args: [path.join(root, 'tests/servers/scripted.mjs'), JSON.stringify(options)],
});

// tests/servers/small.sh: starts in a millisecond.
export const smallServer = () => ({ command: '/bin/sh', args: [path.join(root, 'tests/servers/small.sh')] });

// tests/servers/conformance.mjs: the tools that the official conformance suite calls by name.
export const conformanceServer = () => ({ command: node, args: [path.join(root, 'tests/servers/conformance.mjs')] });

export const filesystemServer = (...directories) => ({
	command: node,
	args: [path.join(root, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'), ...directories],
});

export const everythingServer = () => ({
	command: node,
	args: [path.join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
});

// A scratch home for commands that start the daemon by themselves.
import { run } from './command.mjs';
import { newScratch } from './scratch.mjs';
import { scriptedServer } from './servers.mjs';

// With these servers, and a daemon that is stopped at the end.
export function newHome(t, mcpServers = { scripted: scriptedServer() }) {
	const scratch = newScratch(t);
	scratch.env.MCPX_CONFIG = scratch.writeConfig({ mcpServers });
	scratch.atEnd(() => run(scratch, ['stop']));
	return scratch;
}

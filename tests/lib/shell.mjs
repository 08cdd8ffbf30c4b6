// Interactive shells on a terminal of their own, for what they complete.
import { spawnSync } from 'node:child_process';
import { start } from './command.mjs';

// What each shell is told first: no prompts that come and go, our completion, and a key (^T) that shows the line being edited
// between \x02 and \x03 and empties it. Where it takes more than that, it says so.
const shells = {
	bash: {
		command: 'bash --norc --noprofile -i',
		setup: [
			`bind 'set bell-style none'; bind 'set show-all-if-ambiguous on'; bind 'set page-completions off'`,
			`bind 'set enable-bracketed-paste off'; bind 'set completion-query-items 1000'`,
			`_show() { printf '\\002%s\\003\\n' "$READLINE_LINE"; READLINE_LINE=; READLINE_POINT=0; }; bind -x '"\\C-t": _show'`,
			'source <(mcpx completion bash)',
		],
	},
	zsh: {
		command: 'zsh -f -i',
		setup: [
			`unsetopt zle_bracketed_paste prompt_sp prompt_cr; PS1='> '; zstyle ':completion:*' list-prompt ''; LISTMAX=1000`,
			`autoload -Uz compinit && compinit -u -D`,
			`_show() { printf '\\002%s\\003\\n' "$BUFFER"; BUFFER=; zle reset-prompt; }; zle -N _show; bindkey '^T' _show; bindkey '^I' complete-word`,
			'source <(mcpx completion zsh)',
		],
	},
	fish: {
		command: 'fish --no-config -i',
		setup: [
			`function fish_prompt; printf '> '; end; set -g fish_autosuggestion_enabled 0; set -g fish_greeting`,
			`bind \\ct "printf '\\\\002%s\\\\003\\\\n' (commandline | string collect); commandline ''; commandline -f repaint"`,
			'mcpx completion fish | source',
		],
	},
};

// Why a shell cannot be tested here, or false.
export function lacksShell(name) {
	return spawnSync(name, ['--version']).status === 0 ? false : `needs ${name}, which is not installed`;
}

class Shell {
	constructor(child, patience) {
		Object.assign(this, { child, patience, seen: 0 });
	}

	type(text) {
		this.child.stdin.write(text);
	}

	// Waits for `pattern` in what the terminal shows from here on; returns the match.
	async wait(pattern) {
		const { child } = this;
		for (;;) {
			const text = child.text.stdout.slice(this.seen);
			const match = text.match(pattern);
			if (match) {
				this.seen += match.index + match[0].length;
				return match;
			}
			await new Promise((resolve, reject) => {
				const timer = setTimeout(() => reject(new Error(`no ${pattern} in ${JSON.stringify(text)}`)), this.patience);
				child.stdout.once('data', () => {
					clearTimeout(timer);
					resolve();
				});
			});
		}
	}

	// Types `line` and the tab key: { line, screen }, the line as it is then, and what was shown meanwhile.
	async complete(line) {
		this.type(`${line}\t\x14`);
		const before = this.seen;
		const [shown, edited] = await this.wait(/\x02([^\x03]*)\x03/);
		return { line: edited, screen: this.child.text.stdout.slice(before, this.seen - shown.length) };
	}
}

// startShell(scratch, name): resolves when it takes commands. script(1) gives it the terminal. With `autoload`, a directory, zsh finds the
// completion there and is not told of it.
export async function startShell(scratch, name, { cwd, env, autoload, patience = 20_000 } = {}) {
	const { command, setup } = shells[name];
	const child = start(scratch, 'script', ['-qfec', command, '/dev/null'], { cwd, stdin: null, env: { TERM: 'xterm', ...env } });
	const shell = new Shell(child, patience);
	scratch.atEnd(async () => {
		child.kill('SIGKILL'); // which hangs up the terminal, and with it the shell
		await child.finished;
	});
	shell.type('stty rows 60 cols 200\n');
	const lines = autoload ? [`fpath=('${autoload}' $fpath)`, ...setup.slice(0, -1)] : setup;
	for (const [i, line] of lines.entries()) {
		shell.type(`${line}\nprintf '\\002%s\\003\\n' ready${i}\n`);
		await shell.wait(new RegExp(`\x02ready${i}\x03`));
	}
	return shell;
}

#!/bin/sh
# demo.sh - what a user would do, on real servers: run a script, fetch what it made, look at the daemon, stop it. `./run demo` calls it.
# Everything it writes is under build/demo/.
set -eu
cd "$(dirname "$0")/.."
place=$PWD/build/demo
rm -rf "$place"
mkdir -p "$place"

PATH=$PWD/node_modules/.bin:$PATH
MCPX_CONFIG=$PWD/demo/mcpx.json MCPX_STATE_DIR=$place/state MCPX_CACHE_DIR=$place/cache
export PATH MCPX_CONFIG MCPX_STATE_DIR MCPX_CACHE_DIR
mark=MCPX_DEMO=$$-$(date +%s) # in the environment of mcpx and so of all that comes from it, and of nothing else

mcpx() {
	env "$mark" "$PWD/build/bin/mcpx" "$@"
}

now() {
	date +%s%3N
}

# step TEXT COMMAND...: shows the command, runs it and says how long it took.
step() {
	printf '\n\033[1m$ %s\033[0m\n' "$1"
	shift
	began=$(now)
	"$@" || {
		printf 'demo: this failed with %s\n' "$?" >&2
		mcpx stop >/dev/null 2>&1 || true
		exit 1
	}
	printf '\033[2m  %s ms\033[0m\n' "$(($(now) - began))"
}

# The last member NAME of the JSON on standard input, when it is a plain string or number.
member() {
	tr ',{}' '\n\n\n' | sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\"]*\)\"\{0,1\} *\$/\1/p" | tail -n 1
}

tour() {
	mcpx run demo/tour.ts >"$place/tour.json" && cat "$place/tour.json"
}

fetch() {
	mcpx artifact get "$(member artifact <"$place/tour.json")" --output "$place/tiny.png" &&
		printf '%s  %s\n' "$(member sha256 <"$place/tour.json")" "$place/tiny.png" | sha256sum --check --quiet - &&
		printf 'tiny.png: %s bytes, and its SHA-256 is the one that the script said\n' "$(stat -c %s "$place/tiny.png")"
}

look() {
	mcpx status --json >"$place/status.json" &&
		printf 'the daemon uses %s KiB of memory\n' "$(($(sed -n 's/.*"memoryBytes": *\([0-9]*\).*/\1/p' "$place/status.json") / 1024))"
}

# Processes that came from this demo and still run.
left() {
	grep -lsz "^$mark\$" /proc/[0-9]*/environ || true
}

end() {
	mcpx stop || return
	if [ -n "$(left)" ]; then
		printf 'still running: %s\n' "$(left)" >&2
		return 1
	fi
	if [ -n "$(find "$place/state" -name '*.sock' -o -name '*.lock' -o -name '*.tmp')" ]; then
		printf 'still there: %s\n' "$(ls "$place/state")" >&2
		return 1
	fi
	printf 'no process, socket, lock or temporary file is left\n'
}

step 'mcpx ls' mcpx ls
step 'mcpx run demo/tour.ts' tour
step 'mcpx artifact get ID --output tiny.png' fetch
step 'mcpx status' look
step 'mcpx stop' end

// Each check of tools/lint finds the violation it is there for, in a small tree of its own, and leaves sound code alone.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

const tools = path.resolve(import.meta.dirname, '../../tools');
const rooms = ['base', 'text', 'json', 'io', 'db', 'settings', 'hub', 'cli'];

const sound = {
	'.clang-format': fs.readFileSync(path.join(tools, '../.clang-format'), 'utf8'),
	'run': 'case $verb in\nbuild | test | help) "do_$verb" "$@" ;;\nesac\n',
	'src/meson.build': rooms.map((room) => `subdir('${room}')\n`).join(''),
	'ARCHITECTURE.md': rooms.map((room) => `## \`${room}/\`\n`).join(''),
	...Object.fromEntries(rooms.map((room) => [`src/${room}/meson.build`, ''])),
	'src/base/base.h': '#include <stdint.h>\n',
	'src/io/loop.h': '#include "base/base.h"\n',
};

// What `check-NAME` says about the sound tree with `files` laid over it.
function violations(t, name, files) {
	const root = fs.mkdtempSync(path.join(os.tmpdir(), 'lint-test-'));
	t.after(() => fs.rmSync(root, { recursive: true }));
	for (const [file, content] of Object.entries({ ...sound, ...files })) {
		fs.mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
		fs.writeFileSync(path.join(root, file), content);
	}
	const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))); // what a hook of git has
	execFileSync('git', ['init', '-q', root], { env });
	const run = spawnSync(path.join(tools, `check-${name}`), ['--root', root], { encoding: 'utf8' });
	assert.equal(run.stderr, '');
	const lines = run.stdout.split('\n').filter(Boolean);
	assert.equal(run.status, lines.length && !lines[0].startsWith('skip: ') ? 1 : 0);
	return lines;
}

const source = (body, includes = '') => `#include "base/base.h"\n${includes}\n${body}\n`;

// A case: [what it shows, check, files, the violations expected].
const cases = [
	['a sound tree has no violation', 'includes', {}, []],
	[
		'a room does not include a room above it',
		'includes',
		{ 'src/io/child.c': source('', '#include "hub/pool.h"\n'), 'src/hub/pool.h': '' },
		['src/io/child.c:2: "hub/pool.h": hub/ stands above io/; a room includes only rooms below it'],
	],
	[
		'an include names its room',
		'includes',
		{ 'src/io/child.c': source('', '#include "loop.h"\n') },
		['src/io/child.c:2: "loop.h": name the room, as in "io/loop.h"'],
	],
	[
		'base/base.h comes first',
		'includes',
		{ 'src/io/child.c': '#include <errno.h>\n' },
		['src/io/child.c:1: the first include is not "base/base.h"'],
	],
	[
		'the own header comes second',
		'includes',
		{ 'src/io/loop.c': source('', '#include <errno.h>\n#include "io/loop.h"\n') },
		['src/io/loop.c:1: the second include is not its own header "io/loop.h"'],
	],
	[
		'sqlite, libuv and sockets stay in their rooms',
		'includes',
		{
			'src/db/db.c': source('', '#include <sqlite3.h>\n'),
			'src/hub/hub.c': source('', '#include <sqlite3.h>\n#include <uv.h>\n#include <sys/socket.h>\n'),
			'src/hub/hub_test.c': source('', '#include <sys/socket.h>\n'),
		},
		[
			'src/hub/hub.c:2: <sqlite3.h> belongs to db/',
			'src/hub/hub.c:3: <uv.h> belongs to io/',
			'src/hub/hub.c:4: <sys/socket.h> belongs to io/',
		],
	],
	[
		'pure rooms include nothing that does I/O',
		'includes',
		{ 'src/json/json.c': source('', '#include <fcntl.h>\n') },
		['src/json/json.c:2: <fcntl.h>: json/ is pure: no I/O, no clock, no threads'],
	],
	[
		'a folder under src/ is a room',
		'includes',
		{ 'src/attic/old.h': '' },
		['src/attic/old.h:1: src/attic/ is no room: add it to src/meson.build'],
	],
	[
		'banned calls are found, not their names in comments and strings',
		'calls',
		{ 'src/hub/hub.c': source('/* setlocale() */\nconst char *s = "fork()";\nvoid f(void)\n{\n\tsetlocale(0, "");\n}') },
		['src/hub/hub.c:7: setlocale(): the program runs in the C locale, always'],
	],
	[
		'a call may belong to one room',
		'calls',
		{
			'src/settings/env.c': source('char *f(void)\n{\n\treturn getenv("HOME");\n}'),
			'src/hub/hub.c': source('char *f(void)\n{\n\treturn getenv("HOME");\n}'),
		},
		['src/hub/hub.c:5: getenv(): only settings/ reads the environment; take the value as a parameter'],
	],
	[
		'rooms do not print, programs do, tests may',
		'calls',
		{
			'src/hub/hub.c': source('void f(void)\n{\n\tprintf("x");\n}'),
			'src/hub/hub_test.c': source('void f(void)\n{\n\tprintf("x");\n}'),
			'src/cli/cli.c': source('void f(void)\n{\n\tprintf("x");\n}'),
		},
		['src/hub/hub.c:5: printf(): rooms never log or print'],
	],
	[
		'descriptors are born with CLOEXEC',
		'calls',
		{ 'src/io/file.c': source('int f(void)\n{\n\treturn open("x",\n\t\t    O_RDONLY);\n}\nint g(void)\n{\n\treturn open("x", O_RDONLY | O_CLOEXEC);\n}') },
		['src/io/file.c:5: open() without O_CLOEXEC: every descriptor is closed on exec'],
	],
	[
		'an exemption has a reason and a use',
		'calls',
		{
			'src/hub/hub.c': source('void f(void)\n{\n\tusleep(1);\n}'),
			'tools/allowed-calls': 'src/hub/hub.c usleep  # shown to be needed\nsrc/hub/hub.c fork  # gone\nsrc/hub/hub.c exit\n',
		},
		['tools/allowed-calls:2: exempts nothing any more: src/hub/hub.c fork', 'tools/allowed-calls:3: an exemption needs a reason: `what  # reason`'],
	],
	[
		'literal durations, sizes and bounds are found',
		'constants',
		{
			'src/hub/hub.c': source(
				'#define RETRY_MS 50\nvoid f(struct x *x)\n{\n\tx->timeout_ms = 30;\n\tx->body = 4 << 20;\n\ttimer_start(&x->t, x->loop, 250, done);\n\tx->n = 4096;\n\tx->n = 5 * 1024;\n}',
			),
		},
		[
			'src/hub/hub.c:3: RETRY_MS: name a constant in an enum with a comment, or make it a setting',
			'src/hub/hub.c:6: timeout_ms = 30: make it a setting, or name it in an enum with a comment',
			'src/hub/hub.c:7: a literal size: make it a setting, or name it in an enum with a comment',
			'src/hub/hub.c:8: a literal in timer_start(): make it a setting, or name it in an enum with a comment',
			'src/hub/hub.c:9: 4096: make it a setting, or name it in an enum with a comment',
			'src/hub/hub.c:10: a literal size: make it a setting, or name it in an enum with a comment',
		],
	],
	[
		'units may be converted, modes written, named grains explained; settings/ holds the numbers',
		'constants',
		{
			'src/hub/hub.c': source(
				'/* One page, what a read(2) is worth. */\nenum { GRAIN = 4096 };\nuint64_t f(struct x *x)\n{\n\tmkdir(x->p, 0700);\n\tx->first = 0;\n\treturn x->ms * 1000000 + x->bytes / 1024;\n}',
			),
			'src/hub/hub_test.c': source('int limit_ms = 5000;'),
		},
		[],
	],
	[
		'a duration or a bound needs more than a comment, in the room of settings as well',
		'constants',
		{
			'src/hub/hub.c': source('/* Long enough. */\nenum {\n\tPATIENCE_MS = 250,\n\tNAMES_MAX = 4 * 16,\n\tFEW_MAX = 4,\n\tNUMBER_TEXT_MAX = 24,\n\tUNITS_PER_MAX = 10\n};'),
			'src/hub/pool.c': source('/* Of one line. */\nenum { LINE_MAX_BYTES = 100, KEPT = 64 << 10 };'),
			'src/settings/value.c': source('/* Of all. */\nenum { VALUES_MAX = 9 };'),
			'tools/allowed-constants': 'src/hub/hub.c NAMES_MAX  # longer names are cut\nsrc/hub/pool.c enum  # grains\nsrc/hub/pool.c OTHER  # gone\n',
		},
		[
			'src/hub/hub.c:5: PATIENCE_MS = 250: make it a setting, or say in tools/allowed-constants why nobody would want to change it',
			'src/settings/value.c:4: VALUES_MAX = 9: make it a setting, or say in tools/allowed-constants why nobody would want to change it',
			'tools/allowed-constants:3: exempts nothing any more: src/hub/pool.c OTHER',
		],
	],
	[
		'a named grain needs its reason',
		'constants',
		{ 'src/hub/hub.c': source('enum { GRAIN = 4096 };') },
		['src/hub/hub.c:3: a number without a reason: say in a comment why this one'],
	],
	[
		'long functions and files are found',
		'sizes',
		{
			'src/hub/hub.c': source(`int short_one(void)\n{\n\treturn 0;\n}\n\nint long_one(int a,\n\t     int b)\n{\n${'\ta++;\n'.repeat(120)}}`),
			'src/hub/long.c': '\n'.repeat(1201),
		},
		['src/hub/hub.c:8: long_one() has 124 lines, at most 120: split it by idea', 'src/hub/long.c:1202: 1201 lines; a file is one idea and has at most 1200'],
	],
	[
		'layout is what clang-format says',
		'format',
		{ 'src/hub/hub.c': '#include "base/base.h"\n\nint f( void ) { return 0; }\n' },
		['src/hub/hub.c:3: not laid out as .clang-format says: ./run format'],
	],
	[
		'comments end where code does',
		'format',
		{ 'src/hub/hub.h': `/* ${'x'.repeat(104)} */\n/* ${'x'.repeat(105)} */\n/* a\n * ${'x'.repeat(108)}\n */\nconst char *b =\n\t"/*${'x'.repeat(100)}";\n` },
		['src/hub/hub.h:2: the comment passes column 110: break it', 'src/hub/hub.h:4: the comment passes column 110: break it'],
	],
	[
		'unfinished work, machines and empty names are found',
		'words',
		{ 'src/hub/hub.c': ['// TO', 'DO later\n// /ro', 'ot/x\n'].join(''), ['src/hub/ut' + 'ils.h']: '' },
		[
			`src/hub/hub.c:1: ${'TO' + 'DO'}: finish it, or file it`,
			`src/hub/hub.c:2: ${'/ro' + 'ot/'}: the path of one machine or a registry's host name`,
			`src/hub/${'ut' + 'ils.h'}:1: a name that says nothing: call it after what it holds`,
		],
	],
	[
		'documents name only what exists',
		'prose',
		{
			'README.md': 'See `src/io/loop.h`, `run`, `./run test`, `build/bin/mcpx`.\nNot `src/io/gone.h`, `./run fly`, `--warp`, `MCPX_NOWHERE`, `gone_away()`, [this](docs/gone.md).\n',
			'docs/a.md': '```\n./run fly   # comment\n```\n',
		},
		[
			'README.md:2: ./run has no verb fly',
			'README.md:2: a link to docs/gone.md, which does not exist',
			'README.md:2: no file or folder src/io/gone.h',
			'README.md:2: no function gone_away()',
			'README.md:2: no option --warp',
			'README.md:2: nothing reads MCPX_NOWHERE',
			'docs/a.md:2: ./run has no verb fly',
		],
	],
	[
		'every room is in the tour, in order, and nothing else',
		'prose',
		{ 'ARCHITECTURE.md': ['base', 'json', 'text', 'io', 'db', 'settings', 'cli', 'attic'].map((room) => `## \`${room}/\`\n`).join('') },
		[
			'ARCHITECTURE.md:1: a heading for `attic/`, which is no room under src/',
			'ARCHITECTURE.md:1: no heading for the room `hub/`',
			'ARCHITECTURE.md:1: the rooms are not in reading order, that of src/meson.build',
			'ARCHITECTURE.md:8: no file or folder attic/',
		],
	],
	[
		'comments send readers to documents that exist, and the index has every page',
		'prose',
		{
			'src/io/file.c': source('/* docs/internals/file.md tells how, as async.md and gone.md do. */'),
			'docs/internals/README.md': '- [Waiting](async.md)\n',
			'docs/internals/async.md': '',
			'docs/internals/lost.md': '',
		},
		[
			'docs/internals/README.md:1: the index has no link to lost.md',
			'src/io/file.c:3: no document docs/internals/file.md',
			'src/io/file.c:3: no document gone.md',
		],
	],
	[
		'what is released by itself has a value from its first moment',
		'cleanup',
		{
			'src/base/base.h': '#define _cleanup_(release) __attribute__((cleanup(release)))\n#define _cleanup_free_ _cleanup_(free_ptr)\nstruct x;\n',
			'src/io/loop.c': source('void f(void)\n{\n\t_cleanup_free_ char *a = g(1, 2), *b;\n\t_cleanup_x_ struct x x = { 0, 1 };\n\t_cleanup_(h) struct x\n\t\ty;\n}'),
			'bench/b.c': '/* _cleanup_free_ char *c; */\n_cleanup_free_ char *d;\n',
		},
		[
			'bench/b.c:2: d is released by itself and has no value yet: give it one here',
			'src/io/loop.c:5: b is released by itself and has no value yet: give it one here',
			'src/io/loop.c:7: y is released by itself and has no value yet: give it one here',
		],
	],
	[
		'operations and settings in documents exist',
		'prose',
		{
			'src/api/operations.json': '[{"name": "tools", "path": "/v1/tools"}]',
			'src/meson.build': sound['src/meson.build'] + "subdir('api')\n",
			'ARCHITECTURE.md': sound['ARCHITECTURE.md'] + '## `api/`\n',
			'src/settings/settings.json': '{"settings": [{"path": "daemon.port"}]}',
			'README.md': '`mcpx tools`, `GET /v1/tools`, `daemon.port`, `MCPX_DAEMON_PORT`, `--daemon-port`\n`mcpx fly`, `GET /v1/gone`, `daemon.wings`\n',
		},
		['README.md:2: mcpx has no command fly', 'README.md:2: no route /v1/gone', 'README.md:2: no setting daemon.wings'],
	],
];

for (const [title, check, files, expected] of cases) {
	test(title, (t) => {
		const found = violations(t, check, files);
		if (found[0]?.startsWith('skip: ')) t.skip(found[0].slice('skip: '.length));
		else assert.deepEqual(found, expected);
	});
}

test('lint runs every check and reports each as a test', () => {
	const run = spawnSync(path.join(tools, 'lint'), ['--tap', '--root', path.join(tools, '..')], { encoding: 'utf8' });
	const checks = fs.readdirSync(tools).filter((name) => name.startsWith('check-'));
	assert.match(run.stdout, new RegExp(`^1\\.\\.${checks.length}\n`));
	for (const check of checks) assert.match(run.stdout, new RegExp(`^(not )?ok \\d+ - ${check.slice('check-'.length)}\\b`, 'm'));
});

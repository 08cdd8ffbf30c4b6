// What a daemon leaves behind when its project is gone: another daemon of the same state directory removes it once it is old.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { startDaemon } from '../lib/daemon.mjs';
import { get, post } from '../lib/http.mjs';
import { newScratch } from '../lib/scratch.mjs';
import { until } from '../lib/wait.mjs';

const daemonOf = (scratch, name, settings) => startDaemon(scratch, { config: scratch.writeConfig({ mcpServers: {}, ...settings }, `${name}.json`) });
const stores = (scratch) => fs.readdirSync(scratch.state).filter((name) => /^artifacts(-\w+)?$/.test(name));
const logs = (scratch) => fs.readdirSync(scratch.state).filter((name) => /\.log/.test(name));

test('a store whose daemon is gone is collected and removed, and is made anew when the daemon comes back', async (t) => {
	const scratch = newScratch(t);
	const gone = await daemonOf(scratch, 'gone', { artifacts: { ttl: '1s' } });
	assert.equal((await post(gone.socket, '/v1/artifacts?name=a.txt', 'bytes')).status, 201);
	const [store] = stores(scratch);
	await gone.stop();
	const keeper = await daemonOf(scratch, 'keeper', { artifacts: { gcInterval: '1s' } });
	const kept = await post(keeper.socket, '/v1/artifacts?name=b.txt', 'kept');
	await until(() => !stores(scratch).includes(store));
	assert.equal((await get(keeper.socket, `/v1/artifacts/${kept.json.id}`)).body.toString(), 'kept');
	assert.equal(stores(scratch).length, 1);
	await until(() => keeper.log.includes('leftovers.store'));
	await keeper.stop();
	const back = await daemonOf(scratch, 'gone', { artifacts: { ttl: '1h' } });
	const again = await post(back.socket, '/v1/artifacts?name=a.txt', 'again');
	assert.equal((await get(back.socket, `/v1/artifacts/${again.json.id}`)).body.toString(), 'again');
	assert.ok(stores(scratch).includes(store));
});

test('old logs of daemons that are gone are removed, and no others', async (t) => {
	const scratch = newScratch(t);
	await (await daemonOf(scratch, 'gone', {})).stop();
	const [log] = logs(scratch);
	await (await daemonOf(scratch, 'young', {})).stop();
	const young = logs(scratch).find((name) => name !== log);
	const old = new Date(Date.now() - 3_600_000);
	const rolled = `${log}.1`;
	const strangers = ['daemon-0123456789abcdef.log.old', 'daemon-1234.log', 'other.log'];
	for (const name of [rolled, ...strangers]) fs.writeFileSync(path.join(scratch.state, name), 'text\n');
	for (const name of [log, rolled, ...strangers]) fs.utimesSync(path.join(scratch.state, name), old, old);
	const keeper = await daemonOf(scratch, 'keeper', { artifacts: { gcInterval: '1s' }, logging: { keepAge: '30m' } });
	await until(() => !logs(scratch).includes(log) && !logs(scratch).includes(rolled));
	await until(() => keeper.log.includes('leftovers.logs'));
	for (const name of [young, ...strangers]) assert.ok(logs(scratch).includes(name), name);
	assert.equal(logs(scratch).length, strangers.length + 2);
});

test('old logs of a daemon that runs stay', async (t) => {
	const scratch = newScratch(t);
	const runs = await daemonOf(scratch, 'runs', {});
	const [log] = logs(scratch);
	const old = new Date(Date.now() - 3_600_000);
	fs.utimesSync(path.join(scratch.state, log), old, old);
	fs.writeFileSync(path.join(scratch.state, 'daemon-0123456789abcdef.log'), 'of one that is gone\n');
	fs.utimesSync(path.join(scratch.state, 'daemon-0123456789abcdef.log'), old, old);
	await daemonOf(scratch, 'keeper', { artifacts: { gcInterval: '1s' }, logging: { keepAge: '30m' } });
	await until(() => !logs(scratch).includes('daemon-0123456789abcdef.log'));
	assert.ok(logs(scratch).includes(log));
	assert.ok(runs.running());
});

test('a store that cannot be removed is told of once, and keeps no other from being removed', async (t) => {
	const scratch = newScratch(t);
	fs.mkdirSync(scratch.state, { mode: 0o700 });
	const [stays, goes] = ['artifacts-0123456789abcdef', 'artifacts-fedcba9876543210'].map((name) => path.join(scratch.state, name));
	fs.mkdirSync(stays);
	fs.writeFileSync(path.join(stays, 'notes'), 'mine');
	const keeper = await daemonOf(scratch, 'keeper', { artifacts: { gcInterval: '1s' } });
	// Two rounds more.
	for (let i = 0; i < 3; i++) {
		fs.mkdirSync(goes);
		await until(() => !fs.existsSync(goes));
	}
	assert.equal(fs.readFileSync(path.join(stays, 'notes'), 'utf8'), 'mine');
	await keeper.stop();
	const told = keeper.log.split('\n').filter((line) => line.includes('leftovers.trouble'));
	assert.equal(told.length, 1, keeper.log);
	assert.match(told[0], /artifacts-0123456789abcdef: no artifact is left in it, and it stays for a file that is not the store's: notes/);
});

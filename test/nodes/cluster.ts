import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cleanEnv, MAIN } from '../../packages/cli/test-support/processes.ts';
import { type RoundRobin, startRoundRobin } from '../support/round-robin.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

/** Several nodes in separate processes, on one database and behind a load balancer. */
export interface Cluster {
  readonly url: string;
  readonly key: string;
  readonly nodes: readonly Node[];
  readonly balancer: RoundRobin;
  close(): Promise<void>;
}

export interface Node {
  readonly name: string;
  /** The data directory of the node. */
  readonly directory: string;
  /** The program and the variables of the next start. */
  program: string;
  env: Readonly<Record<string, string>>;
  /** The URL of the node, the same across restarts. */
  readonly url: string;
  readonly isUp: boolean;
  /** The proxy between the node and its database. */
  readonly cable: TcpProxy;
  /** How often the node ended without a request of the test. */
  readonly deaths: number;
  /** Returns the standard error of the node. */
  readonly stderr: () => string;
  signal(signal: NodeJS.Signals): void;
  kill(): Promise<void>;
  /** Sends SIGTERM, and returns the exit code. */
  stop(): Promise<number | null>;
  start(): Promise<void>;
}

/** More arguments and variables of the nodes. */
export interface NodeChoice {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Another version of the program. */
  readonly program?: string;
  /** Where their data directories are; by default a temporary directory. */
  readonly directory?: string;
}

export async function openCluster(database: string, count = 3, choice: NodeChoice = {}): Promise<Cluster> {
  const directory = choice.directory ?? (await mkdtemp(join(tmpdir(), 'fleetloom-nodes-')));
  const nodes: StartedNode[] = [];
  for (let index = 0; index < count; index++) {
    nodes.push(await StartedNode.create(`node${index}`, join(directory, String(index)), database, choice));
  }
  // One node creates the tables, the others find them.
  await Promise.all(nodes.map((node) => node.start()));
  const balancer = await startRoundRobin(nodes.map(({ url }) => url));
  return {
    url: balancer.url,
    key: nodes.map(({ firstKey }) => firstKey).find((key) => key !== null)!,
    nodes,
    balancer,
    close: async () => {
      await balancer.close();
      await Promise.all(nodes.map((node) => node.kill()));
      await Promise.all(nodes.map(({ cable }) => cable.close()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

class StartedNode implements Node {
  readonly name: string;
  readonly cable: TcpProxy;
  readonly directory: string;
  readonly #database: string;
  readonly #choice: NodeChoice;
  #child: ChildProcess | undefined;
  #port = 0;
  #stderr = '';
  #isWanted = true;
  deaths = 0;
  firstKey: string | null = null;
  program: string;
  env: Readonly<Record<string, string>>;

  private constructor(name: string, directory: string, database: string, cable: TcpProxy, choice: NodeChoice) {
    this.name = name;
    this.#choice = choice;
    this.program = choice.program ?? MAIN;
    this.env = choice.env ?? {};
    this.cable = cable;
    this.directory = directory;
    this.#database = database;
  }

  static async create(name: string, directory: string, database: string, choice: NodeChoice): Promise<StartedNode> {
    const url = new URL(database);
    const cable = await startTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
    url.hostname = '127.0.0.1';
    url.port = String(cable.port);
    return new StartedNode(name, directory, url.href, cable, choice);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get isUp(): boolean {
    return this.#child !== undefined;
  }

  stderr(): string {
    return this.#stderr;
  }

  async start(): Promise<void> {
    const own = ['--json', '--port', String(this.#port), '--data', this.directory];
    const args = [this.program, 'serve', ...own, ...(this.#choice.args ?? [])];
    const env = cleanEnv({ FLEETLOOM_DATABASE: this.#database, ...this.env });
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const killIt = () => child.kill('SIGKILL');
    // No node outlives the test, also if it fails.
    process.once('exit', killIt);
    child.once('exit', () => process.off('exit', killIt));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    const lines = createInterface({ input: child.stdout });
    const first = await Promise.race([once(lines, 'line'), once(child, 'exit')]);
    if (typeof first[0] !== 'string') throw new Error(`${this.name} ended at its start: ${this.#stderr}`);
    const { port, key } = JSON.parse(first[0]) as { port: number; key: string | null };
    this.#port = port;
    this.firstKey ??= key;
    this.#child = child;
    this.#isWanted = true;
    child.once('exit', () => {
      if (this.#isWanted) this.deaths += 1;
      if (this.#child === child) this.#child = undefined;
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (child === undefined) return null;
    this.#isWanted = false;
    const ended = once(child, 'exit') as Promise<[number | null]>;
    child.kill(signal);
    return (await ended)[0];
  }
}

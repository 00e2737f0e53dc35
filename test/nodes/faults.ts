import type { RandomText } from '../../bench/random-text.ts';
import { sessionLimits } from '../../packages/server/src/sessions/core/limits.ts';
import { isLong } from '../support/seed.ts';
import type { Postgres } from '../../scripts/support/postgres.mjs';
import type { Cluster, Node } from './cluster.ts';
import { holdTable, openConnection } from './database.ts';
import { pause } from './work-through.ts';

const SHORT = ['kill', 'freeze', 'cut', 'restart'] as const;
const ALL = [...SHORT, 'stop', 'terminate', 'lock'] as const;

/** Faults of nodes and their database, in random order, each kind equally often. */
export class Faults {
  readonly counts = { kill: 0, freeze: 0, cut: 0, restart: 0, stop: 0, terminate: 0, lock: 0 };
  readonly #cluster: Cluster;
  readonly #postgres: Postgres;
  readonly #random: RandomText;
  #left: (keyof Faults['counts'])[] = [];

  constructor(cluster: Cluster, postgres: Postgres, random: RandomText) {
    this.#cluster = cluster;
    this.#postgres = postgres;
    this.#random = random;
  }

  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  /** Applies the next fault and resolves when it is over. Nodes take turns, because one may own all sessions. */
  async next(): Promise<void> {
    if (this.#left.length === 0) this.#left = [...(isLong ? ALL : SHORT)];
    const [fault] = this.#left.splice(this.#random.below(this.#left.length), 1) as [keyof Faults['counts']];
    const { nodes } = this.#cluster;
    const node = nodes[this.total % nodes.length]!;
    this.counts[fault] += 1;
    if (fault === 'restart') await this.#postgres.restart(this.#random.below(2) === 0 ? 'immediate' : 'fast');
    else if (fault === 'kill') await this.#kill(node);
    else if (fault === 'freeze') await this.#freeze(node);
    else if (fault === 'stop') await this.#stop(node);
    else if (fault === 'terminate') await this.#terminate();
    else if (fault === 'lock') await this.#lock();
    else await this.#cut(node);
  }

  async #stop(node: Node): Promise<void> {
    await node.stop();
    await node.start();
  }

  /** Ends all connections of all nodes, as an operator or a failover does. */
  async #terminate(): Promise<void> {
    const connection = await openConnection(this.#postgres.url);
    await connection.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    );
    await connection.end();
  }

  /** For longer than a lease, and sometimes for longer than a write may wait for a lock. */
  async #lock(): Promise<void> {
    const held = await holdTable(this.#postgres.url, 'logs');
    await pause(sessionLimits.sharedLeaseMs + this.#random.below(8_000));
    await held.letGo();
  }

  async #kill(node: Node): Promise<void> {
    await node.kill();
    await pause(this.#random.below(2_000));
    await node.start();
  }

  async #freeze(node: Node): Promise<void> {
    node.signal('SIGSTOP');
    await pause(sessionLimits.sharedLeaseMs + 1_500);
    node.signal('SIGCONT');
  }

  async #cut(node: Node): Promise<void> {
    if (this.#random.below(2) === 0) node.cable.cut();
    else node.cable.freeze();
    await pause(sessionLimits.sharedLeaseMs + this.#random.below(2_000));
    node.cable.heal();
  }
}

import type { RandomText } from '../../bench/random-text.ts';
import { limits } from '../../packages/server/src/base/limits.ts';
import type { Postgres } from '../../scripts/support/postgres.mjs';
import type { Cluster, Node } from './cluster.ts';
import { pause } from './work-through.ts';

/** What can go wrong with nodes and their database, in any order, and each kind as often as the others. */
export class Faults {
  readonly counts = { kill: 0, freeze: 0, cut: 0, restart: 0 };
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

  /** The next one, which is over when this resolves. Every node has its turn: one of them may have all the sessions. */
  async next(): Promise<void> {
    if (this.#left.length === 0) this.#left = ['kill', 'freeze', 'cut', 'restart'];
    const [fault] = this.#left.splice(this.#random.below(this.#left.length), 1) as [keyof Faults['counts']];
    const { nodes } = this.#cluster;
    const node = nodes[this.total % nodes.length]!;
    this.counts[fault] += 1;
    if (fault === 'restart') await this.#postgres.restart(this.#random.below(2) === 0 ? 'immediate' : 'fast');
    else if (fault === 'kill') await this.#kill(node);
    else if (fault === 'freeze') await this.#freeze(node);
    else await this.#cut(node);
  }

  async #kill(node: Node): Promise<void> {
    await node.kill();
    await pause(this.#random.below(2_000));
    await node.start();
  }

  async #freeze(node: Node): Promise<void> {
    node.signal('SIGSTOP');
    await pause(limits.sharedLeaseMs + 1_500);
    node.signal('SIGCONT');
  }

  async #cut(node: Node): Promise<void> {
    if (this.#random.below(2) === 0) node.cable.cut();
    else node.cable.freeze();
    await pause(limits.sharedLeaseMs + this.#random.below(2_000));
    node.cable.heal();
  }
}

import { type Clock, systemClock } from '../../../base/clock.ts';
import type { BubblewrapOptions } from '../../sandbox/bubblewrap.ts';
import type { SandboxState } from '../../sandbox/sandbox.ts';
import { ToolFailure } from '../../tool-failure.ts';
import { type ToolLimits, toToolLimits } from '../../tool-limits.ts';
import { openHostSandbox } from './host-sandbox.ts';

/** A tool host that occupies one of the slots. */
export interface LiveHost {
  /** Whether no call is in progress. */
  readonly isIdle: boolean;
  readonly shells: number;
  /** When the last call ended, on a steady clock. */
  readonly usedAt: number;
  /** The tenant of the session. Each tenant has a share of the slots. Undefined: no share applies. */
  readonly tenant?: string | undefined;
  /** Ends the process of the host. The next call starts it again. */
  evict(): void;
}

/**
 * The resources that the tool hosts of all sessions of a server share: a number of slots, and the sandbox.
 *
 * When all slots are occupied, the least recently used idle host is evicted. A host with shells is spared, because their
 * directories and variables would be lost, unless it was unused for very long.
 *
 * One tenant occupies at most half of the slots, so that its long commands do not stop the tools of all others. Of the waiting
 * hosts, the host of the tenant with the fewest slots comes first.
 */
export class ToolHosts {
  readonly #limits: ToolLimits;
  readonly #clock: Clock;
  readonly #taken = new Set<Place>();
  /** Slots whose hosts are being evicted. */
  readonly #leaving = new Set<Place>();
  /** Hosts that wait for a slot, in order. */
  readonly #waiting: Waiter[] = [];
  readonly #sandboxes = new Map<string, Promise<SandboxState>>();
  #looking: NodeJS.Timeout | undefined;

  constructor({ limits, clock = systemClock }: { limits?: Partial<ToolLimits> | undefined; clock?: Clock } = {}) {
    this.#limits = toToolLimits(limits);
    this.#clock = clock;
  }

  /** The number of hosts with a slot. */
  get size(): number {
    return this.#taken.size;
  }

  /** Waits for a slot and returns the function that releases it. Throws a {@link ToolFailure} if no slot becomes free in time. */
  async enter(host: LiveHost, signal: AbortSignal): Promise<() => void> {
    const place: Place = { host };
    const isNext = !this.#waiting.some((waiter) => this.#canTake(waiter.place));
    if (isNext && this.#canTake(place)) this.#taken.add(place);
    else await this.#waitForPlace(place, signal);
    return () => {
      if (!this.#taken.delete(place)) return;
      this.#leaving.delete(place);
      this.#findNext()?.enter();
    };
  }

  #canTake({ host: { tenant } }: Place): boolean {
    return this.#taken.size < this.#limits.toolHostsMax && !this.#isAtShare(tenant);
  }

  #isAtShare(tenant: string | undefined): boolean {
    return tenant !== undefined && this.#count(tenant) >= Math.ceil(this.#limits.toolHostsMax * TENANT_SHARE);
  }

  #count(tenant: string | undefined): number {
    let count = 0;
    for (const { host } of this.#taken) if (host.tenant === tenant) count++;
    return count;
  }

  #findNext(): Waiter | undefined {
    const ready = this.#waiting.filter(({ place }) => this.#canTake(place));
    const counts = new Map(ready.map(({ place: { host } }) => [host.tenant, this.#count(host.tenant)]));
    const fewest = Math.min(...counts.values());
    return ready.find(({ place: { host } }) => counts.get(host.tenant) === fewest);
  }

  /** Called when a host has become idle. */
  hostIsIdle(): void {
    this.#makeRoom();
  }

  /**
   * Opens the sandbox, once for a server. Otherwise an agent that uses up all processes of the machine for a moment could make it look
   * as if there were no sandbox, and would run outside of it if bash is allowed without one.
   */
  async openSandbox(options: BubblewrapOptions): Promise<SandboxState> {
    const key = JSON.stringify([options.allowsNetwork ?? false, options.readOnlyPaths ?? []]);
    const opening = this.#sandboxes.get(key) ?? openHostSandbox(options);
    this.#sandboxes.set(key, opening);
    try {
      return await opening;
    } catch (error) {
      // The machine was too short of resources to try the sandbox, so the next call tries again.
      if (this.#sandboxes.get(key) === opening) this.#sandboxes.delete(key);
      throw error;
    }
  }

  async #waitForPlace(place: Place, signal: AbortSignal): Promise<void> {
    const { toolHostsMax, toolHostWaitMs } = this.#limits;
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => void this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      const enter = (): void => {
        leave();
        stop();
        // Added at once; otherwise the next caller would take the same slot.
        this.#taken.add(place);
        resolve();
      };
      const giveUp = (reason: string): void => {
        leave();
        stop();
        reject(new ToolFailure(reason));
      };
      const onClose = (): void => giveUp('the session is closed');
      const toLate = (): string => {
        const { tenant } = place.host;
        const taken = this.#isAtShare(tenant) ? `${this.#count(tenant)} tool processes of this workspace` : undefined;
        return `all ${taken ?? `${toolHostsMax} tool processes of this server`} are in use: call again in some minutes`;
      };
      const timer = setTimeout(() => giveUp(toLate()), toolHostWaitMs);
      const waiter: Waiter = { place, enter };
      const stop = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onClose);
        this.#stopLooking();
      };
      this.#waiting.push(waiter);
      signal.addEventListener('abort', onClose, { once: true });
      this.#looking ??= setInterval(() => this.#makeRoom(), LOOK_MS);
      this.#makeRoom();
    });
  }

  #makeRoom(): void {
    for (const waiter of this.#waiting) {
      if (this.#leaving.size >= this.#waiting.length) return;
      const { tenant } = waiter.place.host;
      const place = this.#findIdle(this.#isAtShare(tenant) ? (host) => host.tenant === tenant : () => true);
      if (place === undefined) continue;
      this.#leaving.add(place);
      place.host.evict();
    }
  }

  #findIdle(mayEvict: (host: LiveHost) => boolean): Place | undefined {
    const longAgo = this.#clock.steady() - this.#limits.toolHostShellIdleMs;
    const idle = [...this.#taken].filter(
      (place) => place.host.isIdle && !this.#leaving.has(place) && mayEvict(place.host),
    );
    const oldest = idle.sort((one, other) => one.host.usedAt - other.host.usedAt);
    return oldest.find(({ host }) => host.shells === 0) ?? oldest.find(({ host }) => host.usedAt <= longAgo);
  }

  #stopLooking(): void {
    if (this.#waiting.length > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }
}

/** The slot of one process. The next process of the same session has another one. */
interface Place {
  readonly host: LiveHost;
}

/** A host that waits for a slot. */
interface Waiter {
  readonly place: Place;
  readonly enter: () => void;
}

/** The share of the slots that one tenant may occupy. */
const TENANT_SHARE = 1 / 2;

/** How often to check whether a host with shells was unused for long enough. */
const LOOK_MS = 1_000;

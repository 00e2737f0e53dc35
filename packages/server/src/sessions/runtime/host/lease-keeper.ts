import { inBackground, reportAsWarning } from '../../../base/in-background.ts';
import type { Cancel } from '../../../base/schedule.ts';
import { leaseMsOf } from '../open-session.ts';
import { type ResolvedHostOptions, tickMsOf } from './host-options.ts';
import type { HostedSessions } from './hosted-sessions.ts';

/**
 * Renews the leases of open sessions and drops sessions whose lease is lost. It has its own timers: ending a program or
 * reading a long log may take longer than a lease lasts.
 */
export class LeaseKeeper {
  readonly #options: ResolvedHostOptions;
  readonly #sessions: HostedSessions;
  #cancelRenew: Cancel = () => {};
  #cancelWatch: Cancel = () => {};
  #isClosed = false;

  constructor(options: ResolvedHostOptions, sessions: HostedSessions) {
    this.#options = options;
    this.#sessions = sessions;
  }

  start(): void {
    this.#renewLater();
    this.#watchExpiry();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRenew();
    this.#cancelWatch();
  }

  #renewLater(): void {
    this.#cancelRenew = this.#options.schedule(() => {
      // The next tick reports a store that cannot be reached; until the leases expire there is time for another attempt.
      const renewed = this.#renew().catch(() => {});
      inBackground(
        renewed.then(() => this.#isClosed || this.#renewLater()),
        reportAsWarning,
      );
    }, this.#renewMs);
  }

  /** Where no other process can take over a session there is no hurry, and thousands of sessions may be open. */
  get #renewMs(): number {
    return this.#options.shared === undefined ? leaseMsOf(this.#options) / 3 : tickMsOf(this.#options);
  }

  async #renew(): Promise<void> {
    const { store, owner, clock } = this.#options;
    const held = [...this.#sessions.ready].filter(([, { lease }]) => lease.isHeld);
    if (held.length === 0) return;
    const leases = held.map(([sessionId, { actor }]) => ({ sessionId, fence: actor.fence }));
    const ttlMs = leaseMsOf(this.#options);
    const until = clock.steady() + ttlMs;
    const lost = new Set(await store.leases.renew({ owner, ttlMs, leases }));
    for (const [sessionId, { lease }] of held) {
      if (lost.has(sessionId)) this.#sessions.dropLost(sessionId);
      else lease.renewed(until);
    }
  }

  /** Stops work whose lease expired while this process was frozen or cut off from a store that does not respond. */
  #watchExpiry(): void {
    if (this.#options.shared === undefined) return;
    this.#cancelWatch = this.#options.schedule(() => {
      for (const [sessionId, { lease }] of this.#sessions.ready) {
        if (!lease.isHeld) this.#sessions.dropLost(sessionId);
      }
      this.#watchExpiry();
    }, tickMsOf(this.#options) / 2);
  }
}

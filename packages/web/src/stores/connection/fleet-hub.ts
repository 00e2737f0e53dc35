import { inBackground } from './in-background.ts';
import type { ConnectionState, FleetWatch } from '@fleetloom/client';
import { WatchFleetError } from '@fleetloom/client';
import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { connectionLimits } from './limits.ts';
import type { OpenWatchOptions } from './open-watch.ts';
import { type HubMessage, type LinkState, noLink, type TabPort } from './messages.ts';

/** The functions of the page or worker that the hub uses. */
export interface FleetHubOptions {
  readonly open: (options: OpenWatchOptions) => FleetWatch;
  readonly now: () => number;
  /** The server's time, which events carry; its clock may differ from the browser's. */
  readonly serverNow: () => number;
  readonly later: (run: () => void, ms: number) => void;
}

/**
 * The one connection of a browser, shared by its tabs. Every tab receives the same events, in batches. After a broken connection
 * the watch resumes from its cursor, so that every event arrives exactly once.
 */
export class FleetHub {
  readonly #options: FleetHubOptions;
  readonly #ports = new Set<TabPort>();
  /** Sessions with at least one event so far. */
  readonly #sessions = new Set<string>();
  #link: LinkState = noLink;
  #batch: FleetEvent[] = [];
  #isRunning = false;
  #lastByteAt: number | null = null;
  /** Server time of the last reconnect: earlier events that arrive afterwards count as caught up. */
  #reopenedAt = 0;

  constructor(options: FleetHubOptions) {
    this.#options = options;
  }

  attach(port: TabPort): void {
    this.#flush();
    this.#ports.add(port);
    port.postMessage({ type: 'welcome', sessions: [...this.#sessions] });
    this.#setLink({ tabs: this.#ports.size });
    if (!this.#isRunning) inBackground(this.#run());
  }

  detach(port: TabPort): void {
    this.#ports.delete(port);
    this.#setLink({ tabs: this.#ports.size });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      const watch = this.#options.open({
        onConnection: (state) => this.#note(state),
        onBytes: () => {
          this.#lastByteAt = this.#options.now();
        },
      });
      for await (const event of watch) this.#take(event);
      this.#setLink({ type: 'over' });
    } catch (error) {
      const isSignedOut = error instanceof WatchFleetError && error.code === 'unauthorized';
      this.#setLink({ type: isSignedOut ? 'signed_out' : 'over', problem: describe(error) });
    } finally {
      this.#flush();
      // The next tab that attaches connects again.
      this.#isRunning = false;
    }
  }

  #note(state: ConnectionState): void {
    switch (state.type) {
      case 'connecting':
        return this.#setLink({ type: this.#link.reconnects > 0 || state.attempt > 0 ? 'reconnecting' : 'connecting' });
      case 'open':
        this.#reopenedAt = this.#options.serverNow();
        return this.#setLink({ type: 'live', attempt: 0, nextTryAt: null, caughtUp: 0, problem: '' });
      case 'waiting': {
        const { attempt, waitMs, error } = state;
        const problem = error === undefined ? 'the server ended the connection' : describe(error);
        const nextTryAt = this.#options.now() + waitMs;
        const reconnects = this.#link.type === 'live' ? this.#link.reconnects + 1 : this.#link.reconnects;
        return this.#setLink({ type: 'reconnecting', attempt, nextTryAt, problem, reconnects });
      }
    }
  }

  #take(event: FleetEvent): void {
    if (event.session_id !== undefined) {
      if (event.type === 'over') this.#sessions.delete(event.session_id);
      else this.#sessions.add(event.session_id);
    }
    const isLate = this.#link.reconnects > 0 && event.ts !== null && event.ts < this.#reopenedAt;
    if (isLate) this.#link = { ...this.#link, caughtUp: this.#link.caughtUp + 1 };
    if (this.#batch.push(event) === 1) this.#options.later(() => this.#flush(), connectionLimits.hubBatchMs);
  }

  #flush(): void {
    const events = this.#batch;
    if (events.length === 0) return;
    this.#batch = [];
    this.#send({ type: 'events', events });
    if (this.#link.caughtUp > 0) this.#send({ type: 'link', link: this.#link });
  }

  #setLink(change: Partial<LinkState>): void {
    // Events received before the change are delivered before it.
    this.#flush();
    this.#link = { ...this.#link, ...change, lastByteAt: this.#lastByteAt };
    this.#send({ type: 'link', link: this.#link });
  }

  #send(message: HubMessage): void {
    for (const port of this.#ports) port.postMessage(message);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : 'the connection broke';
}

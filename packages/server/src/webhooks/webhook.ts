import type { Clock } from '../base/clock.ts';
import { webhookLimits } from './limits.ts';
import { openConnections } from '../base/outgoing-http.ts';
import type { Cancel, Schedule } from '../base/schedule.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import { ADDRESS } from './remove-unused-addresses.ts';
import { checkAllSessions, findUndelivered } from './find-undelivered.ts';
import { postWebhook } from './post-webhook.ts';
import { deliverResources, hasResourceEvents, RESOURCES } from './deliver-resources.ts';
import { deliverSession } from './deliver-session.ts';
import type { WebhookEvent } from './to-webhook-events.ts';
import type { WebhookAddress } from './webhook-addresses.ts';
import type { WebhookKey } from './webhook-key.ts';
import { createWebhookCursors } from './webhook-cursors.ts';
import { WebhookSender, type WebhookState } from './webhook-sender.ts';

/** Delivers the events of sessions to one address. */
export interface Webhook {
  readonly state: WebhookState;
  notice(sessionId: string): void;
  start(): void;
  close(): Promise<void>;
}

export interface WebhookOptions {
  readonly store: Store;
  readonly address: WebhookAddress;
  /** The ids of all addresses. */
  readonly addressIds: readonly string[];
  readonly key: WebhookKey;
  /** The workspaces whose sessions are delivered. */
  readonly workspaces: () => Promise<readonly string[]>;
  /** The name of this process, if several share the store. */
  readonly holder: string | undefined;
  /** Whether this process searches for sessions that others left undelivered. */
  readonly isMine: () => boolean;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
}

/** Starts the deliveries to one address. Close it to stop them. */
export function createWebhook(options: WebhookOptions): Webhook {
  const { store, address, addressIds, key, workspaces, holder, isMine, clock, schedule, onProblem } = options;
  const connections = openConnections();
  const cursors = createWebhookCursors({ store, addressId: address.id, holder });
  const sender = new WebhookSender({
    label: address.label,
    deliver: async (sessionId, signal) => {
      const { since } = await readMark();
      const post = (event: WebhookEvent) =>
        postWebhook({ url: address.url, key, event, clock, schedule, connections, signal });
      if (sessionId !== RESOURCES) {
        return await deliverSession({ store, workspaces, cursors, sessionId, since, clock, post });
      }
      // One node delivers events of other objects, so that each event is sent once.
      if (!isMine()) return { type: 'elsewhere', delivered: 0 };
      return await deliverResources({ store, addressId: address.id, addressIds, since, clock, post });
    },
    clock,
    schedule,
    onProblem,
  });
  // The time of creation and not of first use, so that events before the first use are delivered.
  const madeAt = clock.now();
  let mark: Promise<Mark> | undefined;
  let cancel: Cancel = () => {};
  let looking: Promise<void> = Promise.resolve();
  let isClosed = false;
  let isFirst = true;
  let sweptAt = Number.NEGATIVE_INFINITY;

  return {
    get state() {
      return sender.state;
    },
    notice: (sessionId) => void sender.notice(sessionId),
    start: () => look(),
    close: async () => {
      isClosed = true;
      cancel();
      await Promise.all([looking, sender.close()]);
      connections.close();
    },
  };

  function look(): void {
    looking = (isMine() ? lookOnce() : readMark().then(() => {})).catch(onProblem).finally(() => {
      if (!isClosed) cancel = schedule(look, webhookLimits.webhookLookMs);
    });
  }

  async function lookOnce(): Promise<void> {
    const { since, settledAt } = await readMark();
    if (await hasResourceEvents(store)) sender.notice(RESOURCES);
    const from = Math.max(since, settledAt, clock.now() - webhookLimits.webhookKeepMs);
    const notice = (sessionId: string) => !isClosed && sender.notice(sessionId);
    const settled = await findUndelivered({ store, cursors, workspaces, clock, from, isFirst, notice });
    if (settled === undefined) return;
    isFirst = false;
    if (clock.steady() - sweptAt >= webhookLimits.webhookSweepMs) {
      await checkAllSessions({ store, cursors, notice });
      sweptAt = clock.steady();
    }
    // A restart then searches a little further back than needed, which is cheaper than a write per search.
    if (settled - settledAt < webhookLimits.webhookMarginMs) return;
    mark = Promise.resolve({ since, settledAt: settled });
    await store.documents.put({ kind: ADDRESS, id: address.id, data: { since, settled_at: settled } });
  }

  /** Reads the mark once. A failure is not cached, so that the next call reads again. */
  async function readMark(): Promise<Mark> {
    mark ??= openMark();
    try {
      return await mark;
    } catch (error) {
      mark = undefined;
      throw error;
    }
  }

  /** The first node that starts with an address records when it was configured. */
  async function openMark(): Promise<Mark> {
    const { documents } = store;
    const data = { since: madeAt, settled_at: 0 };
    const made = await documents
      .put({ kind: ADDRESS, id: address.id, data, ifRevision: 0 })
      .catch(async (error: unknown) => {
        if (!isStoreError(error, 'version_conflict')) throw error;
        return (await documents.get(ADDRESS, address.id))!;
      });
    return { since: made.data['since'] as number, settledAt: made.data['settled_at'] as number };
  }
}

interface Mark {
  /** When the address was configured: older events are not delivered. */
  readonly since: number;
  /** Sessions that have not changed since then are delivered completely. */
  readonly settledAt: number;
}

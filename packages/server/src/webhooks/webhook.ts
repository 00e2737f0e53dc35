import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { openConnections } from '../base/outgoing-http.ts';
import type { Cancel, Schedule } from '../base/schedule.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import { ADDRESS } from './forget-addresses.ts';
import { lookAtAll, lookForUntold } from './look-for-untold.ts';
import { postWebhook } from './post-webhook.ts';
import { tellSession } from './tell-session.ts';
import type { WebhookAddress } from './webhook-addresses.ts';
import type { WebhookKey } from './webhook-key.ts';
import { createWebhookPlaces } from './webhook-places.ts';
import { WebhookSender } from './webhook-sender.ts';

/** One address that is told of sessions. */
export interface Webhook {
  notice(sessionId: string): void;
  start(): void;
  close(): Promise<void>;
}

export interface WebhookOptions {
  readonly store: Store;
  readonly address: WebhookAddress;
  readonly key: WebhookKey;
  /** Whose sessions are told of. */
  readonly workspaces: () => Promise<readonly string[]>;
  /** Names this process, where several share the store. */
  readonly holder: string | undefined;
  /** Whether it is for this process to find what others have left. */
  readonly isMine: () => boolean;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
}

export function createWebhook(options: WebhookOptions): Webhook {
  const { store, address, key, workspaces, holder, isMine, clock, schedule, onProblem } = options;
  const connections = openConnections();
  const places = createWebhookPlaces({ store, addressId: address.id, holder });
  const sender = new WebhookSender({
    label: address.label,
    tell: async (sessionId, signal) =>
      await tellSession({
        store,
        workspaces,
        places,
        sessionId,
        since: (await readMark()).since,
        clock,
        post: (event) => postWebhook({ url: address.url, key, event, clock, schedule, connections, signal }),
      }),
    clock,
    schedule,
    onProblem,
  });
  // Not when it is first needed: what happened just before would not be told.
  const madeAt = clock.now();
  let mark: Promise<Mark> | undefined;
  let cancel: Cancel = () => {};
  let looking: Promise<void> = Promise.resolve();
  let isClosed = false;
  let isFirst = true;
  let sweptAt = Number.NEGATIVE_INFINITY;

  return {
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
      if (!isClosed) cancel = schedule(look, limits.webhookLookMs);
    });
  }

  async function lookOnce(): Promise<void> {
    const { since, settledAt } = await readMark();
    const from = Math.max(since, settledAt, clock.now() - limits.webhookKeepMs);
    const notice = (sessionId: string) => !isClosed && sender.notice(sessionId);
    const settled = await lookForUntold({ store, places, workspaces, clock, from, isFirst, notice });
    if (settled === undefined) return;
    isFirst = false;
    if (clock.steady() - sweptAt >= limits.webhookSweepMs) {
      await lookAtAll({ store, places, notice });
      sweptAt = clock.steady();
    }
    // A restart looks a little further back than it had to: that is cheaper than a write with each look.
    if (settled - settledAt < limits.webhookMarginMs) return;
    mark = Promise.resolve({ since, settledAt: settled });
    await store.documents.put({ kind: ADDRESS, id: address.id, data: { since, settled_at: settled } });
  }

  /** Read once. A failure is forgotten, so that the next one asks again. */
  async function readMark(): Promise<Mark> {
    mark ??= openMark();
    try {
      return await mark;
    } catch (error) {
      mark = undefined;
      throw error;
    }
  }

  /** Whoever hears of an address first says since when there is one. */
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
  /** What happened before is not told. */
  readonly since: number;
  /** Everything that happened in sessions that have not changed since then was told. */
  readonly settledAt: number;
}

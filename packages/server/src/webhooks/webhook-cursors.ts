import { readPages } from '../store/read-pages.ts';
import { storeLimits } from '../store/limits.ts';
import { webhookLimits } from './limits.ts';
import type { JsonObject } from '../base/json/json.ts';
import type { DocumentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';

/** The position up to which the events of a session were delivered to an address. */
export interface WebhookCursor {
  readonly workspaceId: string;
  readonly primaryThreadId: string;
  /** All frames up to this one are delivered. */
  readonly seq: number;
  /** Older frames belong to the session that this one was forked from, and are not delivered. */
  readonly deliverFrom: number;
  /** Whether the session is read-only: read-only sessions have no events. */
  readonly isSilent: boolean;
}

/** A cursor that this node has claimed. */
export interface HeldCursor {
  readonly cursor: WebhookCursor;
  /** Advances the cursor; false if another node has claimed it. */
  move(seq: number): Promise<boolean>;
  /** Removes the cursor of a deleted session, once the deletion was delivered. */
  forget(): Promise<void>;
  /** Ends the claim. */
  release(): Promise<void>;
}

/** The cursors of one address. They are kept in the store, so that delivery continues after a crash, on any node. */
export interface WebhookCursors {
  /** Claims a cursor, creating it first if needed. `elsewhere`: another node has claimed it; undefined: `make` returned none. */
  take(
    sessionId: string,
    make: () => Promise<WebhookCursor | undefined>,
  ): Promise<HeldCursor | 'elsewhere' | undefined>;
  /** The last delivered frame of each session that has a cursor; the largest number for read-only sessions. */
  read(sessionIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The cursors of all sessions, page by page. */
  list(): AsyncGenerator<ReadonlyMap<string, number>>;
  /** Removes all cursors. */
  clear(): Promise<void>;
}

export interface WebhookCursorsOptions {
  readonly store: Pick<Store, 'documents' | 'now'>;
  readonly addressId: string;
  /** The name of this node, if several share the store. */
  readonly holder: string | undefined;
}

/** Creates the delivery cursors of one address, which all nodes share. */
export function createWebhookCursors(options: WebhookCursorsOptions): WebhookCursors {
  const { store, addressId, holder } = options;
  const { documents } = store;
  const kind = kindOf(addressId);

  return {
    take: async (sessionId, make) => {
      const known = await documents.get(kind, sessionId);
      if (known !== undefined && (await isHeldByAnother(known.data))) return 'elsewhere';
      const cursor = known === undefined ? await make() : toCursor(known.data);
      if (cursor === undefined) return undefined;
      const held = new Held(options, sessionId, cursor, known?.revision ?? 0);
      // A single node needs no claim on a cursor that exists.
      const isMine = (holder === undefined && known !== undefined) || (await held.move(cursor.seq));
      return isMine ? held : 'elsewhere';
    },
    read: async (sessionIds) => {
      return toDeliveredSeqs(await documents.getAll(kind, sessionIds));
    },
    list,
    clear: async () => {
      for await (const delivery of list()) for (const id of delivery.keys()) await documents.delete(kind, id);
    },
  };

  async function* list(): AsyncGenerator<ReadonlyMap<string, number>> {
    const request = { kind, order: 'asc', limit: storeLimits.recordPageItemsMax } as const;
    for await (const page of readPages((from) => documents.list({ ...request, ...from }))) yield toDeliveredSeqs(page);
  }

  async function isHeldByAnother(data: JsonObject): Promise<boolean> {
    const { held_by: by, held_until: until } = data;
    return holder !== undefined && by !== undefined && by !== holder && Number(until) > (await store.now());
  }
}

class Held implements HeldCursor {
  cursor: WebhookCursor;
  readonly #options: WebhookCursorsOptions;
  readonly #sessionId: string;
  #revision: number;

  constructor(options: WebhookCursorsOptions, sessionId: string, cursor: WebhookCursor, revision: number) {
    this.#options = options;
    this.#sessionId = sessionId;
    this.cursor = cursor;
    this.#revision = revision;
  }

  async move(seq: number): Promise<boolean> {
    const { store, holder } = this.#options;
    this.cursor = { ...this.cursor, seq };
    const claim =
      holder === undefined ? {} : { held_by: holder, held_until: (await store.now()) + webhookLimits.webhookClaimMs };
    return await this.#put({ ...toData(this.cursor), ...claim });
  }

  async forget(): Promise<void> {
    const { store, addressId } = this.#options;
    await store.documents.delete(kindOf(addressId), this.#sessionId);
  }

  async release(): Promise<void> {
    if (this.#options.holder !== undefined) await this.#put(toData(this.cursor));
  }

  async #put(data: object): Promise<boolean> {
    const { store, addressId } = this.#options;
    const document = { kind: kindOf(addressId), id: this.#sessionId, data, ifRevision: this.#revision };
    const put = await store.documents.put(document).catch((error: unknown): DocumentRecord | undefined => {
      if (isStoreError(error, 'version_conflict')) return undefined;
      throw error;
    });
    this.#revision = put?.revision ?? this.#revision;
    return put !== undefined;
  }
}

function kindOf(addressId: string): string {
  return `webhook_place_${addressId}`;
}

function toDeliveredSeqs(documents: readonly DocumentRecord[]): ReadonlyMap<string, number> {
  return new Map(documents.map(({ id, data }) => [id, deliveredUpTo(toCursor(data))]));
}

function deliveredUpTo({ seq, isSilent }: WebhookCursor): number {
  return isSilent ? Number.MAX_SAFE_INTEGER : seq;
}

function toData({ workspaceId, primaryThreadId, seq, deliverFrom, isSilent }: WebhookCursor): object {
  return {
    workspace_id: workspaceId,
    primary_thread_id: primaryThreadId,
    seq,
    told_from: deliverFrom,
    is_silent: isSilent,
  };
}

/** Converts a document, which only `toData` writes. */
function toCursor(data: JsonObject): WebhookCursor {
  return {
    workspaceId: data['workspace_id'] as string,
    primaryThreadId: data['primary_thread_id'] as string,
    seq: data['seq'] as number,
    deliverFrom: data['told_from'] as number,
    isSilent: data['is_silent'] as boolean,
  };
}

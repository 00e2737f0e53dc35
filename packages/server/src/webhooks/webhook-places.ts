import { limits } from '../base/limits.ts';
import type { JsonObject } from '../base/json.ts';
import type { DocumentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';

/** How far an address was told of a session. */
export interface WebhookPlace {
  readonly workspaceId: string;
  readonly primaryThreadId: string;
  /** Everything up to this frame was told. */
  readonly seq: number;
  /** What is older happened in another session, of which this one is a fork. */
  readonly toldFrom: number;
  /** Nothing is told of it. */
  readonly isSilent: boolean;
}

/** A place that nobody else moves meanwhile. */
export interface HeldPlace {
  readonly place: WebhookPlace;
  /** False: somebody else has it now. */
  move(seq: number): Promise<boolean>;
  /** The session is gone, and that was told. */
  forget(): Promise<void>;
  /** Lets others have it. */
  release(): Promise<void>;
}

/** The places of one address. They are in the store, so that whoever comes after a crash goes on where the last one was. */
export interface WebhookPlaces {
  /** Takes it, or makes it if there is none. `elsewhere`: another node has it. Nothing if it cannot be made. */
  take(sessionId: string, make: () => Promise<WebhookPlace | undefined>): Promise<HeldPlace | 'elsewhere' | undefined>;
  /** The last frame told of each session that has a place, as if all were told where nothing is. */
  read(sessionIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The same of all sessions that have one, some at a time. */
  list(): AsyncGenerator<ReadonlyMap<string, number>>;
  /** Nobody needs them any more. */
  clear(): Promise<void>;
}

export interface WebhookPlacesOptions {
  readonly store: Pick<Store, 'documents' | 'now'>;
  readonly addressId: string;
  /** Who takes places, where several nodes share the store. */
  readonly holder: string | undefined;
}

export function createWebhookPlaces(options: WebhookPlacesOptions): WebhookPlaces {
  const { store, addressId, holder } = options;
  const { documents } = store;
  const kind = kindOf(addressId);

  return {
    take: async (sessionId, make) => {
      const known = await documents.get(kind, sessionId);
      if (known !== undefined && (await isHeldByAnother(known.data))) return 'elsewhere';
      const place = known === undefined ? await make() : toPlace(known.data);
      if (place === undefined) return undefined;
      const held = new Held(options, sessionId, place, known?.revision ?? 0);
      // Alone, a place that is there needs no claim.
      const isMine = (holder === undefined && known !== undefined) || (await held.move(place.seq));
      return isMine ? held : 'elsewhere';
    },
    read: async (sessionIds) => {
      return toTold(await documents.getAll(kind, sessionIds));
    },
    list,
    clear: async () => {
      for await (const told of list()) for (const id of told.keys()) await documents.delete(kind, id);
    },
  };

  async function* list(): AsyncGenerator<ReadonlyMap<string, number>> {
    let cursor: string | null = null;
    do {
      const from: { cursor?: string } = cursor === null ? {} : { cursor };
      const page = await documents.list({ kind, order: 'asc', limit: limits.recordPageItemsMax, ...from });
      yield toTold(page.items);
      cursor = page.next;
    } while (cursor !== null);
  }

  async function isHeldByAnother(data: JsonObject): Promise<boolean> {
    const { held_by: by, held_until: until } = data;
    return holder !== undefined && by !== undefined && by !== holder && Number(until) > (await store.now());
  }
}

class Held implements HeldPlace {
  place: WebhookPlace;
  readonly #options: WebhookPlacesOptions;
  readonly #sessionId: string;
  #revision: number;

  constructor(options: WebhookPlacesOptions, sessionId: string, place: WebhookPlace, revision: number) {
    this.#options = options;
    this.#sessionId = sessionId;
    this.place = place;
    this.#revision = revision;
  }

  async move(seq: number): Promise<boolean> {
    const { store, holder } = this.#options;
    this.place = { ...this.place, seq };
    const claim =
      holder === undefined ? {} : { held_by: holder, held_until: (await store.now()) + limits.webhookClaimMs };
    return await this.#put({ ...toData(this.place), ...claim });
  }

  async forget(): Promise<void> {
    const { store, addressId } = this.#options;
    await store.documents.delete(kindOf(addressId), this.#sessionId);
  }

  async release(): Promise<void> {
    if (this.#options.holder !== undefined) await this.#put(toData(this.place));
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

function toTold(documents: readonly DocumentRecord[]): ReadonlyMap<string, number> {
  return new Map(documents.map(({ id, data }) => [id, toldUpTo(toPlace(data))]));
}

function toldUpTo({ seq, isSilent }: WebhookPlace): number {
  return isSilent ? Number.MAX_SAFE_INTEGER : seq;
}

function toData({ workspaceId, primaryThreadId, seq, toldFrom, isSilent }: WebhookPlace): object {
  return {
    workspace_id: workspaceId,
    primary_thread_id: primaryThreadId,
    seq,
    told_from: toldFrom,
    is_silent: isSilent,
  };
}

/** Only toData writes them. */
function toPlace(data: JsonObject): WebhookPlace {
  return {
    workspaceId: data['workspace_id'] as string,
    primaryThreadId: data['primary_thread_id'] as string,
    seq: data['seq'] as number,
    toldFrom: data['told_from'] as number,
    isSilent: data['is_silent'] as boolean,
  };
}

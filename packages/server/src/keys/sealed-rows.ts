import type { NewAuditEntry } from '../store/audit.ts';
import type { DocumentRecord } from '../store/records.ts';
import { readPages } from '../store/read-pages.ts';
import { storeLimits } from '../store/limits.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import { FleetloomError } from '../base/errors.ts';
import { keyIdOf, type Sealer } from './sealer.ts';

/** A kind of document that has sealed secrets. */
export interface SealedKind {
  readonly kind: string;
  /** The sealed fields of a document, by name, with the names that they were sealed with. */
  readonly fieldsOf: (document: DocumentRecord) => readonly SealedField[];
}

export interface SealedField {
  readonly field: string;
  readonly names: readonly string[];
}

/** How many secrets were sealed with each master key, by its id. */
export type KeyUse = ReadonlyMap<string, number>;

/** The result of one step of a rotation. */
export interface Rewrapped {
  readonly rewrapped: number;
  /** Secrets that do not open: their row was moved, or their key is not known here. */
  readonly unopened: number;
  readonly use: KeyUse;
}

/** Counts the secrets of all workspaces by the master key that they were sealed with. */
export async function countKeyUse(
  { documents }: Pick<Store, 'documents'>,
  kinds: readonly SealedKind[],
): Promise<KeyUse> {
  const use = new Map<string, number>();
  for await (const { document, fields } of listSealed(documents, kinds)) count(use, document, fields);
  return use;
}

/** Throws if there are secrets that the keys of this server do not open: it would fail requests of other nodes' sessions. */
export function checkKeyUse(use: KeyUse, sealer: Sealer): void {
  const missing = [...use.keys()].filter((id) => !sealer.keyIds.includes(id));
  if (missing.length === 0) return;
  const rows = missing.reduce((sum, id) => sum + use.get(id)!, 0);
  throw new FleetloomError({
    code: 'master_key_missing',
    kind: 'terminal',
    problem: `${rows} stored secrets were sealed with the master key ${missing.join(', ')}, which this server does not have`,
    advice:
      'set FLEETLOOM_MASTER_KEY to that key; after a change of the key, FLEETLOOM_MASTER_KEY_OLD to the one before',
  });
}

/**
 * Wraps secrets of older master keys with the current one, up to `max`. May be repeated at any time, on any node. `audit` is stored
 * in the commit of the first of them.
 */
export async function rewrapSome(
  { documents }: Pick<Store, 'documents'>,
  kinds: readonly SealedKind[],
  sealer: Sealer,
  { max, audit }: { readonly max: number; readonly audit?: NewAuditEntry | undefined },
): Promise<Rewrapped> {
  const use = new Map<string, number>();
  let [rewrapped, unopened] = [0, 0];
  if (sealer.keyId === undefined) return { rewrapped, unopened, use: await countKeyUse({ documents }, kinds) };
  for await (const { document, fields } of listSealed(documents, kinds)) {
    const old = fields.filter(({ field }) => keyIdOf(textOf(document, field)) !== sealer.keyId);
    if (old.length === 0 || rewrapped >= max) {
      count(use, document, fields);
      continue;
    }
    const data: Record<string, unknown> = { ...document.data };
    let changed = 0;
    for (const { field, names } of old) {
      try {
        data[field] = sealer.rewrap(textOf(document, field), names);
        changed++;
      } catch (error) {
        if (!(error instanceof FleetloomError) || error.code !== 'secret_not_opened') throw error;
        unopened++;
      }
    }
    const isDone = changed > 0 && (await put(documents, document, data, rewrapped === 0 ? audit : undefined));
    if (isDone) rewrapped += changed;
    count(use, isDone ? { ...document, data: data as DocumentRecord['data'] } : document, fields);
  }
  return { rewrapped, unopened, use };
}

/** False if another writer came first: then it is found again by the next step. */
async function put(
  documents: Store['documents'],
  { kind, id, revision }: DocumentRecord,
  data: object,
  audit: NewAuditEntry | undefined,
): Promise<boolean> {
  try {
    await documents.change([{ type: 'put', kind, id, data, ifRevision: revision }], audit);
    return true;
  } catch (error) {
    if (!isStoreError(error, 'version_conflict')) throw error;
    return false;
  }
}

async function* listSealed(documents: Store['documents'], kinds: readonly SealedKind[]) {
  for (const { kind, fieldsOf } of kinds) {
    const request = { kind, order: 'asc', limit: storeLimits.recordPageItemsMax } as const;
    for await (const page of readPages((from) => documents.list({ ...request, ...from }))) {
      for (const document of page) yield { document, fields: fieldsOf(document) };
    }
  }
}

function count(use: Map<string, number>, document: DocumentRecord, fields: readonly SealedField[]): void {
  for (const { field } of fields) {
    const id = keyIdOf(textOf(document, field));
    use.set(id, (use.get(id) ?? 0) + 1);
  }
}

function textOf({ data }: DocumentRecord, field: string): string {
  const sealed = data[field];
  return typeof sealed === 'string' ? sealed : '';
}

import type { AuditChainEnd, FleetAuditEntry } from '@fleetloom/protocol/fleet';
import { api } from '../stores/connection/api.ts';
import { type AuditFilter, isBefore, isShown } from './filter-entries.ts';

interface AuditPage {
  readonly data: readonly FleetAuditEntry[];
  readonly start: AuditChainEnd;
  readonly head: AuditChainEnd;
  readonly next_after: number | null;
}

/** Entries that match a filter, the newest first. */
export interface FoundEntries {
  readonly entries: readonly FleetAuditEntry[];
  /** The `seq` of the oldest entry that was searched; older entries remain. Undefined if none remain. */
  readonly before: number | undefined;
  readonly looked: number;
}

/** Searches the log backwards, from `before` or from its end, until it has found SHOWN entries or searched LOOKED_MAX entries. */
export async function findEntries(filter: AuditFilter, before?: number, signal?: AbortSignal): Promise<FoundEntries> {
  const entries: FleetAuditEntry[] = [];
  const first = before === undefined ? await readPage(BEHIND_ALL, 1) : undefined;
  let end = before ?? first!.head.seq + 1;
  let looked = 0;
  while (entries.length < SHOWN && looked < LOOKED_MAX && end > 1) {
    if (signal?.aborted === true) break;
    const after = Math.max(0, end - 1 - PAGE);
    const page = await readPage(after, end - 1 - after);
    const found = page.data.filter(({ seq }) => seq < end).toReversed();
    looked += found.length;
    const last = found.at(-1);
    // Retention has removed all older entries.
    if (last === undefined) return { entries, before: undefined, looked };
    entries.push(...found.filter((entry) => isShown(entry, filter)));
    end = last.seq;
    if (isBefore(last, filter) || end <= page.start.seq + 1) return { entries, before: undefined, looked };
  }
  return { entries, before: end > 1 ? end : undefined, looked };
}

/** Every entry, in order. */
export async function* readAll(signal: AbortSignal): AsyncGenerator<AuditPage, void, undefined> {
  for (let after: number | null = 0; after !== null && !signal.aborted; ) {
    const page: AuditPage = await readPage(after, PAGE);
    yield page;
    after = page.next_after;
  }
}

async function readPage(after: number, limit: number): Promise<AuditPage> {
  return await api.get<AuditPage>(`v1/fleet/audit?after=${after}&limit=${limit}`);
}

/** A `seq` after every entry, so that the response contains only the end of the log. */
const BEHIND_ALL = 999_999_999_999_999;
/** Entries per page of the server, entries to find per search, and entries that one search reads. */
const PAGE = 1_000;
const SHOWN = 100;
const LOOKED_MAX = 20_000;

import { createHash } from 'node:crypto';
import type { JsonObject } from '../base/json/json.ts';

/** What was done, to be appended to the audit log of a workspace together with what it records. Never holds a secret. */
export interface NewAuditEntry {
  readonly workspaceId: string;
  readonly data: object;
}

/** An entry of the audit log. Each has the hash of the one before it in its own. */
export interface AuditEntry {
  readonly workspaceId: string;
  /** From 1, dense. */
  readonly seq: number;
  /** By the clock of the store. */
  readonly time: number;
  readonly data: JsonObject;
  readonly hash: string;
}

/** An entry by its number and hash: where a chain begins or ends. */
export interface ChainEnd {
  readonly seq: number;
  readonly hash: string;
}

/** The audit log: one chain of entries for each workspace. Entries are appended, and only ever removed from the beginning. */
export interface AuditLog {
  /** Entries of actions that are not changes of this store. All other entries are written by the change that they record. */
  append(entries: readonly NewAuditEntry[]): Promise<void>;
  /** In order, those behind `after`. */
  list(request: { workspaceId: string; after: number; limit: number }): Promise<readonly AuditEntry[]>;
  /** The last removed entry, or {@link CHAIN_START}, and the newest entry. */
  ends(workspaceId: string): Promise<{ readonly start: ChainEnd; readonly head: ChainEnd }>;
  /** The newest entry of each workspace that has any. */
  heads(): Promise<ReadonlyMap<string, ChainEnd>>;
  /** Removes entries from before a time, of all workspaces, at most `limit` of each. Returns how many there were. */
  prune(before: number, limit: number): Promise<number>;
}

/** Makes entries about what one caller does: the caller and where it calls from are known, the action is given. */
export type Auditor = (action: string, target: string | null, details?: object) => NewAuditEntry;

/** What the first entry of a chain stands behind. */
export const CHAIN_START: ChainEnd = { seq: 0, hash: '0'.repeat(64) };

/** The JSON of an entry. Parsed and written again it is the same text, so that a reader can compute the hash. */
export function toEntryText(data: object): string {
  // The last character there is stands for a zero in PostgreSQL.
  return JSON.stringify(data).replaceAll('\u{10ffff}', '\ufffd');
}

/**
 * The hash of an entry: SHA-256, in hexadecimal, of the hash before it, the workspace, the number, the time in milliseconds and the
 * JSON of its data, separated by line feeds. PostgreSQL computes the same (steps.ts).
 */
export function toEntryHash(before: string, entry: Omit<AuditEntry, 'hash' | 'data'>, text: string): string {
  const { workspaceId, seq, time } = entry;
  return createHash('sha256').update(`${before}\n${workspaceId}\n${seq}\n${time}\n${text}`).digest('hex');
}

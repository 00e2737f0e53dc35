import { createHash } from 'node:crypto';
import type { JsonObject } from '../base/json/json.ts';

/** An entry to append to the audit log of a workspace, in the transaction of the recorded change. Never contains a secret. */
export interface NewAuditEntry {
  readonly workspaceId: string;
  readonly data: object;
}

/** An entry of the audit log. Each has the hash of the one before it in its own. */
export interface AuditEntry {
  readonly workspaceId: string;
  /** Counts from 1 without gaps. */
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
  /** Appends entries of actions that do not change this store. All other entries are written with the change that they record. */
  append(entries: readonly NewAuditEntry[]): Promise<void>;
  /** Entries behind `after`, in order. */
  list(request: { workspaceId: string; after: number; limit: number }): Promise<readonly AuditEntry[]>;
  /** The last removed entry, or {@link CHAIN_START}, and the newest entry. */
  ends(workspaceId: string): Promise<{ readonly start: ChainEnd; readonly head: ChainEnd }>;
  /** The newest entry of each workspace that has any. */
  heads(): Promise<ReadonlyMap<string, ChainEnd>>;
  /** Removes entries older than a time, at most `limit` of each workspace. Returns the number of removed entries. */
  prune(before: number, limit: number): Promise<number>;
}

/** Creates entries about the actions of one caller, whose identity and address are known. */
export type Auditor = (action: string, target: string | null, details?: object) => NewAuditEntry;

/** The end before the first entry of a chain. */
export const CHAIN_START: ChainEnd = { seq: 0, hash: '0'.repeat(64) };

/** The JSON of an entry. Parsed and written again it is the same text, so that a reader can compute the hash. */
export function toEntryText(data: object): string {
  // U+10FFFF stands for NUL in PostgreSQL.
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

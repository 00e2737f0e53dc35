import { type AuditChainEnd, describeChainEnd, type FleetAuditEntry } from '@fleetloom/protocol/fleet';

/** The result of a verification so far. */
export interface Verdict {
  readonly checked: number;
  /** The problems, one sentence each; at most {@link PROBLEMS_MAX}. */
  readonly problems: readonly string[];
  readonly last: AuditChainEnd | undefined;
}

/** The verdict before the first page. */
export const UNCHECKED: Verdict = { checked: 0, problems: [], last: undefined };

/** Checks the next entries against the chain of hashes, as `fleetloom audit --verify` does. */
export async function verifyNext(
  verdict: Verdict,
  entries: readonly FleetAuditEntry[],
  start: AuditChainEnd,
): Promise<Verdict> {
  const problems = [...verdict.problems];
  let before = verdict.last ?? start;
  for (const entry of entries) {
    const { seq, hash } = entry;
    const isNext = seq === before.seq + 1;
    if (!isNext) problems.push(`Entry ${seq} follows entry ${before.seq}: entries are missing or out of order.`);
    else if ((await hashOf(before.hash, entry)) !== hash)
      problems.push(`Entry ${seq} was changed, or the one before it: its hash does not match.`);
    before = { seq, hash };
  }
  return { checked: verdict.checked + entries.length, problems: problems.slice(0, PROBLEMS_MAX), last: before };
}

/** Compares the last checked entry with the recorded end of the log: otherwise the removal of the newest entries would not be detected. */
export function verifyEnd(verdict: Verdict, start: AuditChainEnd, head: AuditChainEnd): Verdict {
  const problem = describeChainEnd(verdict.last ?? start, head);
  if (problem === undefined) return verdict;
  const sentence = `${problem[0]!.toUpperCase()}${problem.slice(1)}.`;
  return { ...verdict, problems: [sentence, ...verdict.problems].slice(0, PROBLEMS_MAX) };
}

/** The hash of an entry, from the hash of the entry before it: docs/audit.md, "What verification finds". */
async function hashOf(before: string, { workspace_id: id, seq, recorded_at: at, entry }: FleetAuditEntry) {
  const text = JSON.stringify(entry).replaceAll('\u{10ffff}', '\ufffd');
  const bytes = new TextEncoder().encode(`${before}\n${id}\n${seq}\n${Date.parse(at)}\n${text}`);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Problems that are kept. */
export const PROBLEMS_MAX = 20;

import { expect, it } from 'vitest';
import type { FleetAuditEntry } from '@fleetloom/protocol/fleet';
import { type AuditPage, verifyAudit } from '../../../packages/cli/src/server/verify-audit.ts';
import { toFleetAuditEntry } from '../../../packages/server/src/http/routes/access/audit.ts';
import { CHAIN_START, type ChainEnd, toEntryHash, toEntryText } from '../../../packages/server/src/store/audit.ts';
import { createMemoryStore } from '../../../packages/server/src/store/memory/memory-store.ts';
import { isLong, randomText } from '../../support/seed.ts';

const ROUNDS = isLong ? 20_000 : 300;

it('[ID201] any change, removal, also of the end, repetition, insertion and reordering of entries is found, wherever pages end', async () => {
  const random = randomText();
  const below = (count: number) => random.below(count);
  for (let round = 0; round < ROUNDS; round++) {
    const log = await createLog(1 + below(12), below(3));
    expect((await verify(log, 1 + below(5))).problems).toEqual([]);
    const entries = tamper(log.entries, below);
    if (JSON.stringify(entries) === JSON.stringify(log.entries)) continue;
    const { problems } = await verify({ ...log, entries }, 1 + below(5));
    expect([round, toShown(log.entries), toShown(entries), problems.length > 0]).toEqual([
      round,
      expect.anything(),
      expect.anything(),
      true,
    ]);
  }
});

it('[ID201] a log that was rewritten from an entry on, with all hashes and the newest entry, is found with an anchor at that entry or behind it', async () => {
  const random = randomText();
  for (let round = 0; round < ROUNDS / 10; round++) {
    const log = await createLog(2 + random.below(10), 0);
    const from = random.below(log.entries.length);
    // With another end: shorter by some entries, or as long as it was.
    const kept = log.entries.slice(0, log.entries.length - random.below(2));
    const entries = rehash(
      kept.map((each, at) => (at < from ? each : { ...each, entry: { ...each.entry, target: 'other' } })),
    );
    const head = entries.at(-1) ?? CHAIN_START;
    expect((await verify({ ...log, entries, head }, 3)).problems).toEqual([]);
    for (const [at, anchor] of log.entries.entries()) {
      const { problems } = await verify({ ...log, entries, head }, 3, anchor);
      expect([round, at, problems.length > 0]).toEqual([round, at, at >= from || at >= entries.length]);
    }
  }
});

interface Log {
  readonly entries: readonly FleetAuditEntry[];
  readonly start: ChainEnd;
  readonly head: ChainEnd;
}

/** A log of a store, of which retention has removed the beginning. */
async function createLog(count: number, removed: number): Promise<Log> {
  let time = 1_000;
  const store = createMemoryStore({ clock: { now: () => time++, steady: () => time } });
  const append = async (many: number) => {
    for (let at = 0; at < many; at++)
      await store.audit.append([
        { workspaceId: 'w', data: { action: 'agent.created', target: `a${at}`, details: { at } } },
      ]);
  };
  await append(removed);
  if (removed > 0) await store.audit.prune(time, removed);
  await append(count);
  const entries = (await store.audit.list({ workspaceId: 'w', after: 0, limit: 100 })).map(toFleetAuditEntry);
  return { entries, ...(await store.audit.ends('w')) };
}

function verify({ entries, start, head }: Log, pageSize: number, anchor?: ChainEnd) {
  const readPage = async (after: number): Promise<AuditPage> => {
    // Entries by their place and not by their number, which may be wrong.
    const at = after;
    const data = entries.slice(at, at + pageSize);
    return { data, start, head, next_after: at + pageSize < entries.length ? at + pageSize : null };
  };
  return verifyAudit(readPage, anchor);
}

type Below = (count: number) => number;

/** One thing that a user with access to the database might do. */
function tamper(entries: readonly FleetAuditEntry[], below: Below): readonly FleetAuditEntry[] {
  const [one, other] = [below(entries.length), below(entries.length)];
  const each = entries[one]!;
  const replace = (by: FleetAuditEntry) => entries.with(one, by);
  const ways: readonly (() => readonly FleetAuditEntry[])[] = [
    () => replace({ ...each, entry: { ...each.entry, target: `b${below(100)}` } }),
    () => replace({ ...each, entry: { ...each.entry, details: { at: -1 } } }),
    () => replace({ ...each, recorded_at: new Date(5_000 + below(1_000)).toISOString() }),
    () => replace({ ...each, workspace_id: 'other' }),
    () => replace({ ...each, seq: each.seq + 1 + below(3) }),
    () => replace({ ...each, hash: entries[other]!.hash }),
    () => rehash(entries.slice(0, one)).concat(entries.slice(one + 1)),
    () => entries.slice(0, one),
    () => entries.slice(one + 1),
    () => entries.filter((_, at) => at < Math.min(one, other) || at > Math.max(one, other)),
    () => entries.with(one, entries[other]!).with(other, each),
    () => entries.toReversed(),
    () => entries.toSpliced(other, 0, each),
    () => [...entries, { ...each, seq: entries.at(-1)!.seq + 1 }],
    // With hashes of its own from there on, as if the newest entry were not known.
    () => rehash(replace({ ...each, entry: { ...each.entry, target: 'other' } })),
    () => rehash([...entries, { ...each, seq: entries.at(-1)!.seq + 1 }]),
    () => rehash(entries.toSpliced(one, 1).map((kept, at) => ({ ...kept, seq: entries[0]!.seq + at }))),
  ];
  return ways[below(ways.length)]!();
}

/** The same entries with hashes that follow from the one before the first. */
function rehash(entries: readonly FleetAuditEntry[]): readonly FleetAuditEntry[] {
  let before: string | undefined;
  return entries.map((each, at) => {
    const { workspace_id: workspaceId, seq, recorded_at: recordedAt, entry } = each;
    if (at === 0 && seq !== 1) return { ...each, hash: (before = each.hash) };
    const time = Date.parse(recordedAt);
    before = toEntryHash(before ?? CHAIN_START.hash, { workspaceId, seq, time }, toEntryText(entry));
    return { ...each, hash: before };
  });
}

function toShown(entries: readonly FleetAuditEntry[]): string {
  return entries.map(({ seq, entry }) => `${seq} ${entry.target}`).join(', ');
}

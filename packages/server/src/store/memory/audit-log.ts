import type { Clock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json/json.ts';
import { type AuditLog, CHAIN_START, type NewAuditEntry, toEntryHash, toEntryText } from '../audit.ts';
import type { Undo } from '../table.ts';
import type { MemoryChain, State } from './state.ts';

/** Appends an entry in the change that it records. */
export function appendAudit(state: State, clock: Clock, entry: NewAuditEntry | undefined, undo?: Undo): void {
  if (entry === undefined) return;
  const { workspaceId } = entry;
  const { start, entries } = chainOf(state, workspaceId);
  const before = entries.at(-1) ?? start;
  const text = toEntryText(entry.data);
  const place = { workspaceId, seq: before.seq + 1, time: clock.now() };
  const added = { ...place, data: JSON.parse(text) as JsonObject, hash: toEntryHash(before.hash, place, text) };
  state.audit.set(workspaceId, { start, entries: [...entries, added] }, undo);
}

export function createAuditLog(state: State, clock: Clock): AuditLog {
  return {
    append: async (entries) => entries.forEach((entry) => appendAudit(state, clock, entry)),
    list: async ({ workspaceId, after, limit }) =>
      chainOf(state, workspaceId)
        .entries.filter(({ seq }) => seq > after)
        .slice(0, limit),
    ends: async (workspaceId) => {
      const { start, entries } = chainOf(state, workspaceId);
      const { seq, hash } = entries.at(-1) ?? start;
      return { start, head: { seq, hash } };
    },
    heads: async () =>
      new Map(
        state.audit.entries().map(([workspaceId, { start, entries }]) => {
          const { seq, hash } = entries.at(-1) ?? start;
          return [workspaceId, { seq, hash }];
        }),
      ),
    prune: async (before, limit) => {
      let count = 0;
      for (const [workspaceId] of state.audit.entries()) {
        const { entries } = chainOf(state, workspaceId);
        const kept = entries.findIndex(({ time }) => time >= before);
        const removed = entries.slice(0, Math.min(limit, kept === -1 ? entries.length : kept));
        const last = removed.at(-1);
        if (last === undefined) continue;
        const start = { seq: last.seq, hash: last.hash };
        state.audit.set(workspaceId, { start, entries: entries.slice(removed.length) });
        count += removed.length;
      }
      return count;
    },
  };
}

function chainOf(state: State, workspaceId: string): MemoryChain {
  return state.audit.get(workspaceId) ?? { start: CHAIN_START, entries: [] };
}

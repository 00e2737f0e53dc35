import { sessionStateAt, sessionStates } from '@fleetloom/protocol/fleet';
import {
  DAY_MS,
  STATE_RANK_STEP,
  type Summaries,
  type SummaryGroup,
  type SummaryListRequest,
  type SummaryRecord,
  type SummarySum,
} from '../summaries.ts';
import { readSummaryCursor, writeSummaryCursor } from '../summary-cursor.ts';
import { keep, type KeptSummary, type State } from './state.ts';

export function createSummaries(state: State): Summaries {
  const inWorkspace = (workspaceId: string) =>
    state.summaries.values().filter((each) => each.workspaceId === workspaceId);
  return {
    list: async (request) => {
      const after = readSummaryCursor(request);
      const sign = request.order === 'asc' ? 1 : -1;
      const found = inWorkspace(request.workspaceId).filter((each) => isFound(each, request));
      const rows = found
        .filter((each) => isChosen(each, request))
        .map((each) => ({ each, value: valueOf(each, request), id: each.sessionId }))
        .sort((left, right) => sign * compare(left, right))
        .filter((row) => after === undefined || sign * compare(row, after) > 0);
      const page = rows.slice(0, request.limit);
      const sessions = state.sessions.values().filter(({ workspaceId }) => workspaceId === request.workspaceId);
      return {
        items: page.map(({ each }) => toRecord(each)),
        next: rows.length > page.length ? writeSummaryCursor(request, page.at(-1)!) : null,
        groups: group(found, request.now),
        missing: sessions.filter(({ id }) => state.summaries.get(id) === undefined).length,
      };
    },
    sum: async ({ workspaceId, createdFrom, createdTo, offsetMs, limit }) => {
      const sums = new Map<string, SummarySum>();
      for (const each of inWorkspace(workspaceId)) {
        const { createdAt, agentName, model, costNanoUsd: cost, tokens } = each;
        if (createdAt < createdFrom || createdAt > createdTo) continue;
        const day = Math.floor((createdAt + offsetMs) / DAY_MS);
        const key = JSON.stringify([day, agentName, model]);
        const known = sums.get(key);
        sums.set(key, {
          day,
          agentName,
          model,
          count: (known?.count ?? 0) + 1,
          unpriced: (known?.unpriced ?? 0) + (cost === null ? 1 : 0),
          costNanoUsd: (known?.costNanoUsd ?? 0) + (cost ?? 0),
          tokens: (known?.tokens ?? 0) + tokens,
        });
      }
      const inOrder = [...sums.values()].sort(
        (a, b) => b.day - a.day || compareText(a.agentName, b.agentName) || compareText(a.model, b.model),
      );
      return inOrder.slice(0, limit);
    },
    getAll: async (workspaceId, sessionIds) => {
      const ids = new Set(sessionIds);
      return inWorkspace(workspaceId)
        .filter(({ sessionId }) => ids.has(sessionId))
        .map(toRecord);
    },
    findMissing: async (limit) => {
      const missing = state.sessions.values().filter(({ id }) => state.summaries.get(id) === undefined);
      return missing.slice(0, limit).map(({ id }) => id);
    },
    add: async (sessionId, summary) => {
      const session = state.sessions.get(sessionId);
      if (session === undefined || state.summaries.get(sessionId) !== undefined) return;
      keep(state.summaries, sessionId, {
        ...summary,
        createdAt: session.createdAt,
        sessionId,
        workspaceId: session.workspaceId,
      });
    },
  };
}

function isFound(each: KeptSummary, request: SummaryListRequest): boolean {
  const { words = [], wordsOrIdPrefix, idPrefix = '', activeFrom = 0 } = request;
  const { createdFrom = 0, createdTo = Infinity, budgetState } = request;
  const hasWords = words.every((word) => each.search.includes(word));
  const isNamed = wordsOrIdPrefix !== undefined && each.sessionId.startsWith(wordsOrIdPrefix);
  const isInTime = each.activityAt >= activeFrom && each.createdAt >= createdFrom && each.createdAt <= createdTo;
  const hasBudget = budgetState === undefined || each.data['budget_state'] === budgetState;
  const isCostly =
    request.costNanoUsdMin === undefined || (each.costNanoUsd !== null && each.costNanoUsd >= request.costNanoUsdMin);
  return (hasWords || isNamed) && each.sessionId.startsWith(idPrefix) && isInTime && isCostly && hasBudget;
}

function isChosen(each: KeptSummary, { now, states, agents, models, includesArchived }: SummaryListRequest): boolean {
  const state = sessionStateAt(each.state, each.stallsAt, now);
  const isState = states?.includes(state) ?? (includesArchived || state !== 'archived');
  return isState && (agents?.includes(each.agentName) ?? true) && (models?.includes(each.model) ?? true);
}

function valueOf(each: KeptSummary, { sort, now }: SummaryListRequest): string | number {
  switch (sort) {
    case 'activity':
      return each.activityAt;
    case 'created':
      return each.createdAt;
    case 'cost':
      return each.costNanoUsd ?? -1;
    case 'tokens':
      return each.tokens;
    case 'duration':
      return each.activeMs;
    case 'name':
      return each.search;
    case 'agent':
      return each.agentName;
    case 'state':
      return sessionStates[sessionStateAt(each.state, each.stallsAt, now)].rank * STATE_RANK_STEP - each.activityAt;
  }
}

interface Sorted {
  readonly value: string | number;
  readonly id: string;
}

/** By their bytes, as databases do. */
function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function compare(a: Sorted, b: Sorted): number {
  const byValue = typeof a.value === 'number' ? a.value - Number(b.value) : compareText(a.value, String(b.value));
  return byValue || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

function group(found: readonly KeptSummary[], now: number): SummaryGroup[] {
  const groups = new Map<string, SummaryGroup>();
  for (const { state: stored, stallsAt, agentName, model } of found) {
    const state = sessionStateAt(stored, stallsAt, now);
    const key = JSON.stringify([state, agentName, model]);
    groups.set(key, { state, agentName, model, count: (groups.get(key)?.count ?? 0) + 1 });
  }
  return [...groups.values()];
}

function toRecord(kept: KeptSummary): SummaryRecord {
  const { workspaceId: _, search: __, ...record } = kept;
  return record;
}

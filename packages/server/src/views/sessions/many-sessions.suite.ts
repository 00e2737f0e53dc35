import { toSessionName } from '@fleetloom/protocol/fleet';
import type { JsonObject } from '../../base/json/json.ts';
import { createIds } from '../../base/ids.ts';
import type { SummaryData } from '../../frames/summary-data.ts';
import type { Store } from '../../store/store.ts';
import type { SessionSummary } from '../../store/summaries.ts';
import type { Write } from '../../store/write.ts';

/** A workspace with many sessions in all states, for tests and benchmarks of lists. Equal numbers give equal sessions. */
export async function addManySessions(
  store: Pick<Store, 'commit'>,
  { workspaceId, count, now, data = {} }: ManySessions,
): Promise<void> {
  const ids = createIds({ now: () => now, random: () => 0.5 });
  for (let from = 0; from < count; from += WRITES_AT_ONCE) {
    const writes = Array.from({ length: Math.min(WRITES_AT_ONCE, count - from) }, (_, index): Write => {
      const summary = toSummary(from + index, now);
      const agent = { agentId: 'agent_1', agentVersion: 1, environmentId: 'env_1' };
      const session = { workspaceId, id: ids.next('sesn'), ...agent, status: 'idle', data } as const;
      const changes = [{ type: 'put_summary', summary } as const];
      return { type: 'create', session: { ...session, createdAt: summary.createdAt }, frames: [], changes };
    });
    const outcomes = await store.commit(writes);
    if (outcomes.some(({ ok }) => !ok)) throw new Error('a session was not created');
  }
}

/** What the sessions are. */
interface ManySessions {
  readonly workspaceId: string;
  readonly count: number;
  readonly now: number;
  /** The data of each session, for routes that read it. */
  readonly data?: JsonObject;
}

/** How many sessions of `addManySessions` have each state. */
export function countManySessions(count: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let n = 0; n < count; n++) {
    const state = STATES[n % STATES.length]!;
    const shown = state === 'running' && isStalled(n) ? 'stalled' : state;
    counts[shown] = (counts[shown] ?? 0) + 1;
  }
  return counts;
}

const WRITES_AT_ONCE = 500;
const STATES = [
  'done',
  'failed',
  'running',
  'done',
  'needs_you',
  'idle',
  'done',
  'archived',
  'running',
  'done',
] as const;
const WORDS = [
  'fix',
  'the',
  'flaky',
  'queue',
  'test',
  'in',
  'release',
  'notes',
  'of',
  'parser',
  'and',
  'retry',
] as const;

function isStalled(n: number): boolean {
  return n % 4 === 0;
}

function toSummary(n: number, now: number): SessionSummary {
  const state = STATES[n % STATES.length]!;
  const firstMessage = Array.from(
    { length: 40 },
    (_, word) => WORDS[(n * 7 + word * (1 + (n % 5))) % WORDS.length],
  ).join(' ');
  const name = toSessionName({ title: n % 3 === 0 ? `Task ${n}` : null, firstMessage });
  const agentName = `agent ${n % 25}`;
  const activityAt = now - n * 1_000;
  const data: SummaryData = {
    agent_id: `agent_${n % 25}`,
    name,
    title: n % 3 === 0 ? name : null,
    reason: state === 'failed' ? 'the endpoint has no credit' : null,
    repository: '/repositories/project',
    branch: `fleetloom/${n}`,
    changes: { files_count: n % 9, lines_added: n, lines_removed: n % 50 },
    started_at: activityAt - 60_000,
    ended_at: state === 'running' ? null : activityAt,
    active_since: state === 'running' ? activityAt - 60_000 : null,
    needs_you: state === 'needs_you' ? 1 : 0,
    threads: 1 + (n % 6),
    failed_threads: state === 'failed' ? 1 : 0,
    stalls: state === 'running' ? [stallOf(n, now)] : [],
    created_by: 'first key',
    is_read_only: false,
  };
  return {
    state,
    stallsAt: state === 'running' ? stallOf(n, now) : null,
    agentName,
    model: `model ${n % 4}`,
    createdAt: activityAt - 3_600_000,
    activityAt,
    costNanoUsd: n % 50 === 0 ? null : n * 1_000_000,
    tokens: n * 100,
    activeMs: 60_000 + n,
    search: `${name}\n${firstMessage}\n${agentName}`.toLowerCase(),
    data,
  };
}

function stallOf(n: number, now: number): number {
  return isStalled(n) ? now - 1 : now + 3_600_000;
}

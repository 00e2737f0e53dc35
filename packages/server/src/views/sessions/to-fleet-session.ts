import { type FleetSession, sessionStateAt, toShortId } from '@fleetloom/protocol/fleet';
import type { SummaryData } from '../../frames/summary-data.ts';
import type { SummaryRecord } from '../../store/summaries.ts';

/** A summary as a row of the list of sessions, at a time. */
export function toFleetSession(summary: SummaryRecord, now: number): FleetSession {
  // Only sessions write it.
  const data = summary.data as unknown as SummaryData;
  const isActive = summary.state === 'running' || summary.state === 'needs_you';
  return {
    type: 'fleet_session',
    id: summary.sessionId,
    short_id: toShortId(summary.sessionId),
    name: data.name,
    title: data.title,
    state: sessionStateAt(summary.state, summary.stallsAt, now),
    reason: data.reason,
    stalls_at: toTime(summary.state === 'running' ? summary.stallsAt : null),
    agent: { id: data.agent_id, name: summary.agentName },
    model: summary.model,
    repository: data.repository,
    branch: data.branch,
    changes: data.changes,
    cost_usd: summary.costNanoUsd === null ? null : summary.costNanoUsd / 1e9,
    tokens: summary.tokens,
    created_at: new Date(summary.createdAt).toISOString(),
    started_at: toTime(data.started_at),
    ended_at: toTime(data.ended_at),
    active_ms: summary.activeMs,
    active_since: toTime(data.active_since),
    last_activity_at: new Date(summary.activityAt).toISOString(),
    needs_you_count: data.needs_you,
    threads_count: data.threads,
    stalled_threads_count: isActive ? data.stalls.filter((at) => at <= now).length : 0,
    failed_threads_count: data.failed_threads,
    created_by: data.created_by,
    is_read_only: data.is_read_only,
  };
}

function toTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

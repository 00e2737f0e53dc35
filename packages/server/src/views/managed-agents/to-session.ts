import type { Session, SessionThread } from '@fleetloom/protocol/managed-agents';
import type { SessionData, Stopwatch, ThreadData } from '../../frames/record-data.ts';
import type { SessionRecord, ThreadRecord } from '../../store/records.ts';
import { toWireBudget, toWireUsage } from './to-usage.ts';

/** A session in the wire format, at a moment. */
export function toSession(record: SessionRecord, now: number): Session {
  // Only sessions write it.
  const data = record.data as unknown as SessionData;
  const end = record.status === 'terminated' ? record.updatedAt : now;
  return {
    type: 'session',
    id: record.id,
    agent: data.agent,
    environment_id: record.environmentId,
    title: data.title,
    status: record.status,
    // The server accepts only strings.
    metadata: data.metadata as Readonly<Record<string, string>>,
    resources: [],
    vault_ids: data.vault_ids ?? [],
    outcome_evaluations: [],
    budget: toWireBudget(data.budget),
    stats: { active_seconds: data.thread_active_ms / 1_000, duration_seconds: (end - record.createdAt) / 1_000 },
    usage: toWireUsage(data.usage, read(data.active, now)),
    deployment_id: null,
    ...toDates(record),
  };
}

/** A thread in the wire format, with its usage up to now. */
export function toThread(record: ThreadRecord, now: number): SessionThread {
  // Only sessions write it.
  const data = record.data as unknown as ThreadData;
  const { started_at: startedAt, active, usage } = data;
  const activeMs = read(active, now);
  const end = record.archivedAt ?? now;
  const { type, id, version, name, description, system, model, tools, mcp_servers, skills, execution_identity } =
    data.agent;
  return {
    type: 'session_thread',
    id: record.id,
    session_id: record.sessionId,
    parent_thread_id: record.parentThreadId,
    // Without the roster, which only the session's own agent has.
    agent: { type, id, version, name, description, system, model, tools, mcp_servers, skills, execution_identity },
    status: record.status,
    stats:
      startedAt === null
        ? null
        : {
            active_seconds: activeMs / 1_000,
            duration_seconds: (end - record.createdAt) / 1_000,
            startup_seconds: (startedAt - record.createdAt) / 1_000,
          },
    usage:
      active.totalMs === 0 && active.since !== null ? null : startedAt === null ? null : toWireUsage(usage, activeMs),
    workflow_run_id: null,
    ...toDates(record),
  };
}

function read({ totalMs, since }: Stopwatch, now: number): number {
  return totalMs + (since === null ? 0 : Math.max(0, now - since));
}

function toDates({ createdAt, updatedAt, archivedAt }: Pick<SessionRecord, 'createdAt' | 'updatedAt' | 'archivedAt'>) {
  return {
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
    archived_at: archivedAt === null ? null : new Date(archivedAt).toISOString(),
  };
}

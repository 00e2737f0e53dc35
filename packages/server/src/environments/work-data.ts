import type { Work, WorkState } from '@fleetloom/protocol/managed-agents';
import type { WorkRecord } from '../store/records.ts';
import type { NewWork } from '../store/records.ts';

/** The data in the record of an item of work that has no column of its own. Times are milliseconds since 1970. */
export interface WorkData {
  readonly metadata: Readonly<Record<string, string>>;
  readonly acknowledged_at: number | null;
  readonly started_at: number | null;
  readonly latest_heartbeat_at: number | null;
  readonly stop_requested_at: number | null;
  readonly stopped_at: number | null;
  /** How long each heartbeat holds. */
  readonly ttl_ms: number;
  /** How often the work before it was given up without anything new being sent to the session. */
  readonly retries: number;
}

/** An item for the queue. */
export function toNewWork(
  id: string,
  time: number,
  { ttlMs, retries = 0 }: { ttlMs: number; retries?: number },
): NewWork {
  const none = { acknowledged_at: null, started_at: null, latest_heartbeat_at: null };
  const data: WorkData = { metadata: {}, ...none, stop_requested_at: null, stopped_at: null, ttl_ms: ttlMs, retries };
  return { id, createdAt: time, data };
}

/** Only the queue writes it. */
export function workDataOf({ data }: WorkRecord): WorkData {
  return data as unknown as WorkData;
}

/** A work item as the wire has it. The poll route adds the secret. */
export function toWork(record: WorkRecord, now: number): Work {
  const { metadata, acknowledged_at, started_at, latest_heartbeat_at, stop_requested_at, stopped_at } =
    workDataOf(record);
  const state = stateOf(record, now);
  // An item that is queued again has lost its worker, whose times no longer apply.
  const isHeld = state !== 'queued';
  return {
    type: 'work',
    id: record.id,
    environment_id: record.environmentId,
    data: { type: 'session', id: record.sessionId },
    state,
    metadata,
    secret: null,
    created_at: toMoment(record.createdAt),
    acknowledged_at: isHeld ? toMoment(acknowledged_at) : null,
    started_at: isHeld ? toMoment(started_at) : null,
    latest_heartbeat_at: isHeld ? toMoment(latest_heartbeat_at) : null,
    stop_requested_at: toMoment(stop_requested_at),
    stopped_at: toMoment(state === 'stopped' ? (stopped_at ?? record.leasedUntil) : null),
  };
}

/** A worker that was asked to stop and sends no more heartbeats has stopped. */
export function stateOf({ state, leasedUntil }: WorkRecord, now: number): WorkState {
  return state === 'stopping' && (leasedUntil ?? 0) <= now ? 'stopped' : state;
}

export function toMoment(time: number): string;
export function toMoment(time: number | null): string | null;
export function toMoment(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

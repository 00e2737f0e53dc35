import { formatElapsed } from '../../text/format.ts';
import type { Slot, SlotWait } from '../slots/slot.ts';
import type { SessionHealth, ThreadHealth } from '../wire/health.ts';
import { isStalled } from './thread-state.ts';

/** Facts in addition to the events when a thread is silent. */
export interface SilenceContext {
  /** The server's report about the session's threads, once it was requested. */
  readonly health?: SessionHealth | undefined;
  /** Whether the event stream is connected; if not, events may be missing. */
  readonly isLive?: boolean;
}

/**
 * Why a running thread does not emit events: what its model request waits for and how long, or why it is stalled. Undefined
 * if the silence needs no explanation.
 *
 * @example
 * describeSilence(slot, now) ?? nowDoing(slot); // '429, next try in 4 s'
 */
export function describeSilence(slot: Slot, nowMs: number, context: SilenceContext = {}): string | undefined {
  if (slot.state !== 'running') return undefined;
  if (slot.waits !== null) return describeWait(slot.waits, nowMs);
  return isStalled(slot, nowMs) ? describeStall(slot, nowMs, context) : undefined;
}

/** Why a thread is stalled: the report of the server, and how long no event has arrived. */
export function describeStall(slot: Slot, nowMs: number, { health, isLive = true }: SilenceContext = {}): string {
  const silence = `no event for ${formatElapsed(nowMs - (slot.lastAt ?? nowMs))}`;
  if (!isLive) return `${silence} · ${describePhase(slot)} · not connected`;
  // A row has little room, and columns for times: the report of the server comes first.
  return health === undefined
    ? `${silence} · ${describePhase(slot)}`
    : `${describeHealth(slot, nowMs, health)} · ${silence}`;
}

function describeWait(waits: SlotWait, nowMs: number): string {
  const leftMs = (waits.until ?? nowMs) - nowMs;
  const left = leftMs > 0 ? `${Math.ceil(leftMs / 1_000)} s` : undefined;
  if (waits.type === 'queued') {
    const reason = waits.reason === 'paused' ? 'the endpoint asked for a pause' : `${waits.ahead} ahead in the queue`;
    return left === undefined ? reason : `${reason}, ${left} left`;
  }
  const [status = waits.reason ?? waits.code] = /^\d{3}\b/.exec(waits.message) ?? [];
  return left === undefined ? `${status}, trying again` : `${status}, next try in ${left}`;
}

function describePhase({ phase }: Slot): string {
  return phase === 'requesting' || phase === 'starting' ? 'the model has not responded' : `last: ${phase}`;
}

function describeHealth(
  { threadId }: Slot,
  nowMs: number,
  { is_known: isKnown, owner, threads }: SessionHealth,
): string {
  if (!isKnown) return `${owner?.node_id ?? 'the owner node'} does not respond`;
  if (owner === null) return 'no node runs the session';
  const thread = threads.find(({ id }) => id === threadId);
  // The log continues in a moment, or another process writes the session's events.
  if (thread === undefined) return 'no work in progress';
  const text = describeThread(thread, (time) => formatElapsed(nowMs - Date.parse(time)));
  return owner.node_id === null ? text : `${text} · on ${owner.node_id}`;
}

function describeThread(thread: ThreadHealth, age: (time: string) => string): string {
  switch (thread.doing) {
    case 'request': {
      const { connection, last_byte_at: lastByteAt, since } = thread;
      if (connection === 'queued') return `model request queued for ${age(since)}`;
      if (connection === 'sent') return `no response, sent ${age(since)} ago`;
      if (connection === null || lastByteAt === null) return `model request running for ${age(since)}`;
      return `connection open, last byte ${age(lastByteAt)} ago`;
    }
    case 'program': {
      const { pid, is_alive: isAlive, last_byte_at: lastByteAt, tool } = thread;
      if (pid === null) return 'program not started yet';
      const bytes = lastByteAt === null ? 'no byte yet' : `last byte ${age(lastByteAt)} ago`;
      return `pid ${pid} ${isAlive ? 'alive' : 'dead'}, ${bytes}${tool === null ? '' : `, runs ${tool}`}`;
    }
    case 'tool':
      return `runs ${thread.tool} for ${age(thread.since)}`;
    case 'elsewhere':
      if (thread.tool === null) return 'runs in its terminal';
      return `${thread.tool} is running or waits for permission in its terminal`;
    case 'wait':
      return `waits for ${{ retry: 'its next try', threads: 'other threads', somebody: 'a person' }[thread.waits_for]}`;
  }
}

import { cutText, type SessionHealth, type Slot } from '@fleetloom/protocol/fleet';
import { limits } from '../limits.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { formatAge, formatDuration } from '../terminal/format.ts';
import type { Style } from '../terminal/palette.ts';
import type { StateSign } from '../tree/agent-state.ts';
import { describeHealth } from './describe-health.ts';

type SlotWait = NonNullable<Slot['waits']>;

/** What is said of a thread: always a sign, a colour and a word together (SPEC Y20). */
export interface SlotState {
  readonly sign: StateSign | 'queued';
  readonly word: string;
  readonly style: Style;
  /** Of a request that is made again: which attempt is to come. */
  readonly attempt?: number;
}

export function toSlotState(slot: Slot, nowMs: number): SlotState {
  switch (slot.state) {
    case 'ok':
      return { sign: 'done', word: 'done', style: 'ok' };
    case 'failed':
      return slot.stopReason === 'cancelled'
        ? { sign: 'stopped', word: 'cancelled', style: 'dim' }
        : { sign: 'failed', word: slot.stopReason === 'limit' ? 'limit' : 'failed', style: 'failed' };
    case 'lost':
      return { sign: 'unfinished', word: 'unknown', style: 'attention' };
    case 'needs_approval':
      return NEEDS_YOU;
    case 'running':
      // Whatever else the thread does: a person has to answer.
      if (slot.tools.some(({ state, awaitsResult }) => state === 'running' && awaitsResult === true)) return NEEDS_YOU;
      return isStalled(slot, nowMs) ? STALLED : atWork(slot);
  }
}

/** Why nothing happens, where that is the news about a thread: how long it is silent, or what it waits for. */
export function silenceOf(slot: Slot, nowMs: number, health?: SessionHealth): string | undefined {
  if (slot.state !== 'running') return undefined;
  if (slot.waits !== null) return describeWait(slot.waits, nowMs);
  if (!isStalled(slot, nowMs)) return undefined;
  const silentMs = nowMs - (slot.lastAt ?? nowMs);
  if (health !== undefined) return `no event ${formatAge(silentMs)} (${describeHealth(health, slot, nowMs)})`;
  const silent = formatDuration(silentMs);
  const isAnswering = slot.phase === 'writing' || slot.phase === 'thinking';
  return isAnswering
    ? `silent for ${silent} in the middle of an answer`
    : `no event for ${silent}, the model has not begun`;
}

function describeWait(waits: SlotWait, nowMs: number): string {
  const left =
    waits.until === null ? undefined : formatDuration(Math.ceil(Math.max(0, waits.until - nowMs) / 1000) * 1000);
  if (waits.type === 'queued') {
    const why = waits.reason === 'paused' ? 'the endpoint wants a pause' : `${waits.ahead} ahead in the queue`;
    return left === undefined ? why : `${why}, ${toSeconds(left)} left`;
  }
  const [status = waits.reason ?? waits.code] = /^\d{3}(?= )/.exec(waits.message) ?? [];
  return `${status}, next try in ${toSeconds(left ?? '0ms')}`;
}

function toSeconds(duration: string): string {
  return duration.replace(/^0ms$/, '0s').replace(/\.0s$/, 's');
}

const NEEDS_YOU: SlotState = { sign: 'needsYou', word: 'needs you', style: 'attention' };
const STALLED: SlotState = { sign: 'unfinished', word: 'stalled', style: 'failed' };

/** Tools and delegates take their time; a model that answers does not pause for long. */
function isStalled({ phase, lastAt }: Slot, nowMs: number): boolean {
  const isSilentByNature = ['tool', 'children', 'between', 'queued', 'retrying'].includes(phase);
  return !isSilentByNature && lastAt !== null && nowMs - lastAt >= limits.stalledMs;
}

function atWork(slot: Slot): SlotState {
  if (slot.openChildren > 0) return { sign: 'waits', word: 'waits', style: 'waits' };
  switch (slot.phase) {
    case 'writing':
      return { sign: 'writing', word: 'writing', style: 'writing' };
    case 'thinking':
      return { sign: 'thinking', word: 'thinking', style: 'thinking' };
    case 'tool': {
      const running = slot.tools.findLast(({ state }) => state === 'running');
      return { sign: 'tool', word: cutText(cleanLine(running?.tool ?? 'tool'), 40), style: 'tool' };
    }
    case 'children':
      return { sign: 'waits', word: 'waits', style: 'waits' };
    case 'queued':
      return { sign: 'queued', word: 'queued', style: 'dim' };
    case 'retrying': {
      const attempt = slot.waits?.type === 'retrying' ? slot.waits.attempt : undefined;
      return { sign: 'retry', word: 'retry', style: 'retry', ...(attempt === undefined ? {} : { attempt }) };
    }
    case 'starting':
    case 'requesting':
    case 'between':
      return { sign: 'thinking', word: 'working', style: 'thinking' };
  }
}

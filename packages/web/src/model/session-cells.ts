import {
  type FleetSession,
  type FleetSessionState,
  hasExamplePrice,
  sessionStates,
  stateOfSession,
} from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { formatCost, formatCount, formatDuration } from './format.ts';

/** The texts of a session's row. A row whose texts did not change is not rendered again. */
export interface SessionCells {
  readonly state: FleetSessionState;
  readonly glyph: string;
  readonly word: string;
  readonly name: string;
  readonly reason: string;
  readonly agent: string;
  readonly repository: string;
  /** The whole path or URL, and the branch. */
  readonly repositoryTitle: string;
  readonly branch: string;
  readonly added: number;
  /** Removed lines; -1 if the files of the session are not recorded. */
  readonly removed: number;
  readonly files: number;
  readonly cost: string;
  readonly tokens: string;
  readonly started: string;
  readonly startedTitle: string;
  readonly duration: string;
  readonly who: string;
}

/** The texts of a session's row at a time of the server. Without a running session, they are computed once a minute, not for each frame. */
export function toSessionCells(row: FleetSession, now: number): SessionCells {
  const step = Math.floor(now / (row.active_since === null ? 60_000 : 1_000));
  const known = cache.get(row);
  if (known?.step === step) return known.cells;
  const cells = createCells(row, now);
  cache.set(row, { step, cells });
  return cells;
}

const cache = new WeakMap<FleetSession, { readonly step: number; readonly cells: SessionCells }>();

function createCells(row: FleetSession, now: number): SessionCells {
  const state = stateOfSession(row, now);
  const { changes, repository, branch } = row;
  const startedAt = Date.parse(row.started_at ?? row.created_at);
  return {
    state,
    glyph: sessionGlyphs[state].glyph,
    word: sessionStates[state].label,
    name: cleanLine(row.name),
    reason: cleanLine(row.reason ?? ''),
    agent: cleanLine(row.agent.name),
    repository: cleanLine(repository === null ? '' : lastPart(repository)),
    repositoryTitle: cleanLine([repository, branch].filter((part) => part !== null).join(' · ')),
    branch: cleanLine(branch ?? ''),
    added: changes?.lines_added ?? -1,
    removed: changes?.lines_removed ?? -1,
    files: changes?.files_count ?? 0,
    cost: row.cost_usd === null ? '?' : `${hasExamplePrice(row.model) ? 'e.g. ' : ''}${formatCost(row.cost_usd)}`,
    tokens: formatCount(row.tokens),
    started: formatStart(startedAt, now),
    startedTitle: fullTime.format(startedAt),
    duration: row.started_at === null ? '' : formatDuration(activeMs(row, now)),
    who: cleanLine(row.created_by ?? ''),
  };
}

/** The glyph of each session state, and the thread state with the same colour. */
export const sessionGlyphs: Readonly<Record<FleetSessionState, { readonly glyph: string; readonly ink: string }>> = {
  needs_you: { glyph: '!', ink: 'needs' },
  stalled: { glyph: '…', ink: 'stalled' },
  failed: { glyph: '✗', ink: 'error' },
  running: { glyph: '▸', ink: 'writing' },
  done: { glyph: '✓', ink: 'done' },
  idle: { glyph: '·', ink: 'queued' },
  archived: { glyph: '■', ink: 'cancelled' },
};

/** How long a session was running; up to now if it is running. */
function activeMs({ active_ms: ms, active_since: since }: FleetSession, now: number): number {
  return ms + (since === null ? 0 : Math.max(0, now - Date.parse(since)));
}

const fullTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
/** `2025-11-17`, in local time. */
const isoDay = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short' });
const dayOfYear = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric' });

/** The time of a moment today, else the day: `14:05`, `Nov 17`, `2025-11-17`. */
function formatStart(time: number, now: number): string {
  const [start, today] = [new Date(time), new Date(now)];
  if (start.toDateString() === today.toDateString()) return start.toTimeString().slice(0, 5);
  if (start.getFullYear() !== today.getFullYear()) return isoDay.format(time);
  return dayOfYear.format(time);
}

/** The name of a directory or of a repository: the last part of its path or URL. */
function lastPart(path: string): string {
  return (
    path
      .replace(/[/\\]+$/, '')
      .replace(/\.git$/, '')
      .split(/[/\\]/)
      .at(-1) ?? path
  );
}

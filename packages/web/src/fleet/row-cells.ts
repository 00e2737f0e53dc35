import { cutText, nowDoing } from '@fleetloom/protocol/fleet';
import { inputLabel } from '../model/input-label.ts';
import { formatAge, formatCost, formatCount } from '../model/format.ts';
import { stallReason } from '../model/stall-reason.ts';
import type { ShownRow } from '../model/summary.ts';
import { tokensOf } from '../model/thread-rows.ts';
import { cleanLine } from '../text/clean-text.ts';

/** What a row says, as text: a row whose texts are the same is not drawn again. */
export interface RowCells {
  readonly state: ShownRow['state'];
  readonly glyph: string;
  readonly word: string;
  readonly agent: string;
  readonly ordinal: number;
  readonly model: string;
  readonly doing: string;
  readonly inState: string;
  /** How full the window of the model is, in percent. -1: not known. */
  readonly context: number;
  readonly tokens: string;
  readonly cost: string;
  readonly costBelow: string;
  readonly errors: string;
  readonly age: string;
}

export function toRowCells(row: ShownRow, now: number, isLive: boolean): RowCells {
  const { slot, usage, usageBelow } = row;
  return {
    state: row.state,
    glyph: row.glyph,
    word: row.word,
    agent: cleanLine(row.agent),
    ordinal: row.ordinal,
    model: cleanLine(slot.model ?? '').replace(/^(?:claude-(?!code)|scripted\/)/, ''),
    doing: cleanLine(doingOf(row, now, isLive)),
    inState: slot.since === null ? '' : formatAge(now - slot.since),
    context: slot.context === null ? -1 : Math.round((100 * slot.context.tokens) / slot.context.window),
    tokens: formatCount(tokensOf(usage)),
    cost: costOf(usage),
    costBelow: row.hasChildren ? costOf(usageBelow) : '',
    errors: row.errors === 0 ? '' : String(row.errors),
    age: slot.lastAt === null ? '' : formatAge(now - slot.lastAt),
  };
}

function doingOf({ state, slot, approvals, health }: ShownRow, now: number, isLive: boolean): string {
  const [asked] = approvals;
  if (state === 'needs' && asked !== undefined) return `${asked.tool}: ${inputLabel(asked.input)}`;
  if (state === 'stalled') return stallReason(slot, now, isLive, health);
  const until = slot.waits?.until;
  const wait = until == null || until <= now ? '' : ` · next try in ${Math.ceil((until - now) / 1_000)} s`;
  if (state === 'done' && slot.text.tail !== '') return gistOf(slot.text.tail);
  return fromWord(nowDoing(slot), slot.text.tail) + wait;
}

/** What one that is done came to: its last words that are no code. */
function gistOf(text: string): string {
  const parts = text.replace(/```[^`]*(?:```|$)/g, '\n\n').split(/\n\s*\n/);
  const last = parts.findLast((part) => part.trim() !== '') ?? text;
  return cutText(last.replace(/^[\s#>*\-\d.]+/, '').replace(/[*`]/g, ''), GIST_CHARS);
}

const GIST_CHARS = 200;

/** The end of a text begins with a whole word. */
function fromWord(doing: string, tail: string): string {
  const isCut = doing.length >= CUT_CHARS && tail.length > doing.length;
  return isCut ? `…${doing.slice(doing.indexOf(' ') + 1)}` : doing;
}

/** What `nowDoing` shows of a text at most. */
const CUT_CHARS = 60;

function costOf({ costUsd, requestsWithoutCost }: ShownRow['usage']): string {
  if (costUsd === 0 && requestsWithoutCost > 0) return '–';
  return `${requestsWithoutCost > 0 ? '≥' : ''}${formatCost(costUsd)}`;
}

import {
  cutText,
  describeSilence,
  formatUsageCost,
  nowDoing,
  toLabel as inputLabel,
  tokensOf,
} from '@fleetloom/protocol/fleet';
import { formatAge, formatCount } from '../model/format.ts';
import type { ShownRow } from '../model/summary.ts';
import { cleanLine } from '@fleetloom/protocol/text';

/** The texts of a row. A row whose texts did not change is not rendered again. */
export interface RowCells {
  readonly state: ShownRow['state'];
  readonly glyph: string;
  readonly word: string;
  readonly agent: string;
  readonly ordinal: number;
  /** The last task of the thread. */
  readonly task: string;
  readonly model: string;
  readonly doing: string;
  readonly inState: string;
  /** Used part of the model's context window in percent; -1 if unknown. */
  readonly context: number;
  readonly tokens: string;
  readonly cost: string;
  readonly costBelow: string;
  readonly errors: string;
  readonly age: string;
}

/** The texts of a thread's row. */
export function toRowCells(row: ShownRow, now: number, isLive: boolean): RowCells {
  const { slot, usage, usageBelow } = row;
  return {
    state: row.state,
    glyph: row.glyph,
    word: row.word,
    agent: cleanLine(row.agent),
    ordinal: row.ordinal,
    task: cleanLine(cutText(slot.task ?? '', GIST_CHARS)),
    model: cleanLine(slot.model ?? '').replace(/^(?:claude-(?!code)|scripted\/)/, ''),
    doing: cleanLine(doingOf(row, now, isLive)),
    inState: slot.since === null ? '' : formatAge(now - slot.since),
    context: slot.context === null ? -1 : Math.round((100 * slot.context.tokens) / slot.context.window),
    tokens: formatCount(tokensOf(usage)),
    cost: formatUsageCost(usage),
    costBelow: row.hasChildren ? formatUsageCost(usageBelow) : '',
    errors: row.errors === 0 ? '' : String(row.errors),
    age: slot.lastAt === null ? '' : formatAge(now - slot.lastAt),
  };
}

function doingOf({ state, slot, approvals, health }: ShownRow, now: number, isLive: boolean): string {
  const [asked] = approvals;
  if (state === 'needs' && asked !== undefined) return `${asked.tool}: ${inputLabel(asked.input)}`;
  const silence = describeSilence(slot, now, { isLive, health });
  if (silence !== undefined) return silence;
  if (state === 'done' && slot.text.tail !== '') return gistOf(slot.text.tail);
  return fromWord(nowDoing(slot), slot.text.tail);
}

/** The last paragraph of a finished thread's text, without code blocks. */
function gistOf(text: string): string {
  const parts = text.replace(/```[^`]*(?:```|$)/g, '\n\n').split(/\n\s*\n/);
  const last = parts.findLast((part) => part.trim() !== '') ?? text;
  return cutText(last.replace(/^[\s#>*\-\d.]+/, '').replace(/[*`]/g, ''), GIST_CHARS);
}

const GIST_CHARS = 200;

/** Drops the cut word at the start of a shortened text. */
function fromWord(doing: string, tail: string): string {
  const isCut = doing.length >= CUT_CHARS && tail.length > doing.length;
  return isCut ? `…${doing.slice(doing.indexOf(' ') + 1)}` : doing;
}

/** The length at which `nowDoing` shortens a text. */
const CUT_CHARS = 60;

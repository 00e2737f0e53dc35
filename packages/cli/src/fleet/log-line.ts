import {
  cutText,
  describeRewind,
  type FilesRewound,
  type FleetEvent,
  formatUsageCost,
  hasExamplePrice,
  nowDoing,
  type SessionFault,
  type SessionSlots,
  type ThreadRow,
  toThreadRows,
} from '@fleetloom/protocol/fleet';
import { cleanLine, formatSpan } from '@fleetloom/protocol/text';
import type { Look } from '../terminal/look.ts';
import { isSaying, toInputLine } from './draw-threads.ts';
import { endOfText } from './end-of-text.ts';
import { type SlotState, toSlotState } from './slot-state.ts';

/**
 * One line for each change of a thread's state: for logs, pipes and screen readers. Text deltas are not
 * printed; the line at the end of the turn shows the end of the text.
 */
export class LineLog {
  readonly #look: Look;
  readonly #words = new Map<string, string>();
  readonly #runs = new Map<string, string>();
  /** The number of threads of each agent name, and the name shown for each thread. */
  readonly #named = new Map<string, number>();
  readonly #names = new Map<string, string>();
  readonly #streams = new Map<number, FleetEvent['type']>();

  constructor(look: Look) {
    this.#look = look;
  }

  /** The lines for the changes of this event. */
  take(slots: SessionSlots, event: FleetEvent, nowMs: number): string[] {
    if (!this.#canChange(event)) return [];
    const rows = toThreadRows(slots.runs);
    return [
      ...this.#runLines(slots, 'running'),
      ...rows.flatMap((row) => this.#threadLines(row, nowMs)),
      ...this.#runLines(slots, 'ended'),
      ...(event.type === 'session_error' ? [this.#errorLine(event)] : []),
      ...(event.type === 'files_rewound' ? [this.#rewindLine(event)] : []),
    ];
  }

  #errorLine({ ts, message }: SessionFault): string {
    const { glyphs, paint } = this.#look;
    return `${clock(ts)}  ${paint(`${glyphs.failed} ${'error'.padEnd(10)}`, 'failed')}  ${cutText(cleanLine(message), 400)}`;
  }

  #rewindLine(event: FilesRewound): string {
    const { glyphs, paint } = this.#look;
    const text = cutText(cleanLine(describeRewind(event)), 400);
    return `${clock(event.ts)}  ${paint(`${glyphs.retry} ${'rewind'.padEnd(10)}`, 'dim')}  ${text}`;
  }

  /** Nearly all events are text deltas, and only the first one changes a state. */
  #canChange(event: FleetEvent): boolean {
    if (event.type === 'request_received') this.#streams.clear();
    if (!('stream_id' in event) || event.stream_id === undefined) return true;
    const before = this.#streams.get(event.stream_id);
    this.#streams.set(event.stream_id, event.type);
    const isDelta = event.type === 'text' || event.type === 'thinking';
    return !(isDelta && before === event.type) && event.type !== 'token_usage' && event.type !== 'sub_agent_response';
  }

  #threadLines(row: ThreadRow, nowMs: number): string[] {
    const state = toSlotState(row.slot, nowMs);
    const waits = row.approvals.map(({ toolUseId }) => toolUseId).join(' ');
    const shown = `${row.turns} ${state.word} ${waits}`;
    if (this.#words.get(row.key) === shown) return [];
    this.#words.set(row.key, shown);
    const name = `${'  '.repeat(row.branches.length)}${this.#name(row)}`;
    return [`${clock(row.slot.lastAt ?? nowMs)}  ${this.#paintState(state)}  ${name}${this.#detail(row, state.word)}`];
  }

  /** Lines have no tree to distinguish two threads of one name: from the second one on they have a number. */
  #name({ key, agent }: ThreadRow): string {
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const count = (this.#named.get(agent) ?? 0) + 1;
    this.#named.set(agent, count);
    const name = count === 1 ? cleanLine(agent) : `${cleanLine(agent)}#${count}`;
    this.#names.set(key, name);
    return name;
  }

  #paintState(state: SlotState): string {
    const { glyphs, paint } = this.#look;
    const sign = state.sign === 'thinking' ? (glyphs.thinking[0] ?? '') : glyphs[state.sign];
    return paint(`${sign} ${state.word.padEnd(10)}`, state.style);
  }

  #detail({ slot, approvals }: ThreadRow, word: string): string {
    const asks = approvals.map(({ tool, input, toolUseId }) => `${tool}: ${toInputLine(input)} (${toolUseId})`);
    // A text in progress changes with every delta; the line at the end of the turn shows it.
    const isWriting = slot.phase === 'writing' && slot.state === 'running';
    const said = isSaying(slot) ? endOfText(slot.text, SAID_COLUMNS, this.#look.glyphs.ellipsis) : nowDoing(slot);
    const text = cleanLine(asks.length > 0 ? asks.join(', ') : isWriting ? '' : said);
    // The word of the state is not repeated.
    return text === '' || text === word ? '' : `  ${this.#look.paint(cutText(text, 400), 'dim')}`;
  }

  /** The start of a run is printed before its threads, its end after them. */
  #runLines({ runs }: SessionSlots, which: 'running' | 'ended'): string[] {
    const { glyphs } = this.#look;
    return runs.flatMap((run, index) => {
      const key = run.requestId ?? String(index);
      const before = this.#runs.get(key);
      if (which === 'running') {
        if (before !== undefined) return [];
        this.#runs.set(key, 'running');
        return [`${clock(run.startedAt)}  run ${key} begins: ${cutText(cleanLine(run.message ?? ''), 200)}`];
      }
      if (run.state === 'running' || before === run.state) return [];
      this.#runs.set(key, run.state);
      const took = run.durationMs === null ? '' : ` after ${formatSpan(run.durationMs)}`;
      const why = run.error === null ? '' : `: ${cleanLine(run.error)}`;
      const example = run.slots.some(({ model }) => hasExamplePrice(model ?? '')) ? 'e.g. ' : '';
      const cost = `${example}${formatUsageCost(run.totals.usage, glyphs.unknown)}`;
      return [
        `${clock(run.endedAt)}  run ${key} ${run.state === 'ok' ? 'is done' : `has ${toWord(run.state)}`}${took}, ${cost}${why}`,
      ];
    });
  }
}

/** Columns for the end of a text. */
const SAID_COLUMNS = 60;

function toWord(state: 'failed' | 'lost'): string {
  return state === 'failed' ? 'failed' : 'an end that was not seen';
}

function clock(ms: number | null): string {
  return ms === null ? '--:--:--' : new Date(ms).toTimeString().slice(0, 8);
}

import { cutText, type FleetEvent, nowDoing, type SessionSlots } from '@fleetloom/protocol/fleet';
import { cleanLine } from '../terminal/clean-text.ts';
import { formatDuration } from '../terminal/format.ts';
import type { Look } from '../terminal/look.ts';
import { costOf, isSaying, toInputLine } from './draw-threads.ts';
import { endOfText } from './end-of-text.ts';
import { type SlotState, toSlotState } from './slot-state.ts';
import { type ThreadRow, toThreadRows } from './thread-rows.ts';

/**
 * One line for each change of a thread's state: for logs, pipes and screen readers. Text is not printed as it arrives,
 * only that somebody writes; what was said stands at the end of the turn.
 */
export class LineLog {
  readonly #look: Look;
  readonly #words = new Map<string, string>();
  readonly #runs = new Map<string, string>();
  /** How many threads have this name, and which of them each is. */
  readonly #named = new Map<string, number>();
  readonly #names = new Map<string, string>();
  readonly #streams = new Map<number, FleetEvent['type']>();

  constructor(look: Look) {
    this.#look = look;
  }

  /** The lines for what is new with this event. */
  take(slots: SessionSlots, event: FleetEvent, nowMs: number): string[] {
    if (!this.#canChange(event)) return [];
    const rows = toThreadRows(slots.runs);
    return [
      ...this.#tellRuns(slots, 'running'),
      ...rows.flatMap((row) => this.#tell(row, nowMs)),
      ...this.#tellRuns(slots, 'ended'),
    ];
  }

  /** Nearly all events are pieces of text, and only the first of them changes a state. */
  #canChange(event: FleetEvent): boolean {
    if (event.type === 'request_received') this.#streams.clear();
    if (!('stream_id' in event) || event.stream_id === undefined) return true;
    const before = this.#streams.get(event.stream_id);
    this.#streams.set(event.stream_id, event.type);
    const isPiece = event.type === 'text' || event.type === 'thinking';
    return !(isPiece && before === event.type) && event.type !== 'token_usage' && event.type !== 'sub_agent_response';
  }

  #tell(row: ThreadRow, nowMs: number): string[] {
    const state = toSlotState(row.slot, nowMs);
    const waits = row.approvals.map(({ toolUseId }) => toolUseId).join(' ');
    const said = `${row.turns} ${state.word} ${waits}`;
    if (this.#words.get(row.key) === said) return [];
    this.#words.set(row.key, said);
    const name = `${'  '.repeat(row.branches.length)}${this.#name(row)}`;
    return [`${clock(row.slot.lastAt ?? nowMs)}  ${this.#paintState(state)}  ${name}${this.#detail(row, state.word)}`];
  }

  /** Lines have no place in a tree by which two of one name could be told apart: from the second one on they have a number. */
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
    // What is being written changes with every word: the line says that it is, and the end says what.
    const isWriting = slot.phase === 'writing' && slot.state === 'running';
    const said = isSaying(slot) ? endOfText(slot.text, SAID_COLUMNS, this.#look.glyphs.ellipsis) : nowDoing(slot);
    const text = cleanLine(asks.length > 0 ? asks.join(', ') : isWriting ? '' : said);
    // What the word says need not be said again.
    return text === '' || text === word ? '' : `  ${this.#look.paint(cutText(text, 400), 'dim')}`;
  }

  /** Beginnings come before what happens in a run, ends behind it. */
  #tellRuns({ runs }: SessionSlots, which: 'running' | 'ended'): string[] {
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
      const took = run.durationMs === null ? '' : ` after ${formatDuration(run.durationMs)}`;
      const why = run.error === null ? '' : `: ${cleanLine(run.error)}`;
      const cost = costOf(run.totals.usage, glyphs);
      return [
        `${clock(run.endedAt)}  run ${key} ${run.state === 'ok' ? 'is done' : `has ${toWord(run.state)}`}${took}, ${cost}${why}`,
      ];
    });
  }
}

/** Of what was said its end. */
const SAID_COLUMNS = 60;

function toWord(state: 'failed' | 'lost'): string {
  return state === 'failed' ? 'failed' : 'an end that was not seen';
}

function clock(ms: number | null): string {
  return ms === null ? '--:--:--' : new Date(ms).toTimeString().slice(0, 8);
}

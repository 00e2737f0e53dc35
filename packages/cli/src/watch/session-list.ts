import {
  hasExamplePrice,
  type FleetSession,
  type FleetSessionList,
  type FleetSessionState,
  sessionStates,
  stateOfSession,
} from '@fleetloom/protocol/fleet';
import { cleanLine, formatAge, formatCost, plural } from '@fleetloom/protocol/text';
import { toColumn } from '../fleet/draw-threads.ts';
import type { Key } from '../terminal/parse-keys.ts';
import type { Glyphs } from '../terminal/glyphs.ts';
import type { Style } from '../terminal/palette.ts';
import { type Row, span } from '../terminal/row.ts';
import { describeCounts } from '../fleet/describe-counts.ts';

/** The action that a key in the list of sessions requests. */
export type ListAction =
  | { readonly type: 'open'; readonly sessionId: string }
  /** Requests the list again with the current search and order; the response replaces the list. */
  | { readonly type: 'search' }
  /** Opens a session by a word of its name or the beginning of its id. */
  | { readonly type: 'jump'; readonly text: string }
  | { readonly type: 'quit'; readonly isInterrupt: boolean };

/** All sessions of the server as a numbered list. The server filters and counts; a selected session stays selected. */
export class SessionList {
  page: FleetSessionList | undefined;
  /** The search text, which is sent to the server. */
  query = '';
  /** Whether sessions that need a person come first, instead of the newest activity. */
  isByAttention = false;
  /** A text that is shown instead of the available keys until the next key press. */
  notice = '';
  #selectedId: string | undefined;
  #prompt: { readonly type: 'search' | 'jump'; text: string } | undefined;

  get sessions(): readonly FleetSession[] {
    return this.page?.data ?? [];
  }

  get selected(): number {
    return Math.max(
      0,
      this.sessions.findIndex(({ id }) => id === this.#selectedId),
    );
  }

  take(key: Key): ListAction | undefined {
    this.notice = '';
    if (key === 'interrupt') return { type: 'quit', isInterrupt: true };
    if (this.#prompt !== undefined) return this.#type(this.#prompt, key);
    const typed = typeof key === 'object' ? key.typed : key;
    const step = STEPS[typed];
    if (step !== undefined) this.#select(this.selected + step);
    else if (typed === 'enter' || typed === 'right') return this.#open(this.selected);
    else if (typed === '/') this.#prompt = { type: 'search', text: this.query };
    else if (typed === ':') this.#prompt = { type: 'jump', text: '' };
    else if (typed === 'o') {
      this.isByAttention = !this.isByAttention;
      return this.#search(this.query);
    } else if (/^[1-9]$/.test(typed)) this.#select(Number(typed) - 1);
    else if (typed === 'escape' && this.query !== '') return this.#search('');
    else if (typed === 'q' || typed === 'escape') return { type: 'quit', isInterrupt: false };
    return undefined;
  }

  draw(rows: number, nowMs: number, glyphs: Glyphs): Row[] {
    const room = Math.max(1, rows - 4);
    const { sessions, selected } = this;
    const first = Math.max(0, Math.min(selected - Math.floor(room / 2), sessions.length - room));
    const width = String(sessions.length).length;
    const shown = sessions
      .slice(first, first + room)
      .map((session, index) =>
        toRow(session, { number: first + index + 1, width, isSelected: first + index === selected, nowMs, glyphs }),
      );
    return [
      this.#drawHead(),
      ...(shown.length > 0 ? shown : [this.#drawEmpty()]),
      { left: [], right: [] },
      this.#drawFoot(),
    ];
  }

  #drawHead(): Row {
    const { page } = this;
    if (page === undefined) return { left: [span(' fleetloom ', 'brand'), span('· loading', 'dim')], right: [] };
    const found = this.query === '' ? '' : ` matching "${cleanLine(this.query)}"`;
    const left = [span(' fleetloom ', 'brand'), span(`· ${plural(page.total, 'session')}${found}`)];
    return { left: [...left, span(`  ${describeCounts(page.facets)}`, 'dim')], right: [] };
  }

  #drawEmpty(): Row {
    const text =
      this.page === undefined ? '' : this.query === '' ? '  No sessions yet.' : '  No session matches. Esc shows all.';
    return { left: [span(text, 'dim')], right: [] };
  }

  #drawFoot(): Row {
    if (this.#prompt !== undefined) {
      const mark = this.#prompt.type === 'search' ? '/' : ':';
      return { left: [span(` ${mark}${this.#prompt.text}`, 'bold'), span('▏')], right: [] };
    }
    const order = this.isByAttention ? 'newest first' : 'needs you first';
    const keys = ` Enter watch · o ${order} · / search · : number, name or id · q quit`;
    return {
      left: [span(this.notice === '' ? keys : ` ${this.notice}`, this.notice === '' ? 'dim' : 'attention')],
      right: [],
    };
  }

  #type(prompt: { readonly type: 'search' | 'jump'; text: string }, key: Key): ListAction | undefined {
    if (typeof key === 'object') prompt.text += key.typed;
    else if (key === 'backspace') prompt.text = Array.from(prompt.text).slice(0, -1).join('');
    else if (key === 'clear-line') prompt.text = '';
    else if (key === 'escape') this.#prompt = undefined;
    else if (key === 'enter') {
      this.#prompt = undefined;
      return prompt.type === 'search' ? this.#search(prompt.text.trim()) : this.#jump(prompt.text.trim());
    }
    return undefined;
  }

  #search(query: string): ListAction {
    this.query = query;
    return { type: 'search' };
  }

  #jump(text: string): ListAction | undefined {
    if (text === '') return undefined;
    const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
    if (number >= 1 && number <= this.sessions.length) return this.#open(number - 1);
    return { type: 'jump', text };
  }

  #open(index: number): ListAction | undefined {
    this.#select(index);
    const sessionId = this.sessions[this.selected]?.id;
    return sessionId === undefined ? undefined : { type: 'open', sessionId };
  }

  #select(index: number): void {
    this.#selectedId = this.sessions[Math.max(0, Math.min(this.sessions.length - 1, index))]?.id;
  }
}

const STEPS: Readonly<Record<string, number | undefined>> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  'page-up': -10,
  'page-down': 10,
  home: -1e9,
  end: 1e9,
};

/** A state is never shown by its colour alone. */
const LOOKS: Readonly<Record<FleetSessionState, { readonly style: Style; readonly glyph: SessionGlyph }>> = {
  needs_you: { style: 'attention', glyph: 'needsYou' },
  stalled: { style: 'attention', glyph: 'unfinished' },
  failed: { style: 'failed', glyph: 'failed' },
  running: { style: 'writing', glyph: 'writing' },
  done: { style: 'plain', glyph: 'done' },
  idle: { style: 'dim', glyph: 'queued' },
  archived: { style: 'dim', glyph: 'stopped' },
};

type SessionGlyph = 'needsYou' | 'unfinished' | 'failed' | 'writing' | 'done' | 'queued' | 'stopped';

function toRow(
  session: FleetSession,
  at: {
    readonly number: number;
    readonly width: number;
    readonly isSelected: boolean;
    readonly nowMs: number;
    readonly glyphs: Glyphs;
  },
): Row {
  const state = stateOfSession(session, at.nowMs);
  const look = LOOKS[state];
  const example = hasExamplePrice(session.model) ? 'e.g. ' : '';
  const cost = session.cost_usd === null ? '' : `${example}${formatCost(session.cost_usd)}`;
  return {
    left: [
      span(at.isSelected ? '> ' : '  ', 'brand'),
      span(`${String(at.number).padStart(at.width)}  `, 'dim'),
      span(`${at.glyphs[look.glyph]} ${toColumn(sessionStates[state].label, 10, '…')} `, look.style),
      span(`${toColumn(cleanLine(session.agent.name), 16, '…')} `, 'dim'),
      span(cleanLine(session.name), at.isSelected ? 'bold' : 'plain'),
    ],
    right: [span(`${cost}  ${formatAge(at.nowMs - Date.parse(session.last_activity_at))}`, 'dim')],
  };
}

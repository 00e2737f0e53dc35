import type { Approval } from '@fleetloom/protocol/fleet';
import type { ThreadRow } from '../fleet/thread-rows.ts';
import { limits } from '../limits.ts';
import type { Key } from '../terminal/parse-keys.ts';
import type { Prompt, WatchModel } from './watch-model.ts';

/** What a key leads to beside what it changes on the screen. */
export type WatchAction =
  | {
      readonly type: 'answer';
      readonly approval: Approval;
      readonly result: 'allow' | 'deny';
      readonly message?: string;
    }
  | { readonly type: 'send'; readonly text: string }
  | { readonly type: 'stop'; readonly row: ThreadRow }
  | { readonly type: 'suspend' }
  | { readonly type: 'quit'; readonly isInterrupt: boolean };

export function handleKey(model: WatchModel, key: Key, nowMs: number): WatchAction | undefined {
  if (key === 'interrupt') return { type: 'quit', isInterrupt: true };
  if (key === 'suspend') return { type: 'suspend' };
  if (model.prompt !== undefined) return typeInto(model, model.prompt, key);
  const rows = model.rows(nowMs);
  const selected = rows[model.selectedIndex(rows)];
  return typeof key === 'string' ? navigate(model, rows, key) : command(model, rows, selected, key.typed, nowMs);
}

function navigate(model: WatchModel, rows: readonly ThreadRow[], key: Exclude<Key, object>): undefined {
  const isOpen = model.page === 'thread';
  const index = model.selectedIndex(rows);
  const step = { up: -1, down: 1, 'page-up': -10, 'page-down': 10, home: -1e9, end: 1e9 }[key as string];
  if (step !== undefined) {
    if (isOpen) model.scroll = Math.max(0, model.scroll - step);
    else move(model, rows, index + step);
  } else if (key === 'enter' || key === 'right') {
    if (model.page === 'threads' && rows.length > 0) open(model, rows[index]);
  } else if (key === 'escape' || key === 'left' || key === 'backspace') {
    if (model.page === 'threads') model.filter = '';
    model.page = 'threads';
  }
  return undefined;
}

function move(model: WatchModel, rows: readonly ThreadRow[], index: number): void {
  model.select(rows[Math.max(0, Math.min(rows.length - 1, index))]);
}

function open(model: WatchModel, row: ThreadRow | undefined): void {
  model.select(row);
  model.page = 'thread';
}

function command(
  model: WatchModel,
  rows: readonly ThreadRow[],
  selected: ThreadRow | undefined,
  typed: string,
  nowMs: number,
): WatchAction | undefined {
  const [ask] = selected === undefined ? [] : model.openAsks(selected);
  switch (typed) {
    case 'q':
      return { type: 'quit', isInterrupt: false };
    case '?':
      model.page = model.page === 'help' ? 'threads' : 'help';
      return undefined;
    case 'j':
      return navigate(model, rows, 'down');
    case 'k':
      return navigate(model, rows, 'up');
    case 'n':
      return goToNext(model, rows, nowMs);
    case 's':
      model.prompt = { type: 'send', text: '' };
      return undefined;
    case '/':
      model.page = 'threads';
      model.prompt = { type: 'filter', text: model.filter };
      return undefined;
    case 'x':
      if (selected !== undefined) model.prompt = { type: 'stop', row: selected };
      return undefined;
    case 'a':
      if (ask !== undefined) return { type: 'answer', approval: ask, result: 'allow' };
      model.say(NOTHING, nowMs);
      return undefined;
    case 'd':
      if (ask === undefined) model.say(NOTHING, nowMs);
      else model.prompt = { type: 'deny', approval: ask, text: '' };
      return undefined;
    default:
      return undefined;
  }
}

const NOTHING = 'This thread asks for nothing; n goes to the next that does.';

/** The next one below, or the first from the top. */
function goToNext(model: WatchModel, rows: readonly ThreadRow[], nowMs: number): undefined {
  const index = model.selectedIndex(rows);
  const order = [...rows.slice(index + 1), ...rows.slice(0, index + 1)];
  const next = order.find((row) => model.openAsks(row).length > 0);
  if (next === undefined) model.say('Nothing needs you.', nowMs);
  else model.select(next);
  return undefined;
}

function typeInto(model: WatchModel, prompt: Prompt, key: Key): WatchAction | undefined {
  if (prompt.type === 'stop') {
    model.prompt = undefined;
    return typeof key === 'object' && key.typed === 'y' ? { type: 'stop', row: prompt.row } : undefined;
  }
  if (key === 'escape') {
    if (prompt.type === 'filter') model.filter = '';
    model.prompt = undefined;
    return undefined;
  }
  if (key === 'enter') {
    model.prompt = undefined;
    return finish(prompt);
  }
  const text = edit(prompt.text, key);
  model.prompt = { ...prompt, text };
  // Rows go while it is typed, as in every list with a filter.
  if (prompt.type === 'filter') model.filter = text;
  return undefined;
}

function finish(prompt: Exclude<Prompt, { type: 'stop' }>): WatchAction | undefined {
  const text = prompt.text.trim();
  if (prompt.type === 'send') return text === '' ? undefined : { type: 'send', text };
  if (prompt.type === 'filter') return undefined;
  return { type: 'answer', approval: prompt.approval, result: 'deny', ...(text === '' ? {} : { message: text }) };
}

function edit(text: string, key: Key): string {
  if (typeof key === 'object') return text.length < limits.typedCharsMax ? text + key.typed : text;
  if (key === 'backspace') return Array.from(text).slice(0, -1).join('');
  return key === 'clear-line' ? '' : text;
}

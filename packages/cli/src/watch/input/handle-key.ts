import type { ThreadRow } from '@fleetloom/protocol/fleet';
import type { Key, NamedKey } from '../../terminal/parse-keys.ts';
import type { WatchAction } from '../state/action.ts';
import type { PendingCall } from '../state/pending-calls.ts';
import { toRule } from '../state/rule.ts';
import { typeInto } from './type-into.ts';
import type { WatchModel } from '../state/watch-model.ts';

/** Changes the model for a key, and returns the action that it requests, if any. */
export function handleKey(model: WatchModel, key: Key, nowMs: number): WatchAction | undefined {
  if (key === 'interrupt') return { type: 'quit', isInterrupt: true };
  if (key === 'suspend') return { type: 'suspend' };
  if (model.prompt !== undefined) return typeInto(model, model.prompt, key, nowMs);
  const rows = model.rows(nowMs);
  const pendingCalls = model.pendingCalls(nowMs);
  const at: Place = {
    rows,
    pendingCalls,
    selected: rows[model.selectedIndex(rows)],
    pendingCall: pendingAt(model, rows, pendingCalls),
    nowMs,
  };
  if (typeof key === 'string') return navigate(model, at, key);
  if (key.typed === 'j') return navigate(model, at, 'down');
  if (key.typed === 'k') return navigate(model, at, 'up');
  return look(model, at, key.typed) ?? act(model, at, key.typed);
}

/** The visible and the selected threads. */
interface Place {
  readonly rows: readonly ThreadRow[];
  readonly pendingCalls: readonly PendingCall[];
  readonly selected: ThreadRow | undefined;
  /** The pending request that decision keys refer to. */
  readonly pendingCall: PendingCall | undefined;
  readonly nowMs: number;
}

function pendingAt(
  model: WatchModel,
  rows: readonly ThreadRow[],
  pendingCalls: readonly PendingCall[],
): PendingCall | undefined {
  if (model.page === 'inbox') return pendingCalls[model.pendingIndex(pendingCalls)];
  return pendingCalls.find(({ key }) => key === rows[model.selectedIndex(rows)]?.key);
}

const STEPS: Partial<Record<NamedKey, number>> = {
  up: -1,
  down: 1,
  'page-up': -10,
  'page-down': 10,
  home: -1e9,
  end: 1e9,
};

function navigate(model: WatchModel, at: Place, key: NamedKey): WatchAction | undefined {
  const step = STEPS[key];
  if (step !== undefined) move(model, at, key, step);
  else if (key === 'enter' || key === 'right') enter(model, at, key);
  else if (key === 'escape' || key === 'left' || key === 'backspace') return leave(model, at, key);
  return undefined;
}

function move(model: WatchModel, { rows, pendingCalls }: Place, key: NamedKey, step: number): void {
  // A thread page scrolls from its end, other pages from their start.
  if (model.page === 'thread') model.scroll = Math.max(0, model.scroll - step);
  else if (model.page === 'help') model.scroll = Math.max(0, model.scroll + step);
  else if (model.page === 'threads') model.select(rows[within(rows, model.selectedIndex(rows) + step)]);
  // In the inbox, arrows select and page keys scroll the input.
  else if (Math.abs(step) === 1)
    model.selectCall(pendingCalls[within(pendingCalls, model.pendingIndex(pendingCalls) + step)]);
  else model.scroll = key === 'home' ? 0 : Math.max(0, model.scroll + step);
}

function within(list: readonly unknown[], index: number): number {
  return Math.max(0, Math.min(list.length - 1, index));
}

function enter(model: WatchModel, { selected, pendingCall }: Place, key: 'enter' | 'right'): void {
  if (model.page === 'thread') {
    if (key === 'right') model.isUnfolded = true;
  } else if (model.page === 'inbox') {
    if (pendingCall === undefined) return;
    model.selectKey(pendingCall.key);
    model.open('thread');
  } else if (model.page === 'threads' && selected !== undefined) {
    if (key === 'right' && model.fold(selected, false)) return;
    model.select(selected);
    model.open('thread');
  }
}

function leave(model: WatchModel, { selected }: Place, key: NamedKey): WatchAction | undefined {
  if (model.page === 'thread' && key === 'left' && model.isUnfolded) {
    model.isUnfolded = false;
    return undefined;
  }
  if (model.back()) return undefined;
  if (key === 'left' && selected !== undefined) model.fold(selected, true);
  else if (model.filter !== '') model.filter = '';
  else if (key === 'escape' && model.replay !== undefined) model.replay = undefined;
  else if (key === 'escape' && model.canGoBack) return { type: 'back' };
  return undefined;
}

/** Keys that only change the view. */
function look(model: WatchModel, at: Place, typed: string): WatchAction | undefined {
  const { replay } = model;
  switch (typed) {
    case 'q':
      return { type: 'quit', isInterrupt: false };
    case '?':
      if (model.page === 'help') model.back();
      else model.open('help');
      return undefined;
    case 'i':
      if (model.page === 'inbox') model.back();
      else model.open('inbox');
      return undefined;
    case 'n':
      return goToNext(model, at);
    case '/':
      while (model.page !== 'threads' && model.back());
      model.prompt = { type: 'filter', text: model.filter };
      return undefined;
    case ':':
      model.prompt = { type: 'command', text: '' };
      return undefined;
    case 'R':
    case '.':
      if (replay === undefined) return typed === 'R' ? { type: 'replay' } : undefined;
      model.replay = undefined;
      return undefined;
    case '[':
    case ']':
    case '{':
    case '}':
      return step(model, typed);
    default:
      return undefined;
  }
}

function step({ replay }: WatchModel, typed: '[' | ']' | '{' | '}'): WatchAction | undefined {
  if (replay === undefined) return typed === '[' || typed === '{' ? { type: 'replay' } : undefined;
  if (typed === '[' || typed === ']') replay.step(typed === ']' ? 1 : -1);
  else replay.stepTurn(typed === '}' ? 1 : -1);
  return undefined;
}

/** Selects the next pending request below, else the first one. */
function goToNext(model: WatchModel, { rows, pendingCalls, nowMs }: Place): undefined {
  const index = model.selectedIndex(rows);
  const order = [...rows.slice(index + 1), ...rows.slice(0, index + 1)];
  const next = order.find((row) => pendingCalls.some(({ key }) => key === row.key));
  if (next === undefined) model.say('Nothing is pending.', nowMs);
  else model.select(next);
  return undefined;
}

/** Keys that act on the server. */
function act(model: WatchModel, at: Place, typed: string): WatchAction | undefined {
  if (!'adArsxX'.includes(typed)) return undefined;
  if (model.replay !== undefined) {
    model.say('Not possible in a replay. R returns to the live view.', at.nowMs);
    return undefined;
  }
  if (typed === 's') model.prompt = { type: 'send', row: steered(model, at), text: '' };
  else if (typed === 'x' || typed === 'X') stop(model, at, typed === 'X');
  else return answer(model, at, typed);
  return undefined;
}

/** Messages go to the coordinator, which forwards those for other threads. */
function steered(model: WatchModel, { selected, pendingCall }: Place): ThreadRow | undefined {
  const row = model.page === 'inbox' ? model.threads().find(({ key }) => key === pendingCall?.key) : selected;
  return row === undefined || row.branches.length === 0 ? undefined : row;
}

function stop(model: WatchModel, { selected, pendingCall }: Place, isSubtree: boolean): void {
  const all = model.threads();
  const index = all.findIndex(({ key }) => key === (model.page === 'inbox' ? pendingCall?.key : selected?.key));
  const row = all[index];
  if (row !== undefined)
    model.prompt = { type: 'stop', rows: all.slice(index, index + 1 + (isSubtree ? row.rowsBelow : 0)) };
}

function answer(model: WatchModel, { pendingCall, nowMs }: Place, typed: string): WatchAction | undefined {
  if (pendingCall === undefined) {
    model.say(
      model.page === 'inbox' ? 'Nothing is pending.' : 'Nothing is pending in this thread; n goes to the next one.',
      nowMs,
    );
    return undefined;
  }
  const isResult = pendingCall.type === 'result';
  if (typed === 'r' && !isResult) model.say('This is an approval, not a question: a approves it, d denies it.', nowMs);
  else if (typed !== 'r' && isResult)
    model.say(
      pendingCall.questions.length > 0
        ? 'This is a question: r answers it.'
        : `${pendingCall.tool} waits for its result: r returns it.`,
      nowMs,
    );
  else if (typed === 'a' && !model.shownCalls.has(pendingCall.toolUseId))
    model.say('The request has just changed or is not fully visible. Press i to read it first.', nowMs);
  else if (typed === 'a') return { type: 'answer', pendingCalls: [pendingCall], result: 'allow' };
  else if (typed === 'r') model.prompt = { type: 'answer', pendingCall, text: '' };
  else if (typed === 'd') model.prompt = { type: 'deny', pendingCall, text: '' };
  else model.prompt = { type: 'rule', pendingCall, text: toRule(pendingCall).pattern };
  return undefined;
}

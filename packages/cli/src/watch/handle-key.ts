import type { ThreadRow } from '../fleet/thread-rows.ts';
import type { Key, NamedKey } from '../terminal/parse-keys.ts';
import type { WatchAction } from './action.ts';
import type { Ask } from './asks.ts';
import { toRule } from './rule.ts';
import { typeInto } from './type-into.ts';
import type { WatchModel } from './watch-model.ts';

export function handleKey(model: WatchModel, key: Key, nowMs: number): WatchAction | undefined {
  if (key === 'interrupt') return { type: 'quit', isInterrupt: true };
  if (key === 'suspend') return { type: 'suspend' };
  if (model.prompt !== undefined) return typeInto(model, model.prompt, key, nowMs);
  const rows = model.rows(nowMs);
  const asks = model.asks(nowMs);
  const at: Place = { rows, asks, selected: rows[model.selectedIndex(rows)], ask: askAt(model, rows, asks), nowMs };
  if (typeof key === 'string') return navigate(model, at, key);
  if (key.typed === 'j') return navigate(model, at, 'down');
  if (key.typed === 'k') return navigate(model, at, 'up');
  return look(model, at, key.typed) ?? act(model, at, key.typed);
}

/** What is on the screen and chosen. */
interface Place {
  readonly rows: readonly ThreadRow[];
  readonly asks: readonly Ask[];
  readonly selected: ThreadRow | undefined;
  /** What the keys that answer are about. */
  readonly ask: Ask | undefined;
  readonly nowMs: number;
}

function askAt(model: WatchModel, rows: readonly ThreadRow[], asks: readonly Ask[]): Ask | undefined {
  if (model.page === 'inbox') return asks[model.askIndex(asks)];
  return asks.find(({ key }) => key === rows[model.selectedIndex(rows)]?.key);
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
  else if (key === 'escape' || key === 'left' || key === 'backspace') leave(model, at, key);
  return undefined;
}

function move(model: WatchModel, { rows, asks }: Place, key: NamedKey, step: number): void {
  // A thread is read from its end, the other pages from their beginning.
  if (model.page === 'thread') model.scroll = Math.max(0, model.scroll - step);
  else if (model.page === 'help') model.scroll = Math.max(0, model.scroll + step);
  else if (model.page === 'threads') model.select(rows[within(rows, model.selectedIndex(rows) + step)]);
  // In the inbox the arrows choose, and the other keys turn the pages of what is asked for.
  else if (Math.abs(step) === 1) model.selectAsk(asks[within(asks, model.askIndex(asks) + step)]);
  else model.scroll = key === 'home' ? 0 : Math.max(0, model.scroll + step);
}

function within(list: readonly unknown[], index: number): number {
  return Math.max(0, Math.min(list.length - 1, index));
}

function enter(model: WatchModel, { selected, ask }: Place, key: 'enter' | 'right'): void {
  if (model.page === 'thread') {
    if (key === 'right') model.isUnfolded = true;
  } else if (model.page === 'inbox') {
    if (ask === undefined) return;
    model.selectKey(ask.key);
    model.open('thread');
  } else if (model.page === 'threads' && selected !== undefined) {
    if (key === 'right' && model.fold(selected, false)) return;
    model.select(selected);
    model.open('thread');
  }
}

function leave(model: WatchModel, { selected }: Place, key: NamedKey): void {
  if (model.page === 'thread' && key === 'left' && model.isUnfolded) {
    model.isUnfolded = false;
    return;
  }
  if (model.back()) return;
  if (key === 'left' && selected !== undefined) model.fold(selected, true);
  else if (model.filter !== '') model.filter = '';
  else if (key === 'escape') model.replay = undefined;
}

/** Keys that only change what is shown. */
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

/** The next one below, or the first from the top. */
function goToNext(model: WatchModel, { rows, asks, nowMs }: Place): undefined {
  const index = model.selectedIndex(rows);
  const order = [...rows.slice(index + 1), ...rows.slice(0, index + 1)];
  const next = order.find((row) => asks.some(({ key }) => key === row.key));
  if (next === undefined) model.say('Nothing needs you.', nowMs);
  else model.select(next);
  return undefined;
}

/** Keys that lead to something on the server. */
function act(model: WatchModel, at: Place, typed: string): WatchAction | undefined {
  if (!'adArsxX'.includes(typed)) return undefined;
  if (model.replay !== undefined) {
    model.say('This is the past, and nothing can be done there. R goes back to the present.', at.nowMs);
    return undefined;
  }
  if (typed === 's') model.prompt = { type: 'send', row: steered(model, at), text: '' };
  else if (typed === 'x' || typed === 'X') stop(model, at, typed === 'X');
  else return answer(model, at, typed);
  return undefined;
}

/** The coordinator is spoken to itself; for others it passes the message on. */
function steered(model: WatchModel, { selected, ask }: Place): ThreadRow | undefined {
  const row = model.page === 'inbox' ? model.threads().find(({ key }) => key === ask?.key) : selected;
  return row === undefined || row.branches.length === 0 ? undefined : row;
}

function stop(model: WatchModel, { selected, ask }: Place, isSubtree: boolean): void {
  const all = model.threads();
  const index = all.findIndex(({ key }) => key === (model.page === 'inbox' ? ask?.key : selected?.key));
  const row = all[index];
  if (row !== undefined)
    model.prompt = { type: 'stop', rows: all.slice(index, index + 1 + (isSubtree ? row.rowsBelow : 0)) };
}

function answer(model: WatchModel, { ask, nowMs }: Place, typed: string): WatchAction | undefined {
  if (ask === undefined) {
    model.say(
      model.page === 'inbox' ? 'Nothing needs you.' : 'This thread asks for nothing; n goes to the next that does.',
      nowMs,
    );
    return undefined;
  }
  const isResult = ask.type === 'result';
  if (typed === 'r' && !isResult) model.say('It asks for leave, not for an answer: a approves it, d denies it.', nowMs);
  else if (typed !== 'r' && isResult)
    model.say(
      ask.questions.length > 0 ? 'It is a question: r answers it.' : `${ask.tool} waits for its result: r gives it.`,
      nowMs,
    );
  else if (typed === 'a' && !model.shownAsks.has(ask.toolUseId))
    model.say('What it asks for has just changed, or has no room here: look at it first. i shows all.', nowMs);
  else if (typed === 'a') return { type: 'answer', asks: [ask], result: 'allow' };
  else if (typed === 'r') model.prompt = { type: 'answer', ask, text: '' };
  else if (typed === 'd') model.prompt = { type: 'deny', ask, text: '' };
  else model.prompt = { type: 'rule', ask, text: toRule(ask).pattern };
  return undefined;
}

import { toRuleText } from '@fleetloom/protocol/fleet';
import type { ThreadRow } from '../fleet/thread-rows.ts';
import { limits } from '../limits.ts';
import type { Key } from '../terminal/parse-keys.ts';
import type { WatchAction } from './action.ts';
import { completeCommand, runCommand } from './command-line.ts';
import type { Prompt } from './prompt.ts';
import { describeRule, isAllowed, toRule } from './rule.ts';
import type { WatchModel } from './watch-model.ts';

/** A key while something is typed: it changes the text, ends it, or gives it up. */
export function typeInto(model: WatchModel, prompt: Prompt, key: Key, nowMs: number): WatchAction | undefined {
  if (prompt.type === 'stop') {
    model.prompt = undefined;
    return typeof key === 'object' && key.typed === 'y' ? toStop(prompt.rows) : undefined;
  }
  if (key === 'escape') {
    if (prompt.type === 'filter') model.filter = '';
    model.prompt = undefined;
    return undefined;
  }
  if (key === 'enter') {
    model.prompt = undefined;
    return finish(model, prompt, nowMs);
  }
  const text = key === 'tab' && prompt.type === 'command' ? completeCommand(prompt.text) : edit(prompt.text, key);
  // As in other programs, going back over the beginning leaves.
  model.prompt =
    prompt.type === 'command' && key === 'backspace' && prompt.text === '' ? undefined : { ...prompt, text };
  // Rows go while it is typed, as in every list with a filter.
  if (prompt.type === 'filter') model.filter = text;
  return undefined;
}

/** Those below first, so that nobody above is told of their end and goes on. The coordinator with all is everybody. */
function toStop(rows: readonly ThreadRow[]): WatchAction {
  const [first] = rows;
  const whom = first?.agent ?? '';
  const isEverybody = rows.length > 1 && first?.branches.length === 0;
  // Whoever has ended need not be stopped, and of those there may be more than one request takes.
  const atWork = rows.filter((row) => row === first || ['running', 'needs_approval'].includes(row.slot.state));
  const threadIds = isEverybody ? [null] : atWork.map(({ threadId }) => threadId).toReversed();
  return { type: 'stop', threadIds, whom: rows.length === 1 ? whom : `${whom} with all below it` };
}

function finish(model: WatchModel, prompt: Exclude<Prompt, { type: 'stop' }>, nowMs: number): WatchAction | undefined {
  const text = prompt.text.trim();
  switch (prompt.type) {
    case 'filter':
      return undefined;
    case 'command':
      return runCommand(model, text, nowMs);
    case 'send':
      return text === '' ? undefined : { type: 'send', text: toMessage(prompt.row, text) };
    case 'answer':
      return { type: 'result', ask: prompt.ask, text };
    case 'rule': {
      const rule = { ...toRule(prompt.ask), pattern: prompt.text };
      if (!isAllowed(rule, prompt.ask)) {
        model.say(`${describeRule(rule)} does not allow what is asked for.`, nowMs);
        return undefined;
      }
      const asks = model.asks(nowMs).filter((ask) => isAllowed(rule, ask));
      model.rules.push(rule);
      return { type: 'answer', asks: asks.map((ask) => ({ ...ask, rule: toRuleText(rule) })), result: 'allow' };
    }
    case 'deny':
      return { type: 'answer', asks: [prompt.ask], result: 'deny', ...(text === '' ? {} : { message: text }) };
  }
}

/** Messages reach the coordinator. It knows threads by their ids, so it can pass one on. */
export function toMessage(row: ThreadRow | undefined, text: string): string {
  return row === undefined ? text : `For ${row.agent}${row.threadId === null ? '' : ` (${row.threadId})`}: ${text}`;
}

function edit(text: string, key: Key): string {
  if (typeof key === 'object') return text.length < limits.typedCharsMax ? text + key.typed : text;
  if (key === 'backspace') return Array.from(text).slice(0, -1).join('');
  return key === 'clear-line' ? '' : text;
}

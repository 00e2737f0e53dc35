import { type ThreadRow, toRuleText } from '@fleetloom/protocol/fleet';
import { limits } from '../../base/limits.ts';
import type { Key } from '../../terminal/parse-keys.ts';
import type { WatchAction } from '../state/action.ts';
import { completeCommand, runCommand } from './command-line.ts';
import type { Prompt } from '../state/prompt.ts';
import { describeRule, isAllowed, toRule } from '../state/rule.ts';
import type { WatchModel } from '../state/watch-model.ts';

/** A key in a prompt: edits, submits or cancels it. */
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
  // Backspace in an empty prompt cancels it.
  model.prompt =
    prompt.type === 'command' && key === 'backspace' && prompt.text === '' ? undefined : { ...prompt, text };
  // The filter applies while it is typed.
  if (prompt.type === 'filter') model.filter = text;
  return undefined;
}

/** Stops threads, descendants first, so that a parent does not react to their end. A coordinator with all descendants is the whole session. */
function toStop(rows: readonly ThreadRow[]): WatchAction {
  const [first] = rows;
  const target = first?.agent ?? '';
  const isEveryThread = rows.length > 1 && first?.branches.length === 0;
  // Ended threads need no interrupt, and there may be more of them than fit into one request.
  const atWork = rows.filter((row) => row === first || ['running', 'needs_approval'].includes(row.slot.state));
  const threadIds = isEveryThread ? [null] : atWork.map(({ threadId }) => threadId).toReversed();
  return { type: 'stop', threadIds, target: rows.length === 1 ? target : `${target} with all below it` };
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
      return { type: 'result', pendingCall: prompt.pendingCall, text };
    case 'rule': {
      const rule = { ...toRule(prompt.pendingCall), pattern: prompt.text };
      if (!isAllowed(rule, prompt.pendingCall)) {
        model.say(`${describeRule(rule)} does not match the pending request.`, nowMs);
        return undefined;
      }
      const pendingCalls = model.pendingCalls(nowMs).filter((pendingCall) => isAllowed(rule, pendingCall));
      model.rules.push(rule);
      return {
        type: 'answer',
        pendingCalls: pendingCalls.map((pendingCall) => ({ ...pendingCall, rule: toRuleText(rule) })),
        result: 'allow',
      };
    }
    case 'deny':
      return {
        type: 'answer',
        pendingCalls: [prompt.pendingCall],
        result: 'deny',
        ...(text === '' ? {} : { message: text }),
      };
  }
}

/** A message names the thread by its id, so that the coordinator can forward it. */
export function toMessage(row: ThreadRow | undefined, text: string): string {
  return row === undefined ? text : `For ${row.agent}${row.threadId === null ? '' : ` (${row.threadId})`}: ${text}`;
}

function edit(text: string, key: Key): string {
  if (typeof key === 'object') return text.length < limits.typedCharsMax ? text + key.typed : text;
  if (key === 'backspace') return Array.from(text).slice(0, -1).join('');
  return key === 'clear-line' ? '' : text;
}

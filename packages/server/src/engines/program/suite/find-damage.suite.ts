import { MAIN, type ProgramEvent } from '../program.ts';
import { findDisorder } from './find-disorder.suite.ts';

/**
 * Finds events that no lines may produce, complete or not: an item twice, an end without a beginning, a turn that ends while a call of its
 * agent has no result, usage below zero.
 */
export function findDamage(events: readonly ProgramEvent[]): string[] {
  // A block whose deltas do not add up to it voids them, and a program may ask about a call that was announced as allowed.
  const isHarmless = /is not what it grew to$|is about a call without an approval$/;
  const problems = findDisorder(events).filter((problem) => !isHarmless.test(problem));
  const once = new Set<string>();
  const running = new Set<string>();
  const open = new Map<string, string>();
  for (const [at, event] of events.entries()) {
    const complain = (problem: string) => problems.push(`${at} ${event.type} of ${event.key}: ${problem}`);
    const item = toItem(event);
    if (item !== null && once.has(item)) complain(`${item} comes twice`);
    if (item !== null) once.add(item);
    if (event.type === 'call') open.set(event.callId, event.key);
    if (event.type === 'result') open.delete(event.callId);
    if (isBeginning(event)) {
      if (running.has(event.key)) complain('works already');
      running.add(event.key);
    }
    if (event.type === 'turn_ended' || event.type === 'thread_ended') {
      if (!running.delete(event.key)) complain('has not begun');
      for (const [callId, key] of open) if (key === event.key) complain(`${callId} has no result`);
    }
    if (event.type === 'request_ended' && Object.values(event.usage).some((count) => !(count >= 0 && count < 1e15)))
      complain(`uses ${JSON.stringify(event.usage)}`);
  }
  return problems;
}

/** The facts of each thread in its own order: texts, calls, results, asks and usage. */
export function storiesOf(events: readonly ProgramEvent[]): Readonly<Record<string, readonly string[]>> {
  const stories = new Map<string, string[]>();
  const used = new Map<string, number>();
  for (const event of events) {
    const story = stories.get(event.key) ?? [];
    stories.set(event.key, story);
    if (event.type === 'request_ended')
      used.set(
        event.key,
        (used.get(event.key) ?? 0) + Object.values(event.usage).reduce((sum, count) => sum + count, 0),
      );
    const line = toLine(event);
    if (line !== null) story.push(line);
  }
  for (const [key, tokens] of used) stories.get(key)!.push(`used ${tokens}`);
  return Object.fromEntries(stories);
}

function toLine(event: ProgramEvent): string | null {
  switch (event.type) {
    case 'block_ended':
      return `says ${JSON.stringify(event.content)}`;
    case 'call':
      return `calls ${event.callId} ${event.name} ${JSON.stringify(event.input)}`;
    case 'result':
      return `has ${event.callId} ${event.isError} ${JSON.stringify(event.content)}`;
    case 'ask':
    case 'ask_withdrawn':
    case 'answered':
      return `${event.type} ${event.callId}`;
    case 'turn_ended':
      return `ends ${event.outcome.type}`;
    case 'thread_ended':
      return `ends ${event.status}`;
    case 'thread_opened':
      return `opens below ${event.parentKey} by ${event.callId}: ${event.prompt}`;
    case 'turn_started':
    case 'thread_started':
    case 'compacted':
      return event.type;
    default:
      return null;
  }
}

/** A name of an item that may come only once; null for other events. */
function toItem(event: ProgramEvent): string | null {
  switch (event.type) {
    case 'block_ended':
      return `block ${event.key} ${event.block}`;
    case 'call':
      return `call ${event.callId}`;
    case 'result':
      return `result ${event.callId}`;
    case 'thread_opened':
      return `thread ${event.key}`;
    default:
      return null;
  }
}

function isBeginning({ type, key }: ProgramEvent): boolean {
  return type === 'thread_started' || type === 'thread_opened' || (type === 'turn_started' && key === MAIN);
}

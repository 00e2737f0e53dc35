import { dropPlace, placeOf } from './entries.ts';
import type { EventOf } from './event-of.ts';
import { append } from './fold-texts.ts';
import type { Agent, Overview } from './overview.ts';

/** A block was replaced. */
export function replace(agent: Agent, event: EventOf<'replace'>): void {
  const entry = agent.byPlace.get(placeOf(event));
  if (entry?.type === 'call') {
    const value = event.value as { input?: unknown } | null;
    entry.input = value?.input ?? entry.input;
  } else if (entry && event.content !== undefined) {
    entry.text = '';
    entry.omittedChars = 0;
    append(entry, event.content);
    if (event.error !== undefined) entry.error = event.error;
  }
}

/** A block was removed. */
export function retract(overview: Overview, agent: Agent, place: string): void {
  const entry = dropPlace(agent, place);
  if (!entry) return;
  agent.blocks -= 1;
  if (entry.type !== 'call') return;
  agent.calls -= 1;
  if (entry.result?.isError) agent.failedCalls -= 1;
  overview.openCalls.delete(entry.id);
  agent.openCalls.delete(entry.id);
}

/** A block was interrupted. */
export function abort(agent: Agent, place: string): void {
  const entry = agent.byPlace.get(place);
  if (entry && entry.type !== 'call') entry.aborted = true;
}

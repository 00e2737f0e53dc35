import { cutText } from '@fleetloom/protocol/fleet';
import { limits } from '../../base/limits.ts';
import { cutLine } from './cut-line.ts';
import { addEntry, placeOf } from './entries.ts';
import type { EventOf } from './event-of.ts';
import type { Agent, TextEntry } from './overview.ts';
import { toReport } from './report.ts';

/** Text or thinking of an agent, new or continued. */
export function say(agent: Agent, event: EventOf<'text_delta'> | EventOf<'thinking_delta'>): void {
  const type = event.type === 'text_delta' ? 'text' : 'thinking';
  agent.activity = { type: type === 'text' ? 'writing' : 'thinking' };
  agent.openRequests.clear();
  const place = placeOf(event);
  const known = agent.byPlace.get(place);
  if (known && known.type !== 'call') return append(known, event.content);
  const entry: TextEntry = { type, place, text: '', omittedChars: 0, aborted: false };
  if (event.type === 'text_delta' && event.error !== undefined) entry.error = event.error;
  append(entry, event.content);
  agent.blocks += 1;
  addEntry(agent, entry);
}

/** A message to an agent. */
export function give(agent: Agent, event: EventOf<'prompt'>): void {
  // The first prompt is shown as the description of the agent; messages of the program itself are not shown.
  if (event.role === 'prompt' || event.role === 'note' || event.role === 'synthetic') return;
  const text = event.media === undefined ? cutLine(event.content) : '[image]';
  addEntry(agent, { type: 'note', kind: 'given', text });
}

/** Foreground agents print only their tool calls, so their report is shown as their text. */
export function report(agent: Agent, summary: string | undefined): void {
  const text = summary === undefined ? undefined : toReport(summary, agent.description);
  if (text === undefined || agent.entries.some((entry) => entry.type === 'text')) return;
  const entry: TextEntry = { type: 'text', place: `report#${agent.runs}`, text: '', omittedChars: 0, aborted: false };
  append(entry, text);
  addEntry(agent, entry);
}

/** Appends to a text, up to the limit. */
export function append(entry: TextEntry, text: string): void {
  // Once a character did not fit, later ones must not fill the gap.
  const kept = entry.omittedChars > 0 ? '' : cutText(text, limits.textCharsMax - entry.text.length);
  entry.text += kept;
  entry.omittedChars += text.length - kept.length;
}

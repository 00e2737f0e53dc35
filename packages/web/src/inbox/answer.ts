import { fleet, ui } from '../app/stores.ts';
import type { InboxItem } from '../model/inbox-items.ts';
import { riskHints } from '../model/risk-hints.ts';
import { decisions, type InputFields, ruleOf } from './decisions.ts';
import { inbox } from './inbox-state.ts';

/** Nobody answers in the past. */
function isPast(): boolean {
  if (fleet.replay.isOn) ui.say('This is a replay. Go back to live to answer.', true);
  return fleet.replay.isOn;
}

/** Once. What is grave is asked for a second time. */
export function approve(item: InboxItem, isConfirmed = false): void {
  if (item.kind !== 'approval' || isPast()) return;
  if (!isConfirmed && isGraveAsk(item)) return inbox.setMode('confirm');
  decisions.decide(item, 'allow');
  goOn(item);
}

/** Once, with an input that somebody has just written, so that nothing is asked for a second time. */
export function approveEdited(item: InboxItem, updatedInput: InputFields): void {
  if (item.kind !== 'approval' || isPast()) return;
  decisions.decide(item, 'allow', '', { updatedInput });
  goOn(item);
}

export function deny(item: InboxItem, why: string, isInterrupting = false): void {
  if (item.kind !== 'approval' || isPast()) return;
  decisions.decide(item, 'deny', why, { isInterrupting });
  goOn(item);
}

export function give(item: InboxItem, text: string): void {
  if (item.kind !== 'answer' || isPast()) return;
  decisions.decide(item, 'answer', text);
  goOn(item);
}

export function approveAlike(item: InboxItem): void {
  if (isPast()) return;
  decisions.allowAlike(item);
  decisions.follow(inbox.items());
  goOn(item);
}

export function approveChecked(): void {
  if (isPast()) return;
  for (const item of inbox.items())
    if (inbox.checked.has(item.id) && item.kind === 'approval') decisions.decide(item, 'allow');
  inbox.checked.clear();
  inbox.setMode('read');
}

export function countAlike(item: InboxItem): number {
  return inbox.items().filter((one) => one.kind === 'approval' && ruleOf(one) === ruleOf(item)).length;
}

/** How many of the chosen ones have a mark that no single key says yes to. */
export function countGrave(): number {
  return inbox.items().filter((item) => inbox.checked.has(item.id) && isGraveAsk(item)).length;
}

function isGraveAsk({ tool, input }: InboxItem): boolean {
  return riskHints(tool, input).some(({ isGrave }) => isGrave);
}

/** To the next that nobody has decided. */
function goOn(item: InboxItem): void {
  const items = inbox.items();
  const index = items.findIndex(({ id }) => id === item.id);
  const next = [...items.slice(index + 1), ...items.slice(0, index)].find(({ id }) => decisions.find(id) === undefined);
  inbox.select(next?.id ?? item.id);
}

import { refuseInReplay } from '../stores/actions.ts';
import type { InboxItem } from '../model/inbox-items.ts';
import { riskHints } from '../model/risk-hints.ts';
import { decisions, type InputFields, ruleOf } from '../stores/decisions.ts';
import { inbox } from '../stores/inbox-store.ts';

/** Approves a call once. A call with a grave warning needs a second confirmation. */
export function approve(item: InboxItem, isConfirmed = false): void {
  if (item.kind !== 'approval' || refuseInReplay()) return;
  if (!isConfirmed && isGrave(item)) return inbox.setMode('confirm');
  decisions.decide(item, 'allow');
  selectNext(item);
}

/** Approves a call once with an edited input. The user has just written it, so no second confirmation is needed. */
export function approveEdited(item: InboxItem, updatedInput: InputFields): void {
  if (item.kind !== 'approval' || refuseInReplay()) return;
  decisions.decide(item, 'allow', '', { updatedInput });
  selectNext(item);
}

/** Denies a call; the agent receives the reason. `isInterrupting` also ends the turn that made the call. */
export function deny(item: InboxItem, why: string, isInterrupting = false): void {
  if (item.kind !== 'approval' || refuseInReplay()) return;
  decisions.decide(item, 'deny', why, { isInterrupting });
  selectNext(item);
}

/** Sends the answer to a question, or the result of a custom tool. */
export function giveAnswer(item: InboxItem, text: string): void {
  if (item.kind !== 'answer' || refuseInReplay()) return;
  decisions.decide(item, 'answer', text);
  selectNext(item);
}

/** Approves this call and every later one with the same input in the same session, while this page is open. */
export function approveByRule(item: InboxItem): void {
  if (refuseInReplay()) return;
  decisions.addRule(item);
  decisions.follow(inbox.items());
  selectNext(item);
}

/** Approves every selected call once. */
export function approveChecked(): void {
  if (refuseInReplay()) return;
  for (const item of inbox.items())
    if (inbox.checked.has(item.id) && item.kind === 'approval') decisions.decide(item, 'allow');
  inbox.checked.clear();
  inbox.setMode('read');
}

/** How many pending calls the rule of this call covers, including this call. */
export function countCovered(item: InboxItem): number {
  return inbox.items().filter((other) => other.kind === 'approval' && ruleOf(other) === ruleOf(item)).length;
}

/** How many of the selected calls have a grave warning. */
export function countGrave(): number {
  return inbox.items().filter((item) => inbox.checked.has(item.id) && isGrave(item)).length;
}

function isGrave({ tool, input }: InboxItem): boolean {
  return riskHints(tool, input).some(({ isGrave }) => isGrave);
}

/** Selects the next item without a decision. */
function selectNext(item: InboxItem): void {
  const items = inbox.items();
  const index = items.findIndex(({ id }) => id === item.id);
  const next = [...items.slice(index + 1), ...items.slice(0, index)].find(({ id }) => decisions.find(id) === undefined);
  inbox.select(next?.id ?? item.id);
}

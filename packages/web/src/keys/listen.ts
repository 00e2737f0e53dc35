import { ui } from '../app/stores.ts';
import { agentKeys, everywhere, fleetKeys, inboxKeys, type KeyMap, threadKeys } from './key-maps.ts';

/** How long the second key of two may take. */
const PAIR_MS = 1_200;

/** One listener for all keys. Fields and dialogs have theirs to themselves. */
export function listenToKeys(): void {
  let first = '';
  let firstAt = 0;
  addEventListener('keydown', (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      return ui.set({ dialog: ui.dialog?.type === 'palette' ? undefined : { type: 'palette' } });
    }
    if (event.metaKey || event.ctrlKey || event.altKey || ui.dialog !== undefined) return;
    if (isField(event.target)) {
      if (event.key === 'Escape' && event.target instanceof HTMLElement) event.target.blur();
      return;
    }
    const isPair = first !== '' && event.timeStamp - firstAt < PAIR_MS;
    const name = isPair ? `${first} ${event.key}` : event.key;
    first = event.key === 'g' && !isPair ? 'g' : '';
    firstAt = event.timeStamp;
    const act = mapOf()[name] ?? everywhere[name];
    // Enter and Space on a button press it.
    if (act === undefined || (isButton(event.target) && (event.key === 'Enter' || event.key === ' '))) return;
    event.preventDefault();
    act();
  });
}

function mapOf(): KeyMap {
  return { fleet: fleetKeys, inbox: inboxKeys, thread: threadKeys, agents: agentKeys }[ui.route.view];
}

function isField(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

function isButton(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLButtonElement || target instanceof HTMLAnchorElement || target instanceof HTMLInputElement
  );
}

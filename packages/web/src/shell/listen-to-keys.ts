import { ui } from '../stores/stores.ts';
import { shellKeys } from './keys.ts';
import { findPage } from './pages.ts';

/** The longest time between the two keys of a pair such as `g f`. */
const PAIR_MS = 1_200;

/** Runs the action of a key: of the page, otherwise of the shell. Keys typed into fields and dialogs are left alone. */
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
      if (event.key !== 'Escape' || !(event.target instanceof HTMLElement)) return;
      // Browsers clear a search field on Escape. Here the first Escape leaves the field, and the second clears the filter.
      event.preventDefault();
      return event.target.blur();
    }
    const isPair = first !== '' && event.timeStamp - firstAt < PAIR_MS;
    const name = isPair ? `${first} ${event.key}` : event.key;
    first = event.key === 'g' && !isPair ? 'g' : '';
    firstAt = event.timeStamp;
    const act = findPage(ui.route.view).keys[name] ?? shellKeys[name];
    // Enter and Space activate a focused button.
    if (act === undefined || (isButton(event.target) && (event.key === 'Enter' || event.key === ' '))) return;
    event.preventDefault();
    act();
  });
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

import type { StateId } from '../model/states.ts';

/** Colours as a canvas needs them, read from the style sheet: that is the one place where they are. */
export interface Palette {
  readonly state: Readonly<Record<StateId, string>>;
  readonly text: string;
  readonly quiet: string;
  readonly line: string;
  readonly background: string;
  readonly link: string;
  /** On a filled piece of a lane. */
  readonly onState: string;
}

export function readPalette(): Palette {
  const probe = document.createElement('span');
  document.body.append(probe);
  const read = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const stateIds: readonly StateId[] = [
    'needs',
    'error',
    'stalled',
    'retry',
    'queued',
    'tool',
    'writing',
    'thinking',
    'waits',
    'done',
    'cancelled',
  ];
  // The cast is what the list says: it has every state.
  const state = Object.fromEntries(stateIds.map((id) => [id, read(`state-${id}`)])) as Record<StateId, string>;
  const palette = {
    state,
    text: read('text'),
    quiet: read('quiet'),
    line: read('line'),
    background: read('background'),
    link: read('link-line'),
    onState: read('on-state'),
  };
  probe.remove();
  return palette;
}

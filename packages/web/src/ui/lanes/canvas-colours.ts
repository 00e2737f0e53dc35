import type { StateId } from '@fleetloom/protocol/fleet';

/** The colours of the style sheet, for painting on a canvas. */
export interface CanvasColours {
  readonly state: Readonly<Record<StateId, string>>;
  readonly text: string;
  readonly quiet: string;
  readonly line: string;
  readonly background: string;
  readonly link: string;
  /** Text on a filled lane segment. */
  readonly onState: string;
}

/** Reads the colours of the current theme. */
export function readCanvasColours(): CanvasColours {
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
  // The list contains every state, so the record is complete.
  const state = Object.fromEntries(stateIds.map((id) => [id, read(`state-${id}`)])) as Record<StateId, string>;
  const colours = {
    state,
    text: read('text'),
    quiet: read('quiet'),
    line: read('line'),
    background: read('background'),
    link: read('link-line'),
    onState: read('on-state'),
  };
  probe.remove();
  return colours;
}

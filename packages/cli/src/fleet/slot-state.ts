import { cutText, type Slot, type StateId, toThreadState } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import type { Style } from '../terminal/palette.ts';
import type { StateSign } from '../stream-json/tree/agent-state.ts';

/** How the state of a thread is drawn: always a sign, a colour and a word together (SPEC Y20). */
export interface SlotState {
  readonly sign: StateSign | 'queued';
  readonly word: string;
  readonly style: Style;
  /** The number of the next attempt of a retried model request. */
  readonly attempt?: number;
}

/** The state of a thread as both user interfaces name it (SPEC F81), in the signs and colours of the terminal. */
export function toSlotState(slot: Slot, nowMs: number): SlotState {
  const { id, word, attempt } = toThreadState(slot, nowMs);
  return {
    ...looks[id],
    word: id === 'tool' ? toolName(slot) : word,
    ...(attempt === undefined ? {} : { attempt }),
  };
}

/** The look of a state that does not depend on the thread. */
export const looks: Readonly<Record<StateId, Pick<SlotState, 'sign' | 'style'>>> = {
  needs: { sign: 'needsYou', style: 'attention' },
  error: { sign: 'failed', style: 'failed' },
  stalled: { sign: 'unfinished', style: 'failed' },
  retry: { sign: 'retry', style: 'retry' },
  queued: { sign: 'queued', style: 'dim' },
  tool: { sign: 'tool', style: 'tool' },
  writing: { sign: 'writing', style: 'writing' },
  thinking: { sign: 'thinking', style: 'thinking' },
  waits: { sign: 'waits', style: 'waits' },
  done: { sign: 'done', style: 'ok' },
  cancelled: { sign: 'stopped', style: 'dim' },
};

/** The name of the running tool, which is more useful than "tool" in the terminal's narrow state column. */
function toolName({ tools }: Slot): string {
  const running = tools.findLast(({ state }) => state === 'running');
  return cutText(cleanLine(running?.tool ?? 'tool'), 40);
}

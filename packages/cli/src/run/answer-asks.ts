import type { FleetEvent } from '@fleetloom/protocol/fleet';
import type { ServerApi } from '../connection/server-api.ts';
import type { Io } from '../io.ts';
import { toInputLine } from '../fleet/draw-threads.ts';
import { cleanInputLine } from '../terminal/clean-text.ts';

/** What becomes of asks: somebody is asked, or the answer is known beforehand. */
export type AskMode = 'ask' | 'allow' | 'deny';

export interface AsksOptions {
  readonly api: ServerApi;
  readonly sessionId: string;
  readonly mode: AskMode;
  /** Whether anybody else can answer: on a server of our own, nobody knows the way in. */
  readonly isOwn: boolean;
  /** Whether somebody can see this ask; where it is not said, all are. */
  readonly isShown?: (toolUseId: string) => boolean;
  readonly onNote: (text: string) => void;
  readonly onInterrupt: () => void;
}

/** Answers what agents ask for during a run. */
export interface Asks {
  /** Somebody sits at the keyboard, and is asked. */
  readonly isOpen: boolean;
  take(event: FleetEvent): void;
  stop(): void;
}

/**
 * Keys are read only while something is asked: at all other times the terminal is as the shell left it. Where nobody can
 * be asked and nobody else could answer, the answer is no, because the run would otherwise wait for ever (SPEC Y13).
 */
export function answerAsks(
  io: Io,
  { api, sessionId, mode, isOwn, isShown = () => true, onNote, onInterrupt }: AsksOptions,
): Asks {
  const open: Ask[] = [];
  let closeKeyboard: (() => void) | undefined;

  const answer = (ask: Ask, result: 'allow' | 'deny', { message, rule }: AnswerFacts = {}) => {
    remove(ask.id);
    const confirmation = { type: 'user.tool_confirmation', tool_use_id: ask.id, result };
    const reason = message === undefined ? {} : { deny_message: message };
    const events = [{ ...confirmation, ...reason, ...(rule === undefined ? {} : { rule }) }];
    api.post(`/v1/sessions/${sessionId}/events`, { events }).catch((error: unknown) => {
      onNote(error instanceof Error ? error.message : String(error));
    });
  };
  const remove = (id: string) => {
    const index = open.findIndex((ask) => ask.id === id);
    if (index !== -1) open.splice(index, 1);
    if (open.length > 0 || closeKeyboard === undefined) return;
    closeKeyboard();
    closeKeyboard = undefined;
  };
  const onKeys = (keys: string) => {
    for (const key of keys) {
      const [first] = open;
      if (key === '\u0003') onInterrupt();
      // Who presses a key twice has not seen the second one.
      else if (first === undefined || !isShown(first.id)) continue;
      else if (key === 'a') answer(first, 'allow');
      else if (key === 'd') answer(first, 'deny', { message: 'denied at the terminal' });
    }
  };
  const ask = (asked: Ask) => {
    if (mode !== 'ask') {
      const reason = mode === 'deny' ? { message: 'this run approves nothing' } : {};
      return answer(asked, mode, { ...reason, rule: `--approvals ${mode}` });
    }
    open.push(asked);
    closeKeyboard ??= io.stderr.isTTY === true ? io.openKeyboard(onKeys) : undefined;
    if (closeKeyboard !== undefined) return;
    if (isOwn) {
      onNote(`denied, because nobody can be asked: ${asked.text}. --approvals allow approves everything.`);
      return answer(asked, 'deny', { message: 'nobody is there who could approve it', rule: 'nobody can be asked' });
    }
    onNote(`needs you: ${asked.text}. Answer with: fleetloom approve ${sessionId} ${asked.id}`);
  };

  return {
    get isOpen() {
      return closeKeyboard !== undefined;
    },
    take: (event) => {
      if (event.type === 'approval_required') {
        const text = cleanInputLine(`${event.agent} asks for ${event.tool}: ${toInputLine(event.input)}`);
        ask({ id: event.tool_use_id, text });
      } else if (event.type === 'approval_resolved') remove(event.tool_use_id);
      else if (event.type === 'done') for (const { id } of open.slice()) remove(id);
    },
    stop: () => closeKeyboard?.(),
  };
}

interface AnswerFacts {
  readonly message?: string;
  /** Why nobody had to look at it, for the log. */
  readonly rule?: string;
}

interface Ask {
  readonly id: string;
  readonly text: string;
}

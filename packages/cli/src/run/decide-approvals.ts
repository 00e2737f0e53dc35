import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import type { ServerApi } from '../connection/server-api.ts';
import type { Io } from '../base/io.ts';
import { toInputLine } from '../fleet/draw-threads.ts';
import { toPasted } from '../base/to-pasted.ts';

/** How pending approvals are decided: at the terminal, or all in the same way. */
export type ApprovalMode = 'ask' | 'allow' | 'deny';

/** Options of `decideApprovals`. */
export interface ApprovalsOptions {
  readonly api: ServerApi;
  readonly sessionId: string;
  readonly mode: ApprovalMode;
  /** Whether the server is temporary, so that no other client can decide. */
  readonly isOwn: boolean;
  /** Whether the approval is visible on the screen; by default all are. */
  readonly isShown?: (toolUseId: string) => boolean;
  readonly onNote: (text: string) => void;
  readonly onInterrupt: () => void;
}

/** Decides pending approvals during a run. */
export interface Approvals {
  /** Whether the keyboard is open for a decision. */
  readonly isOpen: boolean;
  take(event: FleetEvent): void;
  stop(): void;
}

/**
 * Reads keys only while an approval is pending; otherwise the terminal stays as the shell left it. Without a terminal, and
 * if no other client can decide, approvals are denied, because the run would wait forever (SPEC Y13).
 */
export function decideApprovals(
  io: Io,
  { api, sessionId, mode, isOwn, isShown = () => true, onNote, onInterrupt }: ApprovalsOptions,
): Approvals {
  const open: Pending[] = [];
  let closeKeyboard: (() => void) | undefined;

  const decide = (pending: Pending, result: 'allow' | 'deny', { message, rule }: DecisionFacts = {}) => {
    remove(pending.id);
    const confirmation = { type: 'user.tool_confirmation', tool_use_id: pending.id, result };
    const reason = message === undefined ? {} : { deny_message: message };
    const events = [{ ...confirmation, ...reason, ...(rule === undefined ? {} : { rule }) }];
    api.post(`/v1/sessions/${sessionId}/events`, { events }).catch((error: unknown) => {
      onNote(error instanceof Error ? error.message : String(error));
    });
  };
  const remove = (id: string) => {
    const index = open.findIndex((each) => each.id === id);
    if (index !== -1) open.splice(index, 1);
    if (open.length > 0 || closeKeyboard === undefined) return;
    closeKeyboard();
    closeKeyboard = undefined;
  };
  const onKeys = (keys: string) => {
    for (const key of keys) {
      const [first] = open;
      if (key === '\u0003') onInterrupt();
      // A key pressed twice must not decide an approval that is not visible yet.
      else if (first === undefined || !isShown(first.id)) continue;
      else if (key === 'a') decide(first, 'allow');
      else if (key === 'd') decide(first, 'deny', { message: 'denied at the terminal' });
    }
  };
  const add = (pending: Pending) => {
    if (mode !== 'ask') {
      const reason = mode === 'deny' ? { message: 'this run denies every approval' } : {};
      return decide(pending, mode, { ...reason, rule: `--approvals ${mode}` });
    }
    open.push(pending);
    closeKeyboard ??= io.stderr.isTTY === true ? io.openKeyboard(onKeys) : undefined;
    if (closeKeyboard !== undefined) return;
    if (isOwn) {
      onNote(
        `denied, because there is no terminal to ask on: ${pending.text}. Pass --approvals allow to approve everything.`,
      );
      return decide(pending, 'deny', { message: 'no terminal to approve it on', rule: 'no terminal to ask on' });
    }
    const command = toPasted(io, `fleetloom approve ${sessionId} ${pending.id}`);
    onNote(`approval pending: ${pending.text}. Decide with: ${command}`);
  };

  return {
    get isOpen() {
      return closeKeyboard !== undefined;
    },
    take: (event) => {
      if (event.type === 'approval_required') {
        const text = cleanLine(`${event.agent} requests approval for ${event.tool}: ${toInputLine(event.input)}`);
        add({ id: event.tool_use_id, text });
      } else if (event.type === 'approval_resolved') remove(event.tool_use_id);
      else if (event.type === 'done') for (const { id } of open.slice()) remove(id);
    },
    stop: () => closeKeyboard?.(),
  };
}

interface DecisionFacts {
  readonly message?: string;
  /** Why no person decided, for the log. */
  readonly rule?: string;
}

interface Pending {
  readonly id: string;
  readonly text: string;
}

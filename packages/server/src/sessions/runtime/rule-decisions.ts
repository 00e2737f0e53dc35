import { inBackground, reportAsWarning } from '../../base/in-background.ts';
import type { NewSessionFrame } from '../../frames/frames.ts';
import type { SessionState } from '../core/state/state.ts';
import { worktreeOwnerOf } from '../core/state/workspace-of.ts';
import { type PendingCall, toPendingCalls } from './pending-calls.ts';

/** Answers the calls that a rule allows, and returns how many. */
export type DecideByRules = (state: SessionState, calls: readonly PendingCall[]) => Promise<number>;

/**
 * Applies rules to each new approval of a session. In the background: nothing waits for a decision that a
 * person may have to make.
 */
export class RuleDecisions {
  readonly #state: SessionState;
  readonly #decide: DecideByRules | undefined;
  readonly #openWorkspace: (worktreeOwner: string | null) => Promise<string>;
  readonly #deciding = new Set<Promise<unknown>>();
  #isStopped = false;

  constructor(
    { state, decideByRules }: { readonly state: SessionState; readonly decideByRules?: DecideByRules | undefined },
    openWorkspace: (worktreeOwner: string | null) => Promise<string>,
  ) {
    this.#state = state;
    this.#decide = decideByRules;
    this.#openWorkspace = openWorkspace;
  }

  /** Called when frames are durable: decides approvals that begin with them. */
  follow(frames: readonly NewSessionFrame[]): void {
    if (frames.some(isRequest)) this.decideLater();
  }

  decideLater(): void {
    const deciding = this.decide();
    this.#deciding.add(deciding);
    inBackground(
      deciding.finally(() => this.#deciding.delete(deciding)),
      reportAsWarning,
    );
  }

  /** Answers the pending approvals that a rule allows, as a client would. Resolves with their number. */
  async decide(): Promise<number> {
    if (this.#isStopped || this.#decide === undefined) return 0;
    const open = (threadId: string) => this.#openWorkspace(worktreeOwnerOf(this.#state, threadId)?.id ?? null);
    const calls = toPendingCalls(this.#state, open);
    return calls.length === 0 ? 0 : await this.#decide(this.#state, calls);
  }

  /** Starts no more decisions. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Resolves when no decision is in progress. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#deciding);
  }
}

/** Whether a frame begins an approval. A call of a program begins one when the program requests it. */
function isRequest({ type, payload }: NewSessionFrame): boolean {
  if (type === 'approval.requested') return true;
  const isCall = type === 'agent.tool_use' || type === 'agent.mcp_tool_use';
  return isCall && payload.evaluated_permission === 'ask' && payload.approval === undefined;
}

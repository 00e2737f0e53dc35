import type { PendingCall } from './pending-calls.ts';

/** The action that a key triggers, besides a change of the view. */
export type WatchAction =
  | {
      readonly type: 'answer';
      readonly pendingCalls: readonly PendingCall[];
      readonly result: 'allow' | 'deny';
      readonly message?: string;
    }
  | { readonly type: 'result'; readonly pendingCall: PendingCall; readonly text: string }
  | { readonly type: 'send'; readonly text: string }
  /** Threads to interrupt, descendants first; null: the whole session. */
  | { readonly type: 'stop'; readonly threadIds: readonly (string | null)[]; readonly target: string }
  | { readonly type: 'update'; readonly body: object; readonly done: string }
  | { readonly type: 'export'; readonly file: string }
  | { readonly type: 'replay' }
  | { readonly type: 'suspend' }
  /** Back to the list of sessions. */
  | { readonly type: 'back' }
  | { readonly type: 'quit'; readonly isInterrupt: boolean };

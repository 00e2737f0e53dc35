import type { ThreadRow } from '@fleetloom/protocol/fleet';
import type { PendingCall } from './pending-calls.ts';

/** The open prompt: its purpose and its text. */
export type Prompt =
  /** The reason of a denial, the result of a tool, or the pattern of a rule. */
  | { readonly type: 'deny' | 'answer' | 'rule'; readonly pendingCall: PendingCall; readonly text: string }
  /** A message to the coordinator, or to forward to a thread. */
  | { readonly type: 'send'; readonly row: ThreadRow | undefined; readonly text: string }
  | { readonly type: 'filter' | 'command'; readonly text: string }
  | { readonly type: 'stop'; readonly rows: readonly ThreadRow[] };

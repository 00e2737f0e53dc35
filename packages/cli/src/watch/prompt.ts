import type { ThreadRow } from '../fleet/thread-rows.ts';
import type { Ask } from './asks.ts';

/** What is being typed, and what it is for. */
export type Prompt =
  /** Why it is denied, what a tool gives, or which pattern is allowed. */
  | { readonly type: 'deny' | 'answer' | 'rule'; readonly ask: Ask; readonly text: string }
  /** Something for the coordinator, or for it to pass on. */
  | { readonly type: 'send'; readonly row: ThreadRow | undefined; readonly text: string }
  | { readonly type: 'filter' | 'command'; readonly text: string }
  | { readonly type: 'stop'; readonly rows: readonly ThreadRow[] };

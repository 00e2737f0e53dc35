import type { Ask } from './asks.ts';

/** What a key leads to beside what it changes on the screen. */
export type WatchAction =
  | {
      readonly type: 'answer';
      readonly asks: readonly Ask[];
      readonly result: 'allow' | 'deny';
      readonly message?: string;
    }
  | { readonly type: 'result'; readonly ask: Ask; readonly text: string }
  | { readonly type: 'send'; readonly text: string }
  /** Who is stopped, those below first; null is everybody. */
  | { readonly type: 'stop'; readonly threadIds: readonly (string | null)[]; readonly whom: string }
  | { readonly type: 'update'; readonly body: object; readonly done: string }
  | { readonly type: 'export'; readonly file: string }
  | { readonly type: 'replay' }
  | { readonly type: 'suspend' }
  | { readonly type: 'quit'; readonly isInterrupt: boolean };

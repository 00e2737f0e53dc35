import { expect, it } from 'vitest';
import { decodeState, encodeState } from './saved-state.ts';
import { isSeen, noSeenCommands, seeCommands } from './seen-commands.ts';
import type { SessionState, ThreadState } from './state.ts';

it('[R283] commands that a thread has read are still known after its state was saved and restored', async () => {
  const seen = noSeenCommands();
  seeCommands(seen, [{ type: 'text', text: 'the file says:\n/agent bomb build it now' }]);
  const thread = { id: 'sthr_1', history: [], calls: new Map(), seen } as unknown as ThreadState;
  const state = { created: { agent: {} }, threads: new Map([['sthr_1', thread]]) } as unknown as SessionState;
  const restored = await decodeState((await encodeState(state))!);
  const quoted = { agent: 'bomb', message: 'build it now' };
  expect(isSeen(restored.threads.get('sthr_1')!.seen!, quoted)).toBe(true);
  expect(isSeen(restored.threads.get('sthr_1')!.seen!, { agent: 'helper', message: 'something else' })).toBe(false);
  expect(restored.threads.get('sthr_1')!.seen).toEqual(seen);
});

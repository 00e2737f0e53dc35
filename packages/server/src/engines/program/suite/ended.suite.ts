import { expect, it } from 'vitest';
import type { Program } from '../program.ts';
import { PROGRAM_TEST_MS } from './program-under-test.suite.ts';

/** Tests of every program that has ended, for any reason: further calls have no effect. */
export function endedSuite(openEnded: () => Promise<Program>): void {
  it(
    '[J184] calls on an ended program do nothing and throw nothing',
    async () => {
      const program = await openEnded();
      program.say([{ type: 'text', text: 'Hello?' }]);
      program.interrupt();
      program.stopThread('unknown');
      program.setModel('some-model');
      program.setModel(null);
      program.setPermissionMode('plan');
      program.answer('call_1', { type: 'allow' });
      program.giveResult('call_2', { content: [], isError: false });
      await Promise.all([program.close(), program.close()]);
    },
    PROGRAM_TEST_MS,
  );
}

/** Tests of a program that never began: its only event is its end, with the reason. */
export function unbegunSuite(open: () => Promise<Program>, why: RegExp): void {
  endedSuite(open);

  it(
    '[J184] a program that never began emits its end with the reason, once, to the first reader',
    async () => {
      const events = [];
      for await (const batch of (await open()).events) events.push(...batch);
      const end = { type: 'exited', key: 'main', message: expect.stringMatching(why), isWanted: false };
      expect(events).toEqual([expect.objectContaining(end)]);
    },
    PROGRAM_TEST_MS,
  );
}

import { expect, it } from 'vitest';
import { converse, script, scriptByWords, textsOf } from './conversation.suite.ts';
import { findDisorder } from './find-disorder.suite.ts';
import { PROGRAM_TEST_MS, type ProgramUnderTest } from './program-under-test.suite.ts';

/** Rules N7 and N8 of engines. A program retries requests itself, so only the turn fails. */
export function failuresSuite({ tested, capabilities }: ProgramUnderTest): void {
  it(
    '[J176] a request that is refused ends the turn with its reason, and the next message works',
    async () => {
      const low = 'Your credit balance is too low to access the API';
      const refusals: readonly [name: string, fail: { status: number; message?: string }, reason: string][] = [
        ['bad', { status: 400 }, 'request_failed'],
        ['poor', { status: 400, message: low }, 'billing'],
        ['unpaid', { status: 402 }, 'billing'],
        ['forbidden', { status: 403 }, 'authentication'],
        ['missing', { status: 404 }, 'request_failed'],
        ['unfit', { status: 422 }, 'request_failed'],
        ['overloaded', { status: 529 }, 'overloaded'],
      ];
      const failing = refusals.map(([name, fail]) => [`Be ${name}`, [{ fail: { ...fail, times: 1_000 } }]] as const);
      const { program, events, ask } = await converse(tested());
      await ask(`Again! ${scriptByWords({ 'Again!': [{ say: 'Here.' }], ...Object.fromEntries(failing) })}`);
      for (const [name, , reason] of refusals) {
        const { outcome } = await ask(`Be ${name}.`);
        expect([name, outcome]).toMatchObject([
          name,
          { type: 'failed', reason: capabilities.failureStatus ? reason : 'unknown' },
        ]);
        expect((await ask('Again!')).outcome).toEqual({ type: 'done' });
      }
      await program.close();
      expect(textsOf(events)).toEqual(Array.from({ length: refusals.length + 1 }, () => 'Here.'));
      expect(findDisorder(events)).toEqual([]);
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[J177] a request that the program repeats is emitted as a retry, and then it succeeds',
    async () => {
      const { program, events, ask } = await converse(tested());
      const { outcome } = await ask(`Go. ${script([{ fail: { status: 529, times: 1 } }, { say: 'At last.' }])}`);
      await program.close();
      expect(outcome).toEqual({ type: 'done' });
      // A program that does not report the status of a failure does not report that it repeats the request either.
      const retries = events.filter(({ type }) => type === 'retry');
      expect(retries).toMatchObject(capabilities.failureStatus ? [{ key: 'main', status: 529 }] : []);
      expect(textsOf(events)).toEqual(['At last.']);
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[J177] an answer that was cut off is never one: its request is an error, and so is the turn if no other comes',
    async () => {
      const { program, events, ask } = await converse(tested());
      const { outcome } = await ask(`Go. ${script([{ say: 'One two three.', chunks: 3 }, { cut: true }])}`);
      await program.close();
      expect(outcome).toMatchObject({ type: 'failed' });
      const ends = events.flatMap((event) => (event.type === 'request_ended' ? [event.isError] : []));
      expect(ends).not.toContain(false);
      expect(findDisorder(events)).toEqual([]);
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[J178] a refusal of the model is an end of its own, and so is an answer that is too long',
    async () => {
      for (const [stop, type] of [
        ['refusal', 'refused'],
        ['max_tokens', 'failed'],
      ] as const) {
        const { program, events, ask } = await converse(tested());
        const { outcome } = await ask(`Go. ${script([{ say: 'I would' }, { stop }])}`);
        await program.close();
        expect(outcome).toMatchObject({ type, message: expect.stringMatching(/./) });
        // The program may have retried: each attempt has a response.
        expect(new Set(textsOf(events))).toEqual(new Set(['I would']));
        const ends = events.flatMap((event) => (event.type === 'request_ended' ? [event] : []));
        expect(ends.at(-1)).toMatchObject({ stopReason: capabilities.stopReasons ? stop : null, isError: true });
        expect(findDisorder(events)).toEqual([]);
      }
    },
    PROGRAM_TEST_MS,
  );
}

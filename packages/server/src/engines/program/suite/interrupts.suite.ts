import { expect, it } from 'vitest';
import { agent, converse, script, scriptByWords, textsOf, toolset } from './conversation.suite.ts';
import { findDisorder } from './find-disorder.suite.ts';
import { PROGRAM_TEST_MS, type ProgramUnderTest } from './program-under-test.suite.ts';

/** Longer than the limit of a test: a program that waits this long was not stopped. */
const HOUR = 600_000;
const FOREVER = 'tail -f /dev/null';

/** Rule N9 of engines. */
export function interruptsSuite({ tested, words, capabilities }: ProgramUnderTest): void {
  it(
    '[J179] an interrupt stops the turn wherever it is; one that finds nothing changes nothing; the next message works',
    async () => {
      const places = {
        silence: [{ sleep_ms: HOUR }, { say: 'late' }],
        block: [{ say: 'One two three four', chunks: 4, every_ms: HOUR }],
        call: [{ say: 'I run it.' }, words.bash(FOREVER)],
      };
      const { program, events, ask, next } = await converse(tested());
      await ask(`And now? ${scriptByWords({ 'And now': [{ say: 'Next.' }], ...places })}`);
      const begun = {
        silence: () => next('turn_started', 1),
        block: () => next('block_delta', events.filter(({ type }) => type === 'block_delta').length),
        call: () => next('call'),
      };
      for (const place of ['silence', 'block', 'call'] as const) {
        const isBegun = begun[place]();
        const ended = ask(`${place}.`);
        await isBegun;
        program.interrupt();
        expect([place, (await ended).outcome]).toEqual([place, { type: 'stopped' }]);
        // An idle program has nothing to stop.
        program.interrupt();
        expect((await ask('And now?')).outcome).toEqual({ type: 'done' });
      }
      await program.close();
      expect(textsOf(events).filter((text) => text === 'Next.')).toHaveLength(4);
      expect(textsOf(events)).not.toContain('late');
      expect(findDisorder(events)).toEqual([]);
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[J179] an interrupt while something is asked for ends the ask with the turn, and nothing is run',
    async () => {
      const { program, events, ask, next } = await converse(tested(), {
        agent: agent({ tools: [toolset('always_ask')] }),
      });
      const ended = ask(`Go. ${script([words.bash('touch asked')], [{ say: 'Next.' }])}`);
      const { callId } = await next('call');
      program.interrupt();
      expect((await ended).outcome).toEqual({ type: 'stopped' });
      expect(await next('ask_withdrawn')).toMatchObject({ key: 'main', callId });
      // This decision comes too late.
      program.answer(callId, { type: 'allow' });
      expect((await ask('And now?')).outcome).toEqual({ type: 'done' });
      await program.close();
      expect(events.some((event) => event.type === 'result' && event.callId === callId && !event.isError)).toBe(false);
      expect(findDisorder(events)).toEqual([]);
    },
    PROGRAM_TEST_MS,
  );

  it.runIf(capabilities.subAgentText !== 'none')(
    '[J51] one sub-agent that is stopped ends as that, and the other and who sent them go on',
    async () => {
      const { program, events, ask, find, next } = await converse(tested(), { members: [agent({ name: 'worker' })] });
      const slow = words.delegate('worker', 'slow', `Go. ${script([words.bash(FOREVER)], [{ say: 'Never.' }])}`);
      const quick = words.delegate('worker', 'quick', `Go. ${script([{ say: 'Quick.' }])}`);
      const ended = ask(`Go. ${script([slow, quick], [{ say: 'All done.' }])}`);
      const isSlow = (event: (typeof events)[number]): event is Extract<typeof event, { type: 'call' }> =>
        event.type === 'call' && JSON.stringify(event.input).includes(`"${FOREVER}"`) && event.key !== 'main';
      const { key } = await find(isSlow);
      program.stopThread(key);
      expect((await ended).outcome).toEqual({ type: 'done' });
      await next('thread_ended', 1);
      await program.close();
      const ends = events.flatMap((event) =>
        event.type === 'thread_ended' ? [[event.key === key, event.status]] : [],
      );
      expect(ends.toSorted((a, b) => Number(a[0]) - Number(b[0]))).toEqual([
        [false, 'completed'],
        [true, 'stopped'],
      ]);
      // A report that arrives as a message is answered too.
      if (capabilities.subAgentReport === 'result') expect(textsOf(events)).toEqual(['All done.']);
      else expect(new Set(textsOf(events))).toEqual(new Set(['All done.']));
    },
    PROGRAM_TEST_MS,
  );
}

import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { agent, converse, type EventOf, script, textsOf, toolset } from './conversation.suite.ts';
import { findDisorder } from './find-disorder.suite.ts';
import { PROGRAM_TEST_MS, type ProgramUnderTest } from './program-under-test.suite.ts';

/** Tests of when a program asks, and of the decisions. */
export function asksSuite({ tested, words, capabilities }: ProgramUnderTest): void {
  const asking = { agent: agent({ tools: [toolset('always_ask')] }) };

  it(
    '[J220] the program asks behind the call and once, with what it would run; what the definition allows is not asked for',
    async () => {
      const { program, events, ask, next } = await converse(tested(), asking);
      const ended = ask(`Go. ${script([words.bash('touch j220')], [{ say: 'Done.' }])}`);
      const asked = await next('ask');
      const call = await next('call');
      expect(asked).toMatchObject({ callId: call.callId, key: call.key, kind: 'tool', input: call.input });
      program.answer(asked.callId, { type: 'allow' });
      expect((await ended).outcome).toEqual({ type: 'done' });
      await program.close();
      expect(findDisorder(events)).toEqual([]);
      expect(events.filter(({ type }) => type === 'ask')).toHaveLength(1);

      const free = await converse(tested());
      await free.ask(`Go. ${script([words.bash('touch j220-free')], [{ say: 'Done.' }])}`);
      await free.program.close();
      expect(free.events.filter(({ type }) => type === 'ask')).toEqual([]);
      expect(await readdir(tested().directory)).toEqual(expect.arrayContaining(['j220', 'j220-free']));
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[J220] a decision that came first is applied when the program asks, which then does not ask',
    async () => {
      const { program, events, ask, next } = await converse(tested(), asking);
      const ended = ask(`Go. ${script([words.bash('touch j220-early')], [{ say: 'Done.' }])}`);
      // The call is announced with the request that makes it, which has not ended by then.
      program.answer((await next('call')).callId, { type: 'deny', message: 'Not yet.' });
      await ended;
      await program.close();
      const results = events.filter((event): event is EventOf<'result'> & { key: string } => event.type === 'result');
      expect(results).toMatchObject([{ isError: true, content: [{ text: 'Not yet.' }] }]);
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[J227] a call that is allowed with another input runs with that one',
    async () => {
      const { program, events, ask, next } = await converse(tested(), asking);
      const ended = ask(`Go. ${script([words.bash('touch j227-shown')], [{ say: 'Done.' }])}`);
      const { callId, input } = await next('ask');
      program.answer(callId, { type: 'allow', updatedInput: { ...(input as object), command: 'touch j227-changed' } });
      expect((await ended).outcome).toEqual({ type: 'done' });
      await program.close();
      const made = await readdir(tested().directory);
      const [result] = events.filter((event): event is EventOf<'result'> & { key: string } => event.type === 'result');
      // Without `changedInput` the call is denied, and the model reads the allowed input.
      expect(made.filter((name) => name.startsWith('j227'))).toEqual(capabilities.changedInput ? ['j227-changed'] : []);
      expect([result?.isError, JSON.stringify(result?.content).includes('j227-changed')]).toEqual(
        capabilities.changedInput ? [false, false] : [true, true],
      );
      expect(findDisorder(events)).toEqual([]);
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[J228] a denial that interrupts ends the turn, and the next message begins another',
    async () => {
      const { program, events, ask, next } = await converse(tested(), asking);
      const turns = script([words.bash('touch j228')], [{ say: 'In the next turn.' }]);
      const ended = ask(`Go. ${turns}`);
      const { callId } = await next('ask');
      program.answer(callId, { type: 'deny', message: 'Stop.', isInterrupting: true });
      expect((await ended).outcome).toEqual({ type: 'stopped' });
      // Late usage gets a request of its own if no other request follows.
      const requests = events.filter(({ type }) => type === 'request_started');
      expect(requests.slice(capabilities.requestUsage === 'at_end' ? 1 : 2)).toEqual([]);
      expect(requests).not.toEqual([]);
      expect(textsOf(events)).toEqual([]);
      expect((await ask('Go on.')).outcome).toEqual({ type: 'done' });
      await program.close();
      expect(textsOf(events)).toEqual(['In the next turn.']);
      expect(await readdir(tested().directory)).not.toContain('j228');
    },
    PROGRAM_TEST_MS,
  );
}

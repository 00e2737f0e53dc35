import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { agent, converse, script, type EventOf, textsOf, toolset } from './conversation.suite.ts';
import { PROGRAM_TEST_MS, type ProgramUnderTest } from './program-under-test.suite.ts';

const lookup = {
  type: 'custom',
  name: 'lookup',
  description: 'Looks a word up',
  input_schema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
} as const;

/** Tests of what clients decide and do for a program: permissions, questions, custom tools, its model and its mode. */
export function outsideSuite({ tested, words, capabilities }: ProgramUnderTest): void {
  it(
    '[J6] a pending call waits for its answer, also if that came first, and in any order',
    async () => {
      const { program, events, ask, next } = await converse(tested(), {
        agent: agent({ tools: [toolset('always_ask')] }),
      });
      const before = await readdir(tested().directory);
      const calls = ['one', 'two', 'three'].map((name) => words.bash(`touch asked-${name}`));
      const ended = ask(`Go. ${script(calls, [{ say: 'Done.' }])}`);
      const isTwo = ({ input }: EventOf<'call'>) => JSON.stringify(input).includes('asked-two');
      const decide = (call: EventOf<'call'>) =>
        program.answer(call.callId, isTwo(call) ? { type: 'deny', message: 'Not two.' } : { type: 'allow' });
      // Calls of a program that makes them one after another are decided one by one.
      if (words.isSequential) for (const at of calls.keys()) decide(await next('call', at));
      const asked = [await next('call'), await next('call', 1), await next('call', 2)] as const;
      for (const { tool } of asked) expect(tool).toEqual({ kind: 'builtin', permission: 'ask' });
      if (!words.isSequential) for (const call of asked.toReversed()) decide(call);
      await ended;
      await program.close();
      const results = events.flatMap((event) => (event.type === 'result' ? [event] : []));
      expect(results.find(({ callId }) => callId === asked.find(isTwo)?.callId)).toMatchObject({
        isError: true,
        content: [{ text: 'Not two.' }],
      });
      const made = (await readdir(tested().directory)).filter((name) => !before.includes(name));
      expect(made.toSorted()).toEqual(['asked-one', 'asked-three']);
    },
    PROGRAM_TEST_MS,
  );

  it.runIf(capabilities.subAgentText !== 'none')(
    '[J186] an agent of an agent asks too, on a thread of its own below the one that made it',
    async () => {
      // Scripts in definitions are not played by the agents that only pass them on.
      const deep = agent({
        name: 'deep',
        system: `You are deep. ${script([words.bash('touch from-the-deep')], [{ say: 'Done.' }])}`,
        tools: [toolset('always_ask')],
      });
      const middle = agent({
        name: 'middle',
        system: `You are between. ${script([words.delegate('deep', 'deeper', 'Go.')], [{ say: 'Done.' }])}`,
      });
      const { program, events, ask, find, next } = await converse(tested(), { members: [middle, deep], depthMax: 2 });
      const ended = ask(`Go. ${script([words.delegate('middle', 'between', 'Go.')], [{ say: 'Done.' }])}`);
      const { key, callId } = await find(
        (event): event is EventOf<'call'> & { key: string } => event.type === 'call' && event.tool.kind === 'builtin',
      );
      const [first, second] = events.flatMap((event) => (event.type === 'thread_opened' ? [event] : []));
      expect([first?.parentKey, second?.parentKey, second?.key]).toEqual(['main', first?.key, key]);
      expect(await readdir(tested().directory)).not.toContain('from-the-deep');
      program.answer(callId, { type: 'allow' });
      expect((await ended).outcome).toEqual({ type: 'done' });
      await next('thread_ended', 1);
      await program.close();
      expect(await readdir(tested().directory)).toContain('from-the-deep');
    },
    PROGRAM_TEST_MS,
  );

  it.runIf(capabilities.subAgentText !== 'none')(
    '[R404] a program that has no level left starts no sub-agent, and goes on without',
    async () => {
      const { program, events, ask } = await converse(tested(), { members: [agent({ name: 'worker' })], depthMax: 0 });
      const turns = script([words.delegate('worker', 'deeper', 'Go.')], [{ say: 'Alone.' }]);
      expect((await ask(`Go. ${turns}`)).outcome).toEqual({ type: 'done' });
      await program.close();
      expect(events.filter(({ type }) => type === 'thread_opened')).toHaveLength(words.ignoresDepth === true ? 1 : 0);
      expect(textsOf(events)).toEqual(['Alone.']);
    },
    PROGRAM_TEST_MS,
  );

  it.runIf(capabilities.customTools !== 'none' && capabilities.questions)(
    '[J180] custom tools and questions are emitted as calls, and the model receives the result that was given',
    async () => {
      const { program, events, ask, next } = await converse(tested(), {
        agent: agent({ tools: [toolset('always_allow'), lookup] }),
      });
      const ended = ask(
        `Go. ${script(
          [words.custom('lookup', { word: 'deep' })],
          [{ expect: { tool_result: 'far down' } }, words.question('Which colour?', ['Red', 'Blue'])],
          [{ expect: { tool_result: 'Blue' } }, words.custom('lookup', { word: 'none' })],
          [
            { expect: { tool_result: 'no such word', ...(words.marksErrors ? { is_error: true } : {}) } },
            { say: 'Blue it is.' },
          ],
        )}`,
      );
      const give = (call: EventOf<'call'>, text: string, isError = false) =>
        program.giveResult(call.callId, { content: [{ type: 'text', text }], isError });
      const first = await next('call');
      expect(first).toMatchObject({ tool: { kind: 'custom', toolName: 'lookup' }, input: { word: 'deep' } });
      give(first, 'far down');
      const second = await next('call', 1);
      expect(second).toMatchObject({ tool: { kind: 'custom' } });
      expect(JSON.stringify(second.input)).toContain('Which colour?');
      give(second, 'Blue');
      give(await next('call', 2), 'no such word', true);
      expect((await ended).outcome).toEqual({ type: 'done' });
      await program.close();
      expect(textsOf(events)).toEqual(['Blue it is.']);
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[J181] the model can be changed while it runs, and back, from the next request on',
    async () => {
      const { program, events, ask } = await converse(tested());
      await ask(`Go. ${script([{ say: 'One.' }])}`);
      program.setModel('some-other-model');
      await ask('And now?');
      program.setModel(null);
      await ask('And now?');
      await program.close();
      const models = events.flatMap((event) => (event.type === 'request_started' ? [event.model] : []));
      expect(models).toEqual([models[0], 'some-other-model', models[0]]);
      expect(models[0]).not.toBe('some-other-model');
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[J181] how much it does unasked can be changed, but never what its definition wants to be asked for',
    async () => {
      const asking = await converse(tested(), { agent: agent({ tools: [toolset('always_ask')] }) });
      asking.program.setPermissionMode('bypassPermissions');
      const ended = asking.ask(`Go. ${script([words.bash('touch unasked')], [{ say: 'Done.' }])}`);
      asking.program.answer((await asking.next('call')).callId, { type: 'deny', message: 'No.' });
      await ended;
      // This mode does not ask: a call that would need an approval is not run.
      asking.program.setPermissionMode(words.closedMode);
      await asking.ask('And now?');
      await asking.program.close();

      const free = await converse(tested());
      await free.ask(
        `Go. ${script([words.bash('touch freely-one')], [{ say: 'One.' }], [words.bash('touch freely-two')], [{ say: 'Two.' }])}`,
      );
      free.program.setPermissionMode(words.closedMode);
      await free.ask('And now?');
      await free.program.close();
      const made = await readdir(tested().directory);
      expect(made).not.toContain('unasked');
      expect(made).toContain('freely-one');
      expect(made).not.toContain('freely-two');
    },
    PROGRAM_TEST_MS,
  );
}

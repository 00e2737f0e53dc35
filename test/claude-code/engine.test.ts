import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { findDisorder } from './find-disorder.ts';
import { agent, type Conversation, openEngine, said, script, toolset } from './open-program.ts';
import { findProcesses } from './processes.ts';

await describeWithClaudeCode('the engine with the real program', ({ path, version }) => {
  for (const isTapped of [true, false]) {
    const how = isTapped ? 'through the gateway' : 'without the gateway';

    it(`[J1] a turn is told in its order, ${how}: requests, blocks that grow and are whole, calls and their results`, async () => {
      const { open } = await openEngine(path, { isTapped });
      const { program, events, next } = await open();
      const call = { call: 'Bash', input: { command: 'echo here', description: 'Says it' } };
      program.say(said(`Go. ${script([{ think: 'Hm.' }, { say: 'I look.', chunks: 3 }, call], [{ say: 'Seen.' }])}`));
      await next('turn_ended');
      await program.close();
      expect(findDisorder(events)).toEqual([]);
      expect(events[0]).toMatchObject({ type: 'opened', version });
      expect(wholeOf(events, 'main')).toEqual([
        { type: 'thinking', thinking: 'Hm.', signature: '' },
        { type: 'text', text: 'I look.' },
        { type: 'text', text: 'Seen.' },
      ]);
      expect(events.filter(({ type }) => type === 'result')).toMatchObject([
        { content: [{ text: 'here' }], isError: false },
      ]);
      expect(events.at(-2)).toMatchObject({ type: 'turn_ended', outcome: { type: 'done' }, isMoreToCome: false });
      expect(events.at(-1)).toMatchObject({ type: 'exited', isWanted: true });
    }, 90_000);

    it(`[J2] sub-agents are told of before they do anything, ${how}, and what they took adds up to what the turn took`, async () => {
      const { open } = await openEngine(path, { isTapped });
      const { program, events, next } = await open({ members: [agent({ name: 'worker' })] });
      const child = (name: string) =>
        script(
          [{ say: `${name} looks.` }, { call: 'Bash', input: { command: 'true', description: 'x' } }],
          [{ say: `${name} reports.` }],
        );
      const launch = (name: string) => ({
        call: 'Agent',
        input: { subagent_type: 'worker', description: name, prompt: `Go. ${child(name)}`, run_in_background: false },
      });
      program.say(said(`Go. ${script([launch('alpha'), launch('beta')], [{ say: 'Done.' }])}`));
      await next('turn_ended');
      expect(findDisorder(events)).toEqual([]);
      const opened = events.filter((event) => event.type === 'thread_opened');
      expect(opened).toMatchObject([
        { parentKey: 'main', agentName: 'worker', description: 'alpha' },
        { parentKey: 'main', agentName: 'worker', description: 'beta' },
      ]);
      expect(opened.map(({ key }) => wholeOf(events, key).map((block) => block.type === 'text' && block.text))).toEqual(
        [
          ['alpha looks.', 'alpha reports.'],
          ['beta looks.', 'beta reports.'],
        ],
      );
      // Six requests; the scripted model counts what it says, and nothing of it may be lost.
      const taken = events.flatMap((event) => (event.type === 'request_ended' ? [event.usage.outputTokens] : []));
      expect(taken).toHaveLength(6);
      const ofChildren = events.flatMap((event) =>
        event.type === 'request_ended' && event.key !== 'main' ? [event.usage.outputTokens] : [],
      );
      if (isTapped) for (const tokens of ofChildren) expect(tokens).toBeGreaterThan(1);
      else expect(events.findLast((event) => event.type === 'request_ended')?.usage.outputTokens).toBeGreaterThan(4);
    }, 90_000);
  }

  it('[J3] a program goes on with a conversation of an earlier process, and tells nothing of it again', async () => {
    const { open } = await openEngine(path);
    const first = await open();
    first.program.say(said(`Go. ${script([{ say: 'One.' }], [{ say: 'Two.' }])}`));
    await first.next('turn_ended');
    await first.program.close();
    const { conversation } = await first.next('opened');
    const second = await open({ resume: conversation });
    second.program.say(said('And now?'));
    await second.next('turn_ended');
    expect(wholeOf(second.events, 'main')).toEqual([{ type: 'text', text: 'Two.' }]);
    // What the earlier process took is not counted again.
    const taken = second.events.flatMap((event) => (event.type === 'request_ended' ? [event.usage.outputTokens] : []));
    expect(taken).toEqual([1]);
  }, 90_000);

  it('[J4] a conversation that is lost is a turn that failed, or an end with its reason, and never silence', async () => {
    const { open } = await openEngine(path);
    const { program, next, events } = await open({ resume: '00000000-0000-4000-8000-000000000000' });
    program.say(said('Hello?'));
    expect(await next('exited')).toMatchObject({ isWanted: false });
    expect(JSON.stringify(events)).toMatch(/No conversation found/);
  }, 90_000);

  it('[J5] closing ends a program at rest and one at work, and no process is left of either', async () => {
    const { open, home } = await openEngine(path);
    const resting = await open();
    resting.program.say(said(`Go. ${script([{ say: 'Done.' }])}`));
    await resting.next('turn_ended');
    await resting.program.close();
    expect(resting.events.filter(({ type }) => type === 'exited')).toHaveLength(1);
    const busy = await open();
    busy.program.say(
      said(`Go. ${script([{ call: 'Bash', input: { command: 'tail -f /dev/null', description: 'x' } }])}`),
    );
    await busy.next('call');
    await Promise.all([busy.program.close(), busy.program.close()]);
    expect(busy.events.at(-1)).toMatchObject({ type: 'exited', isWanted: true });
    expect(findProcesses(home)).toEqual([]);
  }, 90_000);

  it('[J6] what is asked for waits for its answer, also if that came first, and any order will do', async () => {
    const { open, directory } = await openEngine(path);
    const { program, events, next } = await open({ agent: agent({ tools: [toolset('always_ask')] }) });
    const call = (name: string) => ({ call: 'Bash', input: { command: `touch ${name}`, description: 'x' } });
    program.say(said(`Go. ${script([call('one'), call('two'), call('three')], [{ say: 'Done.' }])}`));
    const calls = [await next('call'), await next('call', 1), await next('call', 2)];
    for (const { tool } of calls) expect(tool).toEqual({ kind: 'builtin', permission: 'ask' });
    program.answer(calls[2]!.callId, { type: 'allow' });
    program.answer(calls[1]!.callId, { type: 'deny', message: 'Not two.' });
    program.answer(calls[0]!.callId, { type: 'allow' });
    await next('turn_ended');
    const results = events.flatMap((event) => (event.type === 'result' ? [event] : []));
    expect(results.find(({ callId }) => callId === calls[1]!.callId)).toMatchObject({
      isError: true,
      content: [{ text: 'Not two.' }],
    });
    expect((await readdir(directory)).toSorted()).toEqual(['one', 'three']);
  }, 90_000);

  it('[J7] while nobody reads, the program is made to wait; whoever reads on loses nothing', async () => {
    const { engine, directory } = await openEngine(path);
    const program = await engine.open({
      sessionId: 'sesn_test',
      directory,
      agent: agent(),
      members: [],
      depthMax: 1,
      known: [],
      resume: null,
    });
    const text = 'word '.repeat(25_000);
    program.say(said(`Go. ${script([{ say: text, chunks: 10_000 }])}`));
    // Long enough to fill every pipe on the way.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    let whole = '';
    for await (const events of program.events) {
      for (const event of events)
        if (event.type === 'block_ended' && event.content.type === 'text') whole = event.content.text;
      if (events.some(({ type }) => type === 'turn_ended')) break;
    }
    expect(whole === text).toBe(true);
  }, 120_000);
});

function wholeOf(events: Conversation['events'], key: string) {
  return events.flatMap((event) => (event.type === 'block_ended' && event.key === key ? [event.content] : []));
}

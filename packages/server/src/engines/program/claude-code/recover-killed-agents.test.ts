import { expect, it } from 'vitest';
import { MAIN } from '../program.ts';
import { call, content, gives, main, open, prompt, says, text } from './recover-conversation.suite.ts';

/** The prompt of a sub-agent as the program writes it, which is all that it has of an agent that has just begun. */
function begun(agentId: string, words: string, timestamp = LATER): object {
  return { ...prompt(words), isSidechain: true, agentId, sessionId: 'c', timestamp };
}

const EARLIER = '2026-11-18T10:00:00.000Z';
const LATER = '2026-11-18T10:00:05.000Z';

it('[J420] agents of the main agent that have only their prompts are opened once, whether the log or the transcript has their calls', async () => {
  const { write, recover } = await open();
  const calls = ['c1', 'c2'];
  for (const [at, callId] of calls.entries()) {
    await write(`c/subagents/agent-a${at}.jsonl`, [begun(`a${at}`, `Part ${at}.`)]);
    await write(`c/subagents/agent-a${at}.meta.json`, [{ agentType: 'worker', toolUseId: callId, spawnDepth: 1 }]);
  }
  const opened = ['a0 opened below main by c1 for Part 0.', 'a1 opened below main by c2 for Part 1.'];
  // The program was killed before it wrote the calls that it had printed.
  await write('c.jsonl', [prompt('Go.')]);
  expect((await recover({ [MAIN]: main(content({ calls })) })).toSorted()).toEqual(opened);
  // The server was killed before it read the calls that the program had written.
  await write('c.jsonl', [prompt('Go.'), says('m1', call('c1')), says('m1', call('c2'))]);
  expect((await recover({ [MAIN]: main(content({})) })).toSorted()).toEqual([
    ...opened,
    'main call c1',
    'main call c2',
    'main request_started',
  ]);
  const thread = (callId: string) => ({ agentName: 'worker', parentKey: MAIN, callId, open: content({}) });
  const known = { [MAIN]: main(content({ calls })), a0: thread('c1'), a1: thread('c2') };
  expect(await recover(known)).toEqual([]);
});

it('[J420] an agent of a sub-agent that has only its prompt, or a file without a whole record, is opened below its caller', async () => {
  const { write, recover } = await open();
  await write('c.jsonl', [prompt('Go.'), says('m1', call('c1'))]);
  await write('c/subagents/agent-a1.jsonl', [begun('a1', 'Look.')]);
  await write('c/subagents/agent-a2.jsonl', [begun('a2', 'Below.')]);
  await write('c/subagents/agent-a2.meta.json', [{ toolUseId: 'c2', spawnDepth: 2 }]);
  await write('c/subagents/agent-a3.jsonl', []);
  await write('c/subagents/agent-a3.meta.json', [{ toolUseId: 'c3', spawnDepth: 2 }]);
  const events = await recover({
    [MAIN]: main(content({ calls: ['c1'] })),
    a1: { agentName: 'worker', parentKey: MAIN, callId: 'c1', open: content({ calls: ['c2', 'c3'] }) },
  });
  expect(events.toSorted()).toEqual(['a2 opened below a1 by c2 for Below.', 'a3 opened below a1 by c3 for null']);
});

it('[J421] an agent whose call was not written down belongs to the call that gave it its prompt, each call with one agent', async () => {
  const { write, recover } = await open();
  const input = (words: string) => ({ prompt: words, subagent_type: 'worker', description: 'part' });
  await write('c.jsonl', [prompt('Go.'), says('m1', call('c1', input('Look.'))), gives('c1', 'Looked.')]);
  await write('c/subagents/agent-a1.jsonl', [begun('a1', 'Look.'), says('n1', call('c2', input('Below.')))]);
  await write('c/subagents/agent-a1.meta.json', [{ toolUseId: 'c1', spawnDepth: 1 }]);
  for (const id of ['a2', 'a3']) await write(`c/subagents/agent-${id}.jsonl`, [begun(id, 'Below.')]);
  await write('c/subagents/agent-a4.jsonl', [begun('a4', 'Look.')]);
  await write('c/subagents/agent-a5.jsonl', [begun('a5', 'Only logged.')]);
  // The program was killed while it wrote this file.
  await write('c/subagents/agent-a5.meta.json', []);
  await write('c/subagents/agent-a6.jsonl', [begun('a6', 'Given by no call.')]);
  const logged = content({ calls: ['c1', 'c9'], inputs: { c9: input('Only logged.') } });
  const events = await recover({ [MAIN]: main(logged) });
  const opened = events.filter((event) => event.includes('opened'));
  // Files are found in any order.
  expect(opened.map((event) => event.replace(/^a3 /, 'a2 ')).toSorted()).toEqual([
    'a1 opened below main by c1 for Look.',
    'a2 opened below a1 by c2 for Below.',
    'a5 opened below main by c9 for Only logged.',
  ]);
});

it('[J422] an agent whose call is neither in the log nor in a transcript is opened below the main agent if it began in the open turn', async () => {
  const { write, recover } = await open();
  const asked = { ...prompt('Go.'), timestamp: EARLIER };
  const meta = (callId: string, spawnDepth: number) => [{ agentType: 'worker', toolUseId: callId, spawnDepth }];
  await write('c.jsonl', [asked]);
  // The one below is read after the one above, whatever they are called.
  await write('c/subagents/agent-a1.jsonl', [begun('a1', 'Below.')]);
  await write('c/subagents/agent-a1.meta.json', meta('c2', 2));
  await write('c/subagents/agent-a2.jsonl', [begun('a2', 'Look.', EARLIER), says('n1', call('c2'))]);
  await write('c/subagents/agent-a2.meta.json', meta('c1', 1));
  const events = await recover({ [MAIN]: main(content({})) });
  expect(events).toEqual([
    'a2 opened below main by c1 for Look.',
    'a2 request_started',
    'a2 call c2',
    'a1 opened below a2 by c2 for Below.',
  ]);
  // Without an open turn the main agent has called nothing.
  expect(await recover({ [MAIN]: { ...main(content({})), open: null } })).toEqual([]);
  // Of an earlier turn, of another agent or conversation, or not the program's.
  await write('c.jsonl', [{ ...asked, timestamp: '2026-11-18T10:00:06.000Z' }]);
  expect(await recover({ [MAIN]: main(content({})) })).toEqual([]);
  await write('c.jsonl', [asked]);
  const { agentId: _, ...unnamed } = begun('a2', 'Look.') as Record<string, unknown>;
  for (const first of [begun('a9', 'Look.'), { ...begun('a2', 'Look.'), sessionId: 'd' }, unnamed, text('Look.')]) {
    await write('c/subagents/agent-a2.jsonl', [first]);
    await write('c/subagents/agent-a1.jsonl', []);
    expect(await recover({ [MAIN]: main(content({})) })).toEqual([]);
  }
});

import { expect, it } from 'vitest';
import { programLimits } from '../limits.ts';
import { MAIN } from '../program.ts';
import { call, content, gives, main, open, prompt, says, text } from './recover-conversation.suite.ts';

it('[J342] transcript entries after the end of the log are emitted once and in order, equal texts counted', async () => {
  const { write, recover } = await open();
  await write('c.jsonl', [
    prompt('Go.'),
    says('m1', text('Again.')),
    says('m1', call('c1')),
    gives('c1', 'one'),
    says('m2', text('Again.')),
    says('m2', { type: 'thinking', thinking: 'Hm.' }),
    says('m2', call('c2')),
    gives('c2', 'two'),
    says('m3', text('Again.')),
  ]);
  const logged = content({
    said: [
      ['text', 'Again.'],
      ['text', 'Again.'],
    ],
    calls: ['c1'],
    results: ['c1'],
  });
  expect(await recover({ [MAIN]: main(logged) })).toEqual([
    'main request_started',
    'main thinking Hm.',
    'main call c2',
    'main request_ended',
    'main answered c2',
    'main result c2 two',
    'main request_started',
    'main text Again.',
  ]);
  const all = content({
    said: [
      ['text', 'Again.'],
      ['text', 'Again.'],
      ['text', 'Again.'],
      ['thinking', 'Hm.'],
    ],
    calls: ['c1', 'c2'],
    results: ['c1', 'c2'],
  });
  expect(await recover({ [MAIN]: main(all) })).toEqual([]);
});

it('[J342] a result may be missing before what was logged, and a model request that is open ends first', async () => {
  const { write, recover } = await open();
  await write('c.jsonl', [
    prompt('Go.'),
    says('m1', call('c1')),
    says('m1', call('c2')),
    gives('c1', 'one'),
    gives('c2', 'two'),
    says('m2', text('Next.')),
  ]);
  const logged = content({ calls: ['c1', 'c2'], results: ['c2'], hasRequest: true });
  expect(await recover({ [MAIN]: main(logged) })).toEqual([
    'main answered c1',
    'main result c1 one',
    'main request_ended with an error',
    'main request_started',
    'main text Next.',
  ]);
});

it('[J342] the rest of an answer belongs to the open model request if the log has calls of it, and to another one otherwise', async () => {
  const { write, recover } = await open();
  await write('c.jsonl', [
    prompt('Go.'),
    says('m1', text('First.')),
    says('m1', call('c1')),
    says('m1', call('c2')),
    gives('c1', 'one'),
    gives('c2', 'two'),
    says('m2', text('Next.')),
  ]);
  const rest = [
    'main answered c1',
    'main result c1 one',
    'main answered c2',
    'main result c2 two',
    'main request_started',
    'main text Next.',
  ];
  const called = content({ said: [['text', 'First.']], calls: ['c1'], hasRequest: true });
  expect(await recover({ [MAIN]: main(called) })).toEqual([
    'main call c2',
    'main request_ended with an error',
    ...rest,
  ]);
  // What grew behind the text is void.
  const said = content({ said: [['text', 'First.']], hasRequest: true });
  expect(await recover({ [MAIN]: main(said) })).toEqual([
    'main request_ended with an error',
    'main request_started',
    'main call c1',
    'main call c2',
    'main request_ended',
    ...rest,
  ]);
});

it('[J342] the work of agents comes before their report, on threads of their own, and finished ones end', async () => {
  const { write, recover } = await open();
  await write('c.jsonl', [prompt('Go.'), says('m1', call('c1')), gives('c1', 'The report.')]);
  await write('c/subagents/agent-a1.jsonl', [
    prompt('Look.'),
    says('n1', call('c2')),
    gives('c2', 'Below.'),
    says('n2', text('The report.'), 'end_turn'),
  ]);
  await write('c/subagents/agent-a2.jsonl', [prompt('Below.'), says('o1', text('Below.'), 'end_turn')]);
  await write('c/subagents/agent-a2.meta.json', [{ agentType: 'worker', description: 'below', toolUseId: 'c2' }]);
  const events = await recover({
    [MAIN]: main(content({ calls: ['c1'] })),
    a1: { agentName: 'worker', parentKey: MAIN, callId: 'c1', open: content({}) },
  });
  expect(events).toEqual([
    'a1 request_started',
    'a1 call c2',
    'a2 opened below a1 by c2 for Below.',
    'a2 request_started',
    'a2 text Below.',
    'a2 request_ended',
    'a2 ended completed',
    'a1 request_ended',
    'a1 answered c2',
    'a1 result c2 Below.',
    'a1 request_started',
    'a1 text The report.',
    'a1 request_ended',
    'a1 ended completed',
    'main answered c1',
    'main result c1 The report.',
  ]);
});

it('[J342] a file of an agent that no known call has made, and a thread without an open turn, add nothing', async () => {
  const { write, recover } = await open();
  await write('c.jsonl', [prompt('Go.'), says('m1', call('c1'))]);
  for (const [id, callId] of Object.entries({ a1: 'c1', a2: 'c1', a3: 'unknown' })) {
    await write(`c/subagents/agent-${id}.jsonl`, [prompt('Look.'), says(`m${id}`, text('Words.'))]);
    await write(`c/subagents/agent-${id}.meta.json`, [{ toolUseId: callId }]);
  }
  const threads = {
    [MAIN]: main(content({ calls: ['c1'] })),
    a1: { agentName: 'worker', parentKey: MAIN, callId: 'c1', open: null },
  };
  expect(await recover(threads)).toEqual([]);
});

it('[J342] an error that the program wrote for a call that waited for a person is left out: the restart withdraws it', async () => {
  const { write, recover } = await open();
  await write('c.jsonl', [
    prompt('Go.'),
    says('m1', call('c1')),
    gives('c1', 'Stream closed', true),
    { ...says('m2', text('API Error')), isApiErrorMessage: true },
  ]);
  expect(await recover({ [MAIN]: main(content({ calls: ['c1'], waiting: ['c1'] })) })).toEqual([]);
});

it('[J343] of a transcript with more than 32 MiB the end is read, and what was cut before it is not emitted', async () => {
  const { write, recover } = await open();
  const large = says('m1', text('x'.repeat(1024 * 1024)));
  const records = Array.from({ length: programLimits.transcriptBytesMax / 1024 / 1024 }, () => large);
  await write('c.jsonl', [says('m0', text('First.')), ...records, says('m2', call('c1')), gives('c1', 'one')]);
  expect(await recover({ [MAIN]: main(content({ calls: ['c1'] })) })).toEqual([
    'main answered c1',
    'main result c1 one',
  ]);
});

import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { Facts } from './Decision.tsx';
import { decisionIdOf, findDecision } from './find-decision.ts';
import { toBlocks } from '../transcript/blocks.ts';

const line = (type: string, payload: object) => JSON.stringify({ seq: 1, type, time: 1_000, thread_id: 't', payload });
const log = [
  '{"type":"export.begin"}',
  // Mentions the event's id, but is another event.
  line('agent.message', { id: 'sevt_0', content: [{ type: 'text', text: '"payload":{"id":"sevt_1",' }] }),
  line('user.tool_confirmation', { id: 'sevt_1', result: 'allow', by: 'ann', rule: 'x(*)', input_sha256: 'ab' }),
  line('user.tool_confirmation', { id: 'sevt_2', result: 'deny', by: 'ann', rule: null, input_sha256: 'cd' }),
  line('user.custom_tool_result', { id: 'sevt_3', content: [], by: 'bob', input_sha256: 'ef' }),
  line('user.tool_confirmation', { id: 'sevt_4', result: 'allow', deny_message: null }),
].join('\n');
const find = (id: string) => findDecision(new Blob([log]).stream(), id);
const show = async (id: string) => renderToStaticMarkup(createElement(Facts, { facts: (await find(id))! }));

it('[Z322] the recorded approval, denial or answer is found in the log, and fields that an older log lacks are null', async () => {
  expect(await find('sevt_1')).toEqual({ verdict: 'approved', at: 1_000, by: 'ann', rule: 'x(*)', inputSha256: 'ab' });
  expect(await find('sevt_2')).toEqual({ verdict: 'denied', at: 1_000, by: 'ann', rule: null, inputSha256: 'cd' });
  expect(await find('sevt_3')).toEqual({ verdict: 'answered', at: 1_000, by: 'bob', rule: null, inputSha256: 'ef' });
  expect(await find('sevt_4')).toEqual({ verdict: 'approved', at: 1_000, by: null, rule: null, inputSha256: null });
  expect(await find('sevt_5')).toBeUndefined();
});

it('[Z322] user, time, rule and the whole hash are shown, and missing fields of an older log are named as such', async () => {
  expect(await show('sevt_1')).toMatch(/approved by<.*>ann<.*>1970-01-01T00:00:01\.000Z<.*>x\(\*\)<.*>ab</);
  expect(await show('sevt_2')).toMatch(/denied by<.*>ann<.*>none, decided individually<.*>cd</);
  expect(await show('sevt_3')).toMatch(/answered by<.*>bob<.*>ef</);
  expect((await show('sevt_4')).match(/not recorded in this log/g)).toHaveLength(3);
});

it('[Z322] a call that needed approval has the event that decided it, any other call has none', () => {
  const use = { type: 'agent.tool_use', name: 'bash', input: {}, evaluated_permission: 'ask' };
  const events = [
    { ...use, id: 'a' },
    { ...use, id: 'b', evaluated_permission: 'allow' },
    { type: 'agent.custom_tool_use', id: 'c', name: 'form', input: {} },
    { type: 'user.tool_confirmation', id: 'd', tool_use_id: 'a', result: 'allow' },
    { type: 'agent.tool_result', id: 'e', tool_use_id: 'b', content: [] },
    { type: 'user.custom_tool_result', id: 'f', custom_tool_use_id: 'c', content: [] },
  ];
  // Literals of the wire; the code under test does not read the missing fields.
  expect(toBlocks(events as never).map(decisionIdOf)).toEqual(['d', undefined, 'f']);
});

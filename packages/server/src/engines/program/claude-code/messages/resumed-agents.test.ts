import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { expect, it } from 'vitest';
import { ResumedAgents } from './resumed-agents.ts';

it('[J506] a run of which only the result of the call reports begins before that result', () => {
  const agents = new ResumedAgents();
  expect(agents.expand(sending('c1'))).toEqual([sending('c1')]);
  const resumed = result('c1', { success: true, resumedAgentId: 'a1' });
  const [started, ...rest] = agents.expand(resumed);
  expect(started).toMatchObject({ subtype: 'task_started', task_id: 'a1', tool_use_id: 'c1', prompt: 'More.' });
  expect(rest).toEqual([resumed]);
  expect(agents.expand(resumed)).toEqual([resumed]);
});

it('[J506] a run that a task line reports begins once, and a result of another call or without an agent begins none', () => {
  const agents = new ResumedAgents();
  agents.expand(sending('c1'));
  const started = { type: 'system', subtype: 'task_started', task_id: 'a1', tool_use_id: 'c1' };
  const wrapped = { ...started, prompt: '<agent-message from="middle">\nMore.\n</agent-message>' };
  expect(agents.expand(wrapped)).toEqual([{ ...started, prompt: 'More.' }]);
  expect(agents.expand(wrapped)).toEqual([wrapped]);
  agents.expand(sending('c2'));
  for (const line of [
    result('c1', { success: true, resumedAgentId: 'a1' }),
    result('c9', { success: true, resumedAgentId: 'a1' }),
    result('c2', { success: true, message: 'Message queued' }),
  ])
    expect(agents.expand(line)).toEqual([line]);
});

it('[J505] the result of a sub-agent, which is printed as text, names the receiver of its message like one of the main agent', () => {
  const agents = new ResumedAgents();
  agents.expand(sending('c1'));
  const sent = { success: true, message: 'Queued', pin: { id: 'a1' } };
  const content = [{ type: 'text', text: JSON.stringify(sent) }];
  const printed = (id: string) =>
    ({
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: id, content }] },
    }) satisfies StreamJsonMessage;
  expect(agents.expand(printed('c9'))).toEqual([printed('c9')]);
  expect(agents.expand(printed('c1'))).toEqual([{ ...printed('c1'), tool_use_result: sent }]);
});

function sending(id: string): StreamJsonMessage {
  const input = { to: 'a1', message: 'More.' };
  return { type: 'assistant', message: { content: [{ type: 'tool_use', id, name: 'SendMessage', input }] } };
}

function result(tool_use_id: string, structured: object): StreamJsonMessage {
  return { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id }] }, tool_use_result: structured };
}

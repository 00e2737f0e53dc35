import { expect, it } from 'vitest';
import type { Json } from '../base/json/json.ts';
import type { ModelRequest } from '../engines/model/engine.ts';
import { agent, customResult, openFleet, snapshot } from './suite/fleet.suite.ts';
import { createPlainEngine, type PlainAnswer } from './suite/plain-engine.suite.ts';

// Agents and tools that have the same name as others.

it('[R250] an older version of the coordinator in its own roster works by that version, and not as a copy', async () => {
  const seen: ModelRequest[] = [];
  const engine = createPlainEngine((request) => {
    seen.push(request);
    const tasks = [{ agent: 'lead before', message: 'Go' }];
    return seen.length === 1 ? call('delegate', { tasks }) : {};
  });
  const fleet = await openFleet({ engine });
  const older = snapshot('lead', { name: 'lead before', system: 'As it was.', version: 1 });
  const team = { ...agent('lead', [older]), system: 'As it is.', version: 2 };
  const id = await fleet.begin(team, 'Go');
  await fleet.rest(id);
  expect(seen.map(({ system }) => system)).toEqual(['As it is.', 'As it was.', 'As it is.']);
  expect(await fleet.payloads(id, 'session.thread_created')).toMatchObject([{ agent_name: 'lead before', member: 0 }]);
});

it('[R251] an agent that cannot delegate may have a tool of its own that is called like one of a coordinator', async () => {
  const engine = createPlainEngine(({ thread, messages }) => {
    const tasks = [{ agent: 'worker', message: 'Go' }];
    if (messages.length > 1) return {};
    return call('delegate', thread.agentName === 'lead' ? { tasks } : { form: 'A' });
  });
  const fleet = await openFleet({ engine, tools: { delegate: { kind: 'custom' } } });
  const id = await fleet.begin(agent('lead', [snapshot('worker')]), 'Go');
  const { seq } = await fleet.rest(id);
  const [use] = await fleet.payloads(id, 'agent.custom_tool_use');
  expect(use).toMatchObject({ name: 'delegate', input: { form: 'A' } });
  expect(await fleet.payloads(id, 'agent.tool_use')).toMatchObject([{ kind: 'session' }]);
  await fleet.send(id, customResult(use!.id, 'filled'));
  expect((await fleet.rest(id, seq)).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
});

it('[R252] a follow-up that names another agent than the one of the thread is refused, and not delivered', async () => {
  const engine = createPlainEngine(({ thread, messages }) => {
    if (thread.agentName !== 'lead') return {};
    const results = messages.filter(({ content }) => content.some(({ type }) => type === 'tool_result')).length;
    if (results === 0) return call('delegate', { tasks: [{ agent: 'worker', message: 'x' }] });
    const [, child = ''] = /\(thread (sthr_\w+)\)/.exec(JSON.stringify(messages)) ?? [];
    const named = ['tester', 'agent_worker', 'worker'][results - 1];
    return named === undefined ? {} : call('send_to_agent', { agent: named, message: 'y', thread_id: child });
  });
  const fleet = await openFleet({ engine });
  const id = await fleet.begin(agent('lead', [snapshot('worker'), snapshot('tester')]), 'Go');
  await fleet.rest(id);
  const [, wrong, byId, byName] = await fleet.payloads(id, 'agent.tool_result');
  expect(wrong).toMatchObject({
    is_error: true,
    content: [{ text: expect.stringMatching(/^ERR: thread sthr_\w+ is of worker, not of "tester"/) }],
  });
  expect([byId, byName]).toMatchObject([{ is_error: false }, { is_error: false }]);
  expect((await fleet.state(id)).threads.size).toBe(2);
});

let calls = 0;
function call(name: string, input: Json): PlainAnswer {
  return { content: [{ type: 'tool_use', id: `toolu_${++calls}`, name, input }], reason: 'tool_use' };
}

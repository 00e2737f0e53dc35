import type { SessionThread } from '@fleetloom/protocol/managed-agents';
import { expect, it } from 'vitest';
import { toThreadLabel } from './thread-label.ts';

it("[Y141] threads of the program's own kinds are called what they were started for, all others by their agent", () => {
  const all = [
    thread(null, 'agent_1', 'lead', 'Leads'),
    thread('sthr_1', 'agent_1', 'general-purpose', 'Read the docs'),
    thread('sthr_1', 'agent_1', 'Explore', null),
    thread('sthr_1', 'agent_2', 'worker', 'Works'),
    thread('sthr_1', 'agent_1', 'lead', 'Leads'),
  ];
  expect(all.map((each) => toThreadLabel(each, all))).toEqual(['lead', 'Read the docs', 'Explore', 'worker', 'lead']);
});

function thread(parent: string | null, id: string, name: string, description: string | null): SessionThread {
  // What is not looked at is left out.
  return { parent_thread_id: parent, agent: { id, name, description } } as unknown as SessionThread;
}

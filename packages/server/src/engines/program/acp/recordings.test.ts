import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { textsOf } from '../suite/conversation.suite.ts';
import { findDisorder } from '../suite/find-disorder.suite.ts';
import { readRows } from '../suite/mutate-recording.suite.ts';
import { type PlayedAgent, playAgent, splitProcesses } from './play-recording.suite.ts';

// Every recording of a real agent. A file that is added here is tested without a change.
const folder = new URL('../../../../../../fixtures/engines/acp/', import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith('.ndjson'));

it.each(names)(
  '[AC3, AC20] %s: every text, call and decision of the recording is an event, in the order of the contract',
  (name) => {
    const played = splitProcesses(readRows(new URL(name, folder))).map(playAgent);
    for (const process of played) check(process);
    expect(played.reduce((sum, { turns }) => sum + turns, 0)).toBeGreaterThan(0);
  },
);

function check({ talk, said, calls, decisions }: PlayedAgent): void {
  expect(talk.failures).toEqual([]);
  expect(findDisorder(talk.events)).toEqual([]);
  expect(textsOf(talk.events).join('')).toBe(said.join(''));
  const announced = talk.events.flatMap((event) => (event.type === 'call' ? [event.callId] : []));
  expect(announced).toEqual(expect.arrayContaining([...calls]));
  const owed = new Set(announced);
  for (const event of talk.events) if (event.type === 'result') owed.delete(event.callId);
  if (talk.conversation.isResting) expect([...owed]).toEqual([]);
  expect(decisions.map(({ written }) => written)).toEqual(decisions.map(({ recorded }) => recorded));
}

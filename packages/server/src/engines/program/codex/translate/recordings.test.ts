import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { ProgramEvent } from '../../program.ts';
import { record } from '../../lines/values.ts';
import { findDisorder } from '../../suite/find-disorder.suite.ts';
import { type ExpectedRecording, foldRecording, toComparable } from './fold-recording.suite.ts';
import { playRecording } from './play-recording.suite.ts';

// Every recording of the real program. A file that is added here is tested without a change.
const folder = new URL('../../../../../../../fixtures/engines/codex/', import.meta.url);
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.ndjson'))
  .map((name) => name.replace(/\.ndjson$/, ''));

describe.each(names)('%s', (name) => {
  const played = playRecording(fileURLToPath(new URL(`${name}.ndjson`, folder)));
  const expected = JSON.parse(readFileSync(new URL(`${name}.expected.json`, folder), 'utf8')) as ExpectedRecording;

  it('[CX1] each thread has the texts, thoughts, calls, results, turns and usage that its recording shows', () => {
    const shown = foldRecording(played, expected);
    expect(shown).toEqual(toComparable(expected));
  });

  it('[CX2] events are in the order of the contract, and every call of a turn that ended has a result', () => {
    for (const { events } of played.processes) {
      expect(findDisorder(events)).toEqual([]);
      expect(findOwed(events)).toEqual([]);
    }
  });

  it('[MX200] output that grows while a command runs is that of its result', () => {
    for (const { events } of played.processes) expect(findStray(events)).toEqual([]);
    const isRecorded = readFileSync(new URL(`${name}.ndjson`, folder), 'utf8').includes('commandExecution/outputDelta');
    const isShown = played.processes.some(({ events }) => events.some(({ type }) => type === 'output_delta'));
    expect(isShown).toBe(isRecorded);
  });

  it('[CX3] the answers that Codex reads are those that were recorded', () => {
    for (const { method, recorded, written, isLate } of played.answers) {
      // A person grants all or nothing; in the recording a part was granted.
      if (isLate) expect(written).toBe(undefined);
      else if (method === 'item/permissions/requestApproval') expect(written).toMatchObject({ scope: 'turn' });
      else expect(written).toEqual(withoutScope(recorded));
    }
  });
});

/** Recorded approvals may hold for a session or for similar commands; those of this server hold for one call. */
function withoutScope(recorded: unknown): unknown {
  const answer = record(recorded) ?? {};
  const { decision } = answer;
  if (decision === 'acceptForSession' || record(decision) !== undefined) return { decision: 'accept' };
  return 'action' in answer ? { ...answer, _meta: null } : recorded;
}

/** Calls that did not end with what they showed. Codex makes up the results of commands that were stopped. */
function findStray(events: readonly ProgramEvent[]): string[] {
  const shown = new Map<string, string>();
  for (const event of events)
    if (event.type === 'output_delta') shown.set(event.callId, (shown.get(event.callId) ?? '') + event.text);
  return [...shown].flatMap(([callId, text]) => {
    const result = events.find((event) => event.type === 'result' && event.callId === callId);
    if (result?.type !== 'result' || result.isError) return [];
    const [block] = result.content;
    return block?.type === 'text' && block.text.includes(text) ? [] : [callId];
  });
}

/** Calls without a result when the turn of their agent ended. */
function findOwed(events: readonly ProgramEvent[]): string[] {
  const open = new Map<string, string>();
  return events.flatMap((event) => {
    if (event.type === 'call') open.set(event.callId, event.key);
    if (event.type === 'result') open.delete(event.callId);
    if (event.type !== 'turn_ended' && event.type !== 'thread_ended') return [];
    return [...open].flatMap(([callId, key]) => (key === event.key ? [callId] : []));
  });
}

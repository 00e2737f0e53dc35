import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isLong, randomText, timeout } from '../../../../../test/support/seed.ts';
import { opencodeRecordings, play } from '../../../../../test/opencode/play-recording.ts';
import { playAgent, splitProcesses } from './acp/play-recording.suite.ts';
import { playRows } from './codex/translate/play-recording.suite.ts';
import { record, text } from './lines/values.ts';
import type { ProgramEvent } from './program.ts';
import { findDamage, storiesOf } from './suite/find-damage.suite.ts';
import {
  harmful,
  harmless,
  type Message,
  type RecordedLines,
  type RecordedRow,
  readRows,
} from './suite/mutate-recording.suite.ts';

// Other versions and other sessions write other lines than those that were recorded: lines that are unknown, lost, late, repeated, cut.

interface Recording {
  readonly name: string;
  readonly rows: readonly RecordedRow[];
  /** The events of each process or conversation. */
  readonly play: (rows: readonly RecordedRow[]) => readonly (readonly ProgramEvent[])[];
}

interface Program extends RecordedLines {
  readonly name: string;
  readonly recordings: readonly Recording[];
}

const folder = (name: string) => new URL(`../../../../../fixtures/engines/${name}/`, import.meta.url);
const read = (name: string, toEvents: Recording['play']): Recording[] =>
  readdirSync(folder(name))
    .filter((file) => file.endsWith('.ndjson'))
    .map((file) => ({ name: file, rows: readRows(new URL(file, folder(name))), play: toEvents }));

const codex: Program = {
  name: 'codex',
  recordings: read('codex', (rows) => playRows(rows).processes.map(({ events }) => events)),
  isEvent: ({ dir, line }) => dir === 'out' && line?.includes('"method"') === true && isObject(line),
  conversationOf: ({ params }) => text(record(params)?.['threadId']),
  // A request has an id; deltas and retries add to what was before.
  isRepeatable: ({ id, method }) => id === undefined && !/delta|Delta|^error$/.test(text(method) ?? ''),
  unknown: { method: 'thread/somethingNew', params: { threadId: 'x', what: [1] } },
};
const opencode: Program = {
  name: 'opencode',
  recordings: opencodeRecordings().flatMap(({ name, rows, expected }) =>
    expected.threads
      .filter(({ parent }) => parent === null)
      .map(({ id, key }) => ({
        name: `${name} ${key}`,
        rows,
        play: (mutated: readonly RecordedRow[]) => [play({ rows: mutated }, id).events],
      })),
  ),
  isEvent: ({ dir, via, line }) => dir === 'out' && via?.startsWith('sse') === true && line !== null,
  conversationOf: (message) => {
    const properties = record(toPayload(message)['properties']);
    const of = record(properties?.['part']) ?? record(properties?.['info']) ?? properties;
    // What names two conversations depends on both.
    return /^session\.(created|updated)/.test(String(toPayload(message)['type'])) ||
      JSON.stringify(message).includes('sessionId')
      ? undefined
      : text(of?.['sessionID']);
  },
  isRepeatable: (message) => !/delta|^session\.(status|idle|compacted)$/.test(String(toPayload(message)['type'])),
  unknown: { id: 'evt_x', type: 'session.something', properties: { sessionID: 'ses_x', what: [1] } },
};
const acp: Program = {
  name: 'acp',
  recordings: read('acp', (rows) => splitProcesses(rows).map((process) => playAgent(process).talk.events)),
  isEvent: ({ dir, line }) => dir === 'out' && line?.includes('"session/update"') === true,
  conversationOf: ({ params }) => text(record(params)?.['sessionId']),
  isRepeatable: ({ params }) => {
    const update = record(record(params)?.['update']);
    return (
      !/chunk/.test(String(update?.['sessionUpdate'])) &&
      update?.['status'] !== 'completed' &&
      !/terminal/.test(JSON.stringify(update))
    );
  },
  unknown: { jsonrpc: '2.0', method: 'session/something', params: { sessionId: 'x' } },
};

describe.each([codex, opencode, acp])('$name', (program) => {
  const { recordings } = program;

  it.each(Object.entries(harmless))(
    '[MX210] %s change nothing of what a recording shows',
    (_, mutate) => {
      const random = randomText();
      for (const { name, rows, play: playIt } of recordings) {
        const whole = playIt(rows).map(storiesOf);
        for (let run = 0; run < RUNS; run++) {
          const events = playIt(mutate(rows, random, program));
          expect([name, run, events.flatMap(findDamage)]).toEqual([name, run, []]);
          expect([name, run, events.map(storiesOf)]).toEqual([name, run, whole]);
        }
      }
    },
    timeout,
  );

  it.each(Object.entries(harmful))(
    '[MX211] with %s every item comes once, turns end once, and each call of a turn that ends has a result',
    (_, mutate) => {
      const random = randomText();
      for (const { name, rows, play: playIt } of recordings)
        for (let run = 0; run < RUNS; run++) {
          const events = playIt(mutate(rows, random, program));
          expect([name, run, events.flatMap(findDamage)]).toEqual([name, run, []]);
        }
    },
    timeout,
  );
});

const RUNS = isLong ? 60 : 1;

function isObject(line: string): boolean {
  return line.startsWith('{') && line.endsWith('}');
}

/** The stream of all directories has the event in a payload. */
function toPayload(message: Message): Record<string, unknown> {
  return record(message['payload']) ?? message;
}

import { StreamJsonReader, type StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { describe, expect, it } from 'vitest';
import { Asks } from '../../packages/server/src/engines/program/claude-code/approvals/asks.ts';
import { ProgramTranslator } from '../../packages/server/src/engines/program/claude-code/translate/program-translator.ts';
import { ToolServer } from '../../packages/server/src/engines/program/claude-code/approvals/tool-server.ts';
import type { ProgramEvent } from '../../packages/server/src/engines/program/program.ts';
import { recordings } from '../support/recordings.ts';
import { findDisorder } from '../../packages/server/src/engines/program/suite/find-disorder.suite.ts';
import { agent } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';

// What the engine makes of streams that the real program once wrote. It needs no program.

interface Expected {
  readonly threads: readonly { readonly key: string; readonly items: readonly Item[] }[];
}

/** Long texts are kept as their length. */
interface Item {
  readonly kind: string;
  readonly id?: string;
  readonly text?: string | { readonly length: number };
  readonly error?: string;
}

describe('recorded streams', () => {
  const known = recordings().filter(({ name }) => /^2\.1\.\d+\//.test(name));

  it.each(known.map((recording) => [recording.name, recording] as const))(
    '[J8] %s: each text and each call comes once, on its own thread and in its order',
    (_, recording) => {
      const events = translate(recording.bytes());
      expect(findDisorder(events)).toEqual([]);
      const { threads } = recording.expected() as Expected;
      for (const { key, items } of threads) {
        const own = events.filter((event) => event.key === key);
        expect(textsOf(own)).toEqual(items.flatMap((item) => toText(item)));
        const called = own.flatMap((event) => (event.type === 'call' ? [event.callId] : []));
        const expected = items.flatMap((item) => (item.kind === 'tool_use' ? [item.id!] : []));
        // 2.1.197 asks about calls that it never prints.
        expect(called.filter((id) => expected.includes(id)).toSorted()).toEqual(expected.toSorted());
      }
    },
  );
});

function translate(bytes: Uint8Array): ProgramEvent[] {
  const lines: StreamJsonMessage[] = [];
  const sink = { message: (line: StreamJsonMessage) => lines.push(line), issue: () => {} };
  const reader = new StreamJsonReader();
  reader.read(bytes, sink);
  reader.readEnd(sink);
  const translator = new ProgramTranslator({
    agent: agent(),
    members: [],
    asks: new Asks(() => {}),
    tools: new ToolServer([], () => {}),
    known: [],
    isResumed: false,
    hearsNested: true,
    onUnknownRequest: () => {},
  });
  return lines.flatMap((line) => translator.take(line));
}

function textsOf(events: readonly ProgramEvent[]): (string | number)[] {
  return events.flatMap((event) => {
    if (event.type !== 'block_ended') return [];
    const { content } = event;
    const text = content.type === 'text' ? content.text : content.type === 'thinking' ? content.thinking : '';
    if (text === '') return [];
    return [text.length > LONG ? text.length : text];
  });
}

const LONG = 2_000;

/** An API error is the reason with which the turn, or the sub-agent, ends, and not a text. */
function toText({ kind, text = '', error }: Item): (string | number)[] {
  if ((kind !== 'text' && kind !== 'thinking') || text === '' || error !== undefined) return [];
  return [typeof text === 'string' ? text : text.length];
}

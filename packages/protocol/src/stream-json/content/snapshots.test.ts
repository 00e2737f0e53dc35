import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GeneratedStream, growingSnapshots, growingText } from '../../../../../bench/streams.ts';
import { assistant, briefs, call, text, thinking, translate } from '../../../../../test/support/lines.ts';
import { assertProperty } from '../../../../../test/support/seed.ts';
import type { AgentEvent } from '../wire/events.ts';
import type { WireBlock } from '../wire/messages.ts';
import { parseLine } from '../lines/parse-line.ts';

const [A, B, C] = [text('A'), thinking('B'), call('toolu_C')];

/** Growing snapshots, as older documentation describes them: with and without ids of lines. */
describe.each([
  ['with uuids', (index: number) => ({ uuid: `u${index}` })],
  ['without uuids', () => ({})],
])('growing snapshots %s', (_, fields) => {
  const snapshots = (...contents: WireBlock[][]) =>
    contents.map((content, index) => assistant('m1', content, fields(index)));
  const ABC = ['main text_delta m1.0 A', 'main thinking_delta m1.1 B', 'main tool_use m1.2 toolu_C'];

  it('[S21] emits A, B, C once each', () => {
    expect(briefs(snapshots([A], [A, B], [A, B, C]))).toEqual(ABC);
    expect(briefs(snapshots([A, B], [A, B, C]))).toEqual(ABC);
    expect(briefs(snapshots([A, B, C]))).toEqual(ABC);
  });

  it('[S25] emits nothing for a snapshot that equals the last', () => {
    expect(briefs(snapshots([A, B], [A, B], [A, B, C], [A, B, C], [A, B, C]))).toEqual(ABC);
  });

  it('[S26] emits nothing more when a shorter version of the message arrives', () => {
    expect(briefs(snapshots([A, B, C], [A], [A, B]))).toEqual(ABC);
    expect(briefs(snapshots([A], [A, B], [A, B, C], [A], [A, B], [A, B, C], [A]))).toEqual(ABC);
  });

  it('[S24] replaces a block whose content has changed', () => {
    const changed = translate(snapshots([A, B], [A, B, C], [text('X'), B, call('toolu_C', 'Bash', { command: 'ls' })]));
    expect(changed.slice(3)).toEqual([
      place(3, { type: 'replace', message_id: 'm1', block: 0, kind: 'text', content: 'X', value: text('X') }),
      place(4, {
        type: 'replace',
        message_id: 'm1',
        block: 2,
        kind: 'tool_use',
        value: call('toolu_C', 'Bash', { command: 'ls' }),
      }),
    ]);
  });

  it('[S24] replaces a text that becomes shorter and a block that becomes of another kind', () => {
    const [AA, BB] = [text('AAAA'), text('BB')];
    expect(briefs(snapshots([AA, BB], [AA, BB], [text('AA'), BB], [text('AA'), thinking('B?')])).slice(2)).toEqual([
      'main replace m1.0 AA',
      'main replace m1.1 B?',
    ]);
  });

  it('[S28] emits nothing when only a signature changes', () => {
    const signed = (signature: string) => ({ ...thinking('hm'), signature });
    expect(briefs(snapshots([signed('')], [signed('a'), A], [signed('ab'), A], [signed('abc'), A]))).toEqual([
      'main thinking_delta m1.0 hm',
      'main text_delta m1.1 A',
    ]);
  });

  it('[S21] knows calls without an id by their place', () => {
    const bare = { type: 'tool_use', id: '', name: 'Bash', input: {} };
    expect(briefs(snapshots([bare], [bare, A], [bare, A, B]))).toEqual([
      'main tool_use m1.0 ',
      'main text_delta m1.1 A',
      'main thinking_delta m1.2 B',
    ]);
  });
});

describe('growing snapshots', () => {
  it('[S22] emit each of 600 blocks once', () => {
    const stream = growingSnapshots({ messages: 3, blocks: 200, length: 40 });
    const said = spoken(stream);
    expect(said.size).toBe(600);
    expect([...said.values()].flat().length).toBe(600);
    expect([...said].map(([key, pieces]) => [key, pieces.join('')])).toEqual(expected(stream));
  });

  it('[S23] emit the new part of a growing text', () => {
    const lines = ['ab', 'abcd', 'abcd', 'abcde'].map((content) => assistant('m1', [text(content)]));
    expect(briefs(lines)).toEqual(['main text_delta m1.0 ab', 'main text_delta m1.0 cd', 'main text_delta m1.0 e']);
  });

  it('[S23] emit the new part with uuids once the stream has repeated itself', () => {
    const contents = [[A], [A, text('ab')], [A, text('abcd')], [text('Ax'), text('abcd')]];
    const lines = contents.map((content, index) => assistant('m1', content, { uuid: `u${index}` }));
    expect(briefs(lines).slice(1)).toEqual([
      'main text_delta m1.1 ab',
      'main text_delta m1.1 cd',
      'main text_delta m1.0 x',
    ]);
    const next = assistant('m2', [text('ab')], { uuid: 'u8' });
    const grown = assistant('m2', [text('abc')], { uuid: 'u9' });
    expect(briefs([...lines, next, grown]).slice(4)).toEqual(['main text_delta m2.0 ab', 'main text_delta m2.0 c']);
  });

  it('[S23] add up to the final text of (b3) and of (b) that grows in place', () => {
    for (const stream of [
      growingText({ total: 20_000, unicode: 0.3 }),
      growingSnapshots({ messages: 2, blocks: 12, growSteps: 5, unicode: 0.3 }),
    ]) {
      expect([...spoken(stream)].map(([key, pieces]) => [key, pieces.join('')])).toEqual(expected(stream));
    }
  });

  it('[S27] join to the exact text wherever escapes, surrogate pairs and sequences are cut', () => {
    const final = 'a"\\\n\u0007é漢🧵🧑‍🚀e\u0301\ud83d x \ude00 \u2028🇩🇪';
    for (let cut = 1; cut < final.length; cut++) {
      const lines = [final.slice(0, cut), final].map((content) => assistant('m1', [text(content)]));
      expect(texts(translate(lines))).toBe(final);
    }
    assertProperty(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat(100)), (whole, cuts) => {
        const lengths = [...cuts.filter((cut) => cut <= whole.length).sort((a, b) => a - b), whole.length];
        expect(texts(translate(lengths.map((cut) => assistant('m1', [text(whole.slice(0, cut))]))))).toBe(whole);
      }),
    );
  });

  it('[S20] without message id go to the longest stream that they begin with', () => {
    const contents = [[A], [text('other')], [A, B], [text('other'), C], [A, B, text('end')]];
    expect(briefs(contents.map((content) => assistant('', content)))).toEqual([
      'main text_delta .0 A',
      'main text_delta .1 other',
      'main thinking_delta .2 B',
      'main tool_use .3 toolu_C',
      'main text_delta .4 end',
    ]);
  });
});

function place(seq: number, body: object): object {
  return { seq, stream_id: 0, depth: 0, thread: 'main', ...body };
}

function texts(events: AgentEvent[]): string {
  return events.map((event) => (event.type === 'text_delta' ? event.content : `unexpected ${event.type}`)).join('');
}

/** The pieces of each block, by its place. */
function spoken({ lines }: GeneratedStream): Map<string, string[]> {
  const pieces = new Map<string, string[]>();
  for (const event of translate(lines.map((line) => parseLine(line)!))) {
    if (event.type !== 'text_delta' && event.type !== 'thinking_delta' && event.type !== 'tool_use') continue;
    const key = `${event.message_id}.${event.block}`;
    const piece = event.type === 'tool_use' ? event.toolUseId : event.content;
    pieces.set(key, [...(pieces.get(key) ?? []), piece]);
  }
  return pieces;
}

function expected({ blocks }: GeneratedStream): [string, string][] {
  return blocks.map(({ messageId, index, text: final }) => [`${messageId}.${index}`, final]);
}

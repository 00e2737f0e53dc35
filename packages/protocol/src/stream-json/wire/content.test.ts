import { readdirSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extractContent, parseDoubleEncoded } from './content.ts';

describe('extractContent', () => {
  it('[S52] takes the three documented shapes: string, text parts, null', () => {
    expect(extractContent('file contents here')).toBe('file contents here');
    expect(extractContent([{ type: 'text', text: 'File edited' }])).toBe('File edited');
    expect(extractContent(null)).toBe('');
    expect(extractContent(undefined)).toBe('');
    expect(extractContent([])).toBe('');
    expect(extractContent('')).toBe('');
  });

  it('[S52] joins text parts by newlines and skips every other part', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } };
    expect(
      extractContent([{ type: 'text', text: 'a' }, image, { type: 'text', text: '' }, { type: 'text', text: 'b' }]),
    ).toBe('a\n\nb');
    expect(extractContent([image])).toBe('');
    expect(extractContent([{ type: 'thinking', thinking: 'hm' }, null, 7, { type: 'text', text: 5 }, 'bare'])).toBe(
      'bare',
    );
  });

  it('[S52] finds the text of nested results', () => {
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'inner' }] };
    expect(extractContent([{ type: 'text', text: 'outer' }, result])).toBe('outer\ninner');
    expect(extractContent(result)).toBe('inner');
    expect(extractContent([[{ type: 'text', text: 'a' }], { type: 'tool_result', content: 'b' }])).toBe('a\nb');
    expect(extractContent({ type: 'tool_result', content: null })).toBe('');
  });

  it('[S52] gives anything else as text and never throws', () => {
    expect(extractContent(5)).toBe('5');
    expect(extractContent(false)).toBe('false');
    expect(extractContent({ stdout: 'x' })).toBe('{"stdout":"x"}');
    expect(extractContent(1n)).toBe('1');
    const round: unknown[] = [{ type: 'text', text: 'a' }];
    round.push(round);
    expect(extractContent(round)).toMatch(/^a(\na)*$/);
    expect(extractContent({ n: 1n })).toBe('');
    expect(extractContent(JSON.parse(`${'['.repeat(50_000)}"deep"${']'.repeat(50_000)}`))).toBe('');
    fc.assert(fc.property(fc.anything(), (value) => typeof extractContent(value) === 'string'));
  });

  it.each(['2.1.197', '2.1.325'])('[S52] gives the expected text of every result that %s wrote', (version) => {
    const folder = new URL(`../../../../../fixtures/stream-json/${version}/`, import.meta.url);
    let compared = 0;
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.ndjson'))) {
      const expected = JSON.parse(
        readFileSync(new URL(file.replace('.ndjson', '.expected.json'), folder), 'utf8'),
      ) as Expected;
      const contents = toolResults(readFileSync(new URL(file, folder), 'utf8'));
      for (const { toolUseId, text } of expected.toolResults) {
        // Long texts are given as length and hash, and are compared by the translator's tests.
        if (typeof text !== 'string') continue;
        // The recordings name parts that are not text; the helper leaves them out.
        const withoutNames = text
          .split('\n')
          .filter((line) => line !== '[image]')
          .join('\n');
        expect(extractContent(contents.get(toolUseId)), `${file} ${toolUseId}`).toBe(withoutNames);
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(200);
  });
});

describe('parseDoubleEncoded', () => {
  it('[S49] decodes the JSON text of a string once', () => {
    expect(parseDoubleEncoded('"The actual text here"')).toBe('The actual text here');
    expect(parseDoubleEncoded('"a\\n\\"b\\""')).toBe('a\n"b"');
    expect(parseDoubleEncoded('"\\"twice\\""')).toBe('"twice"');
  });

  it('[S49] leaves every other text as it is', () => {
    for (const text of ['plain', '', '"open', '"a" and "b"', '{"a":1}', '[1]', '42', 'null', ' x ']) {
      expect(parseDoubleEncoded(text)).toBe(text);
    }
  });

  it('[S49] gives null as empty, other values as text, and never throws', () => {
    expect(parseDoubleEncoded(null)).toBe('');
    expect(parseDoubleEncoded(undefined)).toBe('');
    expect(parseDoubleEncoded({ a: 1 })).toBe('{"a":1}');
    fc.assert(fc.property(fc.anything(), (value) => typeof parseDoubleEncoded(value) === 'string'));
    fc.assert(fc.property(fc.string(), (text) => parseDoubleEncoded(JSON.stringify(text)) === text));
  });
});

interface Expected {
  toolResults: { toolUseId: string; text: unknown }[];
}

function toolResults(ndjson: string): Map<string, unknown> {
  const contents = new Map<string, unknown>();
  for (const line of ndjson.split('\n')) {
    if (!line.includes('"tool_result"')) continue;
    const message = JSON.parse(line) as { message?: { content?: unknown } };
    if (!Array.isArray(message.message?.content)) continue;
    for (const block of message.message.content as { type: string; tool_use_id: string; content: unknown }[]) {
      if (block.type === 'tool_result') contents.set(block.tool_use_id, block.content);
    }
  }
  return contents;
}

import { describe, expect, it } from 'vitest';
import { generatedStreams } from '../../../../test/support/generated.ts';
import { recordings } from '../../../../test/support/recordings.ts';
import { isLong, randomText, seed, timeout } from '../../../../test/support/seed.ts';
import { mutatedSnapshots } from '../../../../test/support/mutated-snapshots.ts';
import { createAccelerator } from './accelerator.ts';
import { type Platform, platform, webPlatform } from './lines/platform.ts';
import { StreamTranslator, type StreamTranslatorOptions } from './translator/stream-translator.ts';

/** Everything that a stream's translation can be seen by. */
interface Outcome {
  events: string[];
  state: string;
  drift: string;
  invalidBytes: number;
  sessionId: string | undefined;
}

/** The way that parses every line whole is right by its own tests; here the two are held against each other. */
describe('with the accelerator', () => {
  it('[S29] every generated stream gives the same', () => {
    for (const [name, { lines }] of generatedStreams()) {
      const bytes = lines.map((line) => new TextEncoder().encode(`${line}\n`));
      expect(outcome(bytes, accelerated()), name).toEqual(outcome(bytes));
    }
  });

  it('[S29] every recording gives the same', () => {
    for (const recording of recordings()) {
      const chunks = inPieces(recording.bytes(), 2_000);
      expect(outcome(chunks, accelerated()), recording.name).toEqual(outcome(chunks));
    }
  });

  it('[S29] snapshots with every kind of damage give the same, and most take the short way', { timeout }, () => {
    const random = randomText();
    const counts = { lines: 0, short: 0 };
    for (let stream = 0; stream < (isLong ? 50_000 : 900); stream++) {
      const lines = mutatedSnapshots(random, 5 + random.below(25));
      const on = outcome(lines, accelerated(stream % 2 === 0 ? platform : webPlatform, counts));
      expect(on, `stream ${stream}, FLEETLOOM_SEED=${seed}`).toEqual(outcome(lines));
      counts.lines += lines.length;
    }
    // Before a stream has repeated itself, and where it is damaged, lines are parsed whole.
    expect(counts.short / counts.lines).toBeGreaterThan(0.3);
  });

  it('[S29] growing streams are hardly ever parsed whole', () => {
    const shares = generatedStreams()
      .filter(([name]) => ['b', 'b, growing in place', 'b3'].includes(name))
      .map(([name, { lines }]) => {
        const counts = { short: 0 };
        outcome(
          lines.map((line) => new TextEncoder().encode(`${line}\n`)),
          accelerated(platform, counts),
        );
        return [name, counts.short / lines.length > 0.85];
      });
    expect(shares).toEqual([
      ['b', true],
      ['b, growing in place', true],
      ['b3', true],
    ]);
  });

  it('[S29] a line that is not JSON is reported as such, and no content in between is lost', () => {
    const line = (content: string, uuid: number) =>
      `{"type":"assistant","message":{"id":"m1","content":[${content}]},"parent_tool_use_id":null,"uuid":"u${uuid}"}\n`;
    const [a, b] = ['{"type":"text","text":"a"}', '{"type":"text","text":"b'];
    const lines = [line(a, 1), line(`${a},${b}"}`, 2), line(`${a},${b}c"},`, 3), line(`${a},${b}cd"}`, 4)];
    const bytes = lines.map((each) => new TextEncoder().encode(each));
    const { events } = outcome(bytes, accelerated());
    expect(events).toEqual(outcome(bytes).events);
    expect(events.map((event) => (JSON.parse(event) as { type: string; content?: string }).content)).toEqual([
      'a',
      'b',
      undefined,
      'cd',
    ]);
  });

  it('[S29] a content array under a key in disguise is not mistaken for another one behind it', () => {
    const block = '{"type":"text","text":"a"}';
    const line = (others: number, uuid: number) => {
      const array = Array.from({ length: others }, () => block).join(',');
      const message = `"message":{"id":"m1","c\\u006fntent":[${block}]},"other":{"content":[${array}]}`;
      return `{"type":"assistant",${message},"parent_tool_use_id":null,"uuid":"u${uuid}"}\n`;
    };
    const repeats = [1, 2].map(
      (count) => `{"type":"assistant","message":{"id":"m0","content":[${Array(count).fill(block).join(',')}]}}\n`,
    );
    const bytes = [...repeats, line(1, 1), line(2, 2), line(3, 3)].map((each) => new TextEncoder().encode(each));
    expect(outcome(bytes, accelerated())).toEqual(outcome(bytes));
  });
});

function outcome(chunks: Uint8Array[], options: StreamTranslatorOptions = {}): Outcome {
  const stream = new StreamTranslator(options);
  const { reader, translator } = stream;
  const events = chunks.flatMap((chunk) => stream.push(chunk));
  events.push(...stream.end());
  return {
    events: events.map((event) => JSON.stringify(event)),
    state: JSON.stringify(translator.snapshot()),
    drift: JSON.stringify(translator.drift()),
    invalidBytes: reader.invalidBytes,
    sessionId: translator.sessionId,
  };
}

/** Counts the lines that were not read whole. */
function accelerated(on: Platform = platform, counts = { short: 0 }): StreamTranslatorOptions {
  let longest = 0;
  const counting: Platform = {
    ...on,
    text: (bytes, start, end) => {
      longest = Math.max(longest, end - start);
      return on.text(bytes, start, end);
    },
  };
  const accelerator = createAccelerator(counting);
  return {
    platform: on,
    accelerator: {
      line: (bytes, start, end, translator) => {
        longest = 0;
        const isTaken = accelerator.line(bytes, start, end, translator);
        if (isTaken && longest < end - start) counts.short++;
        return isTaken;
      },
    },
  };
}

function inPieces(all: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.subarray(i * size, (i + 1) * size));
}

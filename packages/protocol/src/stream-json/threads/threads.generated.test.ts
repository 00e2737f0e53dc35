import { describe, expect, it } from 'vitest';
import { type GeneratedStream, interleavedAgents } from '../../../../../bench/streams.ts';
import { translate } from '../../../../../test/support/lines.ts';
import type { AgentEvent } from '../wire/events.ts';
import { parseLine } from '../lines/parse-line.ts';

const MODES = ['growing', 'one-block'] as const;

/** Twenty-five agents that speak at the same time, against the oracle of the generator. */
describe.each(MODES)('25 interleaved agents, %s', (mode) => {
  it('[S32] keep their blocks, all of them, once, in order', () => {
    for (const seed of [4, 5, 6]) {
      const stream = interleavedAgents({ mode, messages: 3, seed });
      const said = byThread(stream);
      expect(said.size).toBe(26);
      expect(Object.fromEntries(said)).toEqual(oracle(stream));
    }
  });

  it('[S33] keep them without message ids', () => {
    const stream = interleavedAgents({ mode, messages: 3, withId: false });
    expect(Object.fromEntries(byThread(stream))).toEqual(oracle(stream));
  });

  it('[S33] keep them with the same 80 characters in front', () => {
    const stream = interleavedAgents({ mode, messages: 3, sameOpening: true });
    expect(Object.fromEntries(byThread(stream))).toEqual(oracle(stream));
    const bare = interleavedAgents({ mode, messages: 3, sameOpening: true, withId: false });
    expect(Object.fromEntries(byThread(bare))).toEqual(oracle(bare));
  });

  it('[S33] lose and repeat nothing where no line names its agent', () => {
    for (const withId of [true, false]) {
      const stream = interleavedAgents({ mode, messages: 3, withParent: false, withId, sameOpening: true });
      const said = byThread(stream).get('main') ?? [];
      expect(said.toSorted()).toEqual(stream.blocks.map(({ text }) => text).toSorted());
      // What one agent said comes in its own order.
      for (const own of Object.values(oracle(stream))) {
        const places = own.map((text) => said.indexOf(text));
        expect(places).toEqual(places.toSorted((a, b) => a - b));
      }
    }
  });
});

/** What each agent said: the text of each block, the id of each call. */
function byThread({ lines }: GeneratedStream): Map<string, string[]> {
  const said = new Map<string, Map<string, string>>();
  for (const event of translate(lines.map((line) => parseLine(line)!))) {
    const piece = pieceOf(event);
    if (piece === undefined) continue;
    const blocks = said.get(event.thread) ?? new Map<string, string>();
    said.set(event.thread, blocks);
    const place = 'block' in event ? `${event.message_id} ${event.block}` : '';
    if (blocks.has(place)) throw new Error(`${event.thread} ${place} is said twice`);
    blocks.set(place, piece);
  }
  return new Map([...said].map(([thread, blocks]) => [thread, [...blocks.values()]]));
}

function pieceOf(event: AgentEvent): string | undefined {
  if (event.type === 'text_delta' || event.type === 'thinking_delta') return event.content;
  return event.type === 'tool_use' ? event.toolUseId : undefined;
}

function oracle({ blocks }: GeneratedStream): Record<string, string[]> {
  const byAgent: Record<string, string[]> = {};
  for (const { agent, text } of blocks) (byAgent[agent ?? 'main'] ??= []).push(text);
  return byAgent;
}

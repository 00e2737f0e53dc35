import { watchFleet } from '@fleetloom/client';
import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { expect, it } from 'vitest';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { delegate, withClaudeServer } from './claude-server.ts';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';

await describeWithClaudeCode('the fleet stream of the real program', ({ path }) => {
  it('[J45] the texts of two sub-agents grow at the same time, piece by piece, and add up to what they said', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession({ roster: [{ name: 'worker' }] });
      const text = (name: string) => Array.from({ length: 20 }, (_, at) => `${name} ${at}.`).join(' ');
      const child = (name: string) => script([{ say: text(name), chunks: 20, every_ms: 100 }]);
      const both = ['alpha', 'beta'].map((name) => delegate('worker', name, child(name)));
      const events: FleetEvent[] = [];
      const reading = (async () => {
        for await (const event of watchFleet({ url: server.url, key: server.key, session })) {
          events.push(event);
          if (event.type === 'done') return;
        }
      })();
      await server.run(session, `Go. ${script(both, [{ say: 'Done.' }])}`);
      await reading;

      const grown = events.filter((event) => event.type === 'text' && event.depth === 1);
      const streams = [...new Set(grown.map(streamOf))];
      const texts = streams.map((id) => grown.filter((event) => streamOf(event) === id).map(deltaOf));
      expect(texts.map((pieces) => pieces.join('')).toSorted()).toEqual([text('alpha'), text('beta')]);
      for (const pieces of texts) expect(pieces.length).toBeGreaterThan(5);
      // One and the other, again and again.
      const changes = grown.filter((event, at) => at > 0 && streamOf(event) !== streamOf(grown[at - 1]!));
      expect(changes.length).toBeGreaterThan(3);

      const { frames, problems } = await server.log(session);
      expect(problems).toEqual([]);
      const whole = frames.filter(({ type, turn }) => type === 'agent.message' && turn?.depth === 1);
      expect(whole).toHaveLength(2);
      // Nearly all of the text arrived before the whole.
      for (const { seq, threadId } of whole) {
        const before = frames.filter((frame) => frame.type === 'delta.text' && frame.threadId === threadId);
        expect(before.every((frame) => frame.seq < seq)).toBe(true);
        expect(before.length).toBeGreaterThan(5);
      }
    });
  }, 120_000);
});

function streamOf(event: FleetEvent): number | undefined {
  return 'stream_id' in event ? event.stream_id : undefined;
}

function deltaOf(event: FleetEvent): string {
  return event.type === 'text' ? event.delta : '';
}

import { expect, it, vi } from 'vitest';
import { RandomText } from '../../bench/random-text.ts';
import { script } from '../../packages/server/src/engines/program-suite/conversation.suite.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { isLong, seed } from '../support/seed.ts';
import { bash, type ClaudeServer, toolset, withClaudeServer } from './claude-server.ts';

const ROUNDS = isLong ? 60 : 6;
const form = { type: 'custom', name: 'form', description: 'Asks', input_schema: { type: 'object', properties: {} } };

await describeWithClaudeCode('random answers to the real program', ({ path }) => {
  it(
    '[J245] of answers at random moments, twice, by two clients, beside interrupts and across restarts, each accepted one is in the log once, and no refused one is',
    async () => {
      console.log(`FLEETLOOM_SEED=${seed}`);
      const random = new RandomText(seed);
      await withClaudeServer(path, async (server) => {
        const session = await server.createSession({ tools: [toolset('always_ask'), form] });
        const accepted: string[] = [];
        const turn = [bash('true'), bash('echo two'), { call: 'mcp__fleetloom__form', input: {} }];
        const turns = Array.from({ length: 4 * ROUNDS }, () => turn);
        await server.say(session, `Go. ${script(...turns)}`);
        for (let round = 0; round < ROUNDS; round++) {
          const asks = await waitForAsks(server, session);
          const sending = asks.flatMap((ask) => {
            if (random.below(4) === 0) return [];
            return Array.from({ length: 1 + random.below(2) }, () => answer(server, session, ask, random, accepted));
          });
          if (random.below(3) === 0) await server.send(session, { type: 'user.interrupt' });
          await Promise.all(sending);
          if (round % 3 === 1) await server.restart();
          // Whatever was open before is answered once more, late or in time.
          await Promise.all(asks.map((ask) => answer(server, session, ask, random, accepted)));
          await server.say(session, 'Go on.');
        }
        await server.send(session, { type: 'user.interrupt' });
        await vi.waitFor(
          async () => expect((await server.client.beta.sessions.retrieve(session)).status).toBe('idle'),
          { timeout: 60_000 },
        );
        const { frames, problems } = await server.log(session);
        expect(problems).toEqual([]);
        const logged = frames.flatMap((frame) =>
          frame.type === 'user.tool_confirmation' || frame.type === 'user.custom_tool_result' ? [frame.payload.id] : [],
        );
        expect(logged.toSorted()).toEqual(accepted.toSorted());
        expect(accepted.length).toBeGreaterThan(0);
      });
    },
    isLong ? 1_200_000 : 240_000,
  );
});

interface Ask {
  readonly id: string;
  readonly isCustom: boolean;
}

/** The calls that wait; the newest ones, if the program goes on meanwhile. */
async function waitForAsks(server: ClaudeServer, session: string): Promise<readonly Ask[]> {
  return vi.waitFor(
    async () => {
      const { frames } = await server.log(session);
      const last = frames.findLast(({ type }) => type.startsWith('session.status_'));
      const stop = last?.type === 'session.status_idle' ? last.payload.stop_reason : undefined;
      if (stop?.type !== 'requires_action') throw new Error(`it waits for nothing: ${last?.type} ${stop?.type}`);
      const custom = new Set(
        frames.flatMap((frame) => (frame.type === 'agent.custom_tool_use' ? [frame.payload.id] : [])),
      );
      return stop.event_ids.map((id) => ({ id, isCustom: custom.has(id) }));
    },
    { timeout: 60_000, interval: 100 },
  );
}

async function answer(
  server: ClaudeServer,
  session: string,
  { id, isCustom }: Ask,
  random: RandomText,
  accepted: string[],
): Promise<void> {
  const result = random.pick(['allow', 'deny'] as const);
  const event = isCustom
    ? { type: 'user.custom_tool_result', custom_tool_use_id: id, content: [{ type: 'text', text: 'filled' }] }
    : { type: 'user.tool_confirmation', tool_use_id: id, result };
  await new Promise((resolve) => setTimeout(resolve, random.below(50)));
  try {
    const { data } = await server.client.beta.sessions.events.send(session, { events: [event as never] });
    accepted.push(...data!.map((sent) => (sent as { id: string }).id));
  } catch (error) {
    expect(String(error)).toMatch(/already answered|was withdrawn because|answered twice/);
  }
}

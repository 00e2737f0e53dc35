import { watchFleet } from '@fleetloom/client';
import { expect, it } from 'vitest';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { type ClaudeServer, delegate, withClaudeServer } from './claude-server.ts';
import { readTranscripts } from './transcripts.ts';

const slowly = { chunks: 40, every_ms: 250 };

await describeWithClaudeCode('interrupted answers of the real program', ({ path }) => {
  it('[J268] text of a sub-agent at its interrupt is in the log if the transcript has it, and otherwise not', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession({ roster: [{ name: 'worker' }] });
      const slow = { say: 'A text that goes on and on until a client interrupts it.', ...slowly };
      const child = script([{ think: 'Think first.' }, { say: 'One block.' }, slow], [{ say: 'Never.' }]);
      const stopping = interruptAt(server, session, 'A text');
      await server.run(session, `Go. ${script([delegate('worker', 'one', child)], [{ say: 'Done.' }])}`);
      await stopping;
      const said = await readChild(server, session);
      expect(said.slice(0, 2)).toEqual(['thinking Think first.', 'text One block.']);
      await expect.poll(() => readTranscripts(server.directory, session)).toContainEqual(said);
    });
  }, 120_000);

  it('[J264] text of a sub-agent when the endpoint broke off is in the log as in the transcript, and then the answer after it', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession({ roster: [{ name: 'worker' }] });
      const cut = [{ say: 'One block.' }, { say: 'Half a text', chunks: 3 }, { cut: { times: 1 } }];
      const child = script([...cut, { say: 'The rest.' }], [{ say: 'The second answer.' }]);
      await server.run(session, `Go. ${script([delegate('worker', 'one', child)], [{ say: 'Done.' }])}`);
      const said = await readChild(server, session);
      expect(said).toContain('text One block.');
      await expect.poll(() => readTranscripts(server.directory, session)).toContainEqual(said);
    });
  }, 120_000);
});

/** What the log has of the sub-agent. */
async function readChild(server: ClaudeServer, session: string): Promise<string[]> {
  const { frames, problems } = await server.log(session);
  expect(problems).toEqual([]);
  return frames.flatMap(({ type, payload, turn }) => {
    if (turn?.depth !== 1) return [];
    if (type === 'agent.message') return [`text ${payload.content[0]?.text}`];
    if (type !== 'agent.thinking' || payload.block.type !== 'thinking') return [];
    return [`thinking ${payload.block.thinking}`];
  });
}

/** Interrupts the thread that says this, as soon as a reader of the fleet stream has seen it. */
async function interruptAt({ url, key, client }: ClaudeServer, session: string, words: string): Promise<void> {
  const seen = new Map<string, string>();
  for await (const event of watchFleet({ url, key, session })) {
    if (event.type === 'done') return;
    if (event.type !== 'text' || typeof event.thread_id !== 'string') continue;
    const text = (seen.get(event.thread_id) ?? '') + event.delta;
    seen.set(event.thread_id, text);
    if (!text.includes(words)) continue;
    const interrupt = { type: 'user.interrupt', session_thread_id: event.thread_id };
    await client.beta.sessions.events.send(session, { events: [interrupt as never] });
    return;
  }
}

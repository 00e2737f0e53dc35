import { watchFleet } from '@fleetloom/client';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { type ClaudeServer, textsOf, withClaudeServer } from './claude-server.ts';

await describeWithClaudeCode('forks of sessions of the real program', ({ path }) => {
  it('[J318] a session that was forked at its end continues with the same conversation, and both continue independently, also after a restart', async () => {
    await withClaudeServer(path, async (server) => {
      const { session, say } = await begin(server);
      await say('The first word is apple.');
      const fork = await server.fork(session);
      expect(textsOf(await server.run(fork, 'Recall.'))).toEqual(['first=apple second=']);
      expect(textsOf(await server.run(fork, 'The second word is banana.'))).toEqual(['Noted.']);
      await say('The second word is cherry.');
      await server.restart();
      expect(textsOf(await server.run(fork, 'Recall.'))).toEqual(['first=apple second=banana']);
      expect(textsOf(await server.run(session, 'Recall.'))).toEqual(['first=apple second=cherry']);
      for (const id of [session, fork]) expect((await server.log(id)).problems).toEqual([]);
      const { frames } = await server.log(fork);
      const conversations = frames.flatMap((frame) =>
        frame.type === 'program.opened' ? [frame.payload.conversation] : [],
      );
      expect(new Set(conversations).size).toBe(2);
    });
  }, 180_000);

  it('[J319] a session that was forked at an earlier turn knows what was said until then, and nothing of what came later', async () => {
    await withClaudeServer(path, async (server) => {
      const { session, say } = await begin(server);
      await say('The first word is apple.');
      const cursors: string[] = [];
      for await (const event of watchFleet({ url: server.url, key: server.key, session, follow: false })) {
        if (event.type === 'done' && event.cursor !== null) cursors.push(event.cursor);
      }
      await say('The second word is cherry.');
      const fork = await server.fork(session, { at: cursors.at(-1) });
      expect(textsOf(await server.run(fork, 'Recall.'))).toEqual(['first=apple second=']);
      expect(textsOf(await server.run(session, 'Recall.'))).toEqual(['first=apple second=cherry']);
      // A fork of a fork, before it has said anything.
      const again = await server.fork(await server.fork(session, { at: cursors.at(-1) }));
      expect(textsOf(await server.run(again, 'Recall.'))).toEqual(['first=apple second=']);
    });
  }, 180_000);

  it('[J320] a fork from before the first turn begins a new conversation, and one without a transcript is 409 `not_forkable` and leaves nothing', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const early = await server.fork(session);
      expect(textsOf(await server.run(early, `Go. ${script([{ say: 'Early.' }])}`))).toEqual(['Early.']);
      // Until then its program may write to the transcript.
      await server.restart();
      const before = await readdir(join(server.directory, 'program-homes'));
      await rm(join(server.directory, 'program-homes', early, '.claude', 'projects'), { recursive: true });
      const refused = await post(server, `/v1/sessions/${early}/fork`, {});
      expect(refused.status).toBe(409);
      expect(await refused.json()).toMatchObject({ error: { details: { error_code: 'not_forkable' } } });
      // What was made ready is removed in the background.
      await expect.poll(() => readdir(join(server.directory, 'program-homes'))).toEqual(before);
    });
  }, 120_000);
});

/** A session whose model answers with the words that it received. */
async function begin(server: ClaudeServer) {
  const recall = 'first={{find:first word is (\\w+)}} second={{find:second word is (\\w+)}}';
  const model = { when: [{ match: 'Recall', turn: [{ say: recall }] }], else: [{ say: 'Noted.' }] };
  const session = await server.createSession({ system: `<script>${JSON.stringify(model)}</script>` });
  const say = async (text: string) => void (await server.run(session, text));
  return { session, say };
}

async function post({ url, key }: ClaudeServer, path: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

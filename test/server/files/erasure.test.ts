import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import Anthropic, { toFile } from '@anthropic-ai/sdk';
import { expect, it, vi } from 'vitest';
import { filesWith } from '../workspaces/raw-files.suite.ts';
import { type TestServer, toScript, withServer } from '../server.suite.ts';

const CANARY = 'canary5d8c';

it('[H118] soon after a delete is answered, and surely after a stop, nothing of the session is in any file', async () => {
  await withServer(
    async (test) => {
      const { client, directory } = test;
      const kept = await fill(test, 'other7b1e');
      const session = await fill(test, CANARY);
      // It is in the database, in the workspace with an output that was too long, among the files and in answers.
      expect(filesWith(directory, CANARY)).toEqual(expect.arrayContaining([expect.stringMatching(/^fleetloom\.db/)]));
      expect(filesWith(join(directory, 'workspaces', session.id), CANARY)).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/canary5d8c\.txt$/),
          expect.stringMatching(/mounted/),
          expect.stringMatching(/^\.fleetloom\/outputs\//),
        ]),
      );
      // An uploaded file is the workspace's, and stays until it is deleted itself.
      await client.beta.files.delete(session.file);
      await client.beta.sessions.delete(session.id);
      await vi.waitFor(() => expect(filesWith(directory, CANARY)).toEqual([]), { timeout: 10_000, interval: 100 });
      await vi.waitFor(async () => expect(await readdir(join(directory, 'workspaces'))).toEqual([kept.id]), 10_000);
      const later = await test.restart();
      expect(filesWith(directory, CANARY)).toEqual([]);
      expect(JSON.stringify((await later.client.beta.sessions.events.list(kept.id)).data)).toContain('other7b1e');
      // What is deleted right before a stop.
      await later.client.beta.files.delete(kept.file);
      await later.client.beta.sessions.delete(kept.id);
      await later.server.close();
      expect(filesWith(directory, 'other7b1e')).toEqual([]);
    },
    // No process runs the session, so that its events stay queued.
    { webhooks: { urls: ['http://127.0.0.1:9/'] }, onProblem: () => {} },
  );
});

/** A session that has the text in every place that a session has. */
async function fill({ client }: TestServer, text: string): Promise<{ id: string; file: string }> {
  const lines = Array.from({ length: 12_000 }, (_, line) => `${line} ${text}`).join('\n');
  const file = await client.beta.files.upload({ file: await toFile(Buffer.from(lines), 'mounted.txt') });
  // The definition of an agent is not part of a session, so the user says what the model then repeats.
  const system = toScript([
    [
      { think: '{{last_user}}' },
      { say: '{{last_user}}', chunks: 3 },
      { call: 'write', input: { file_path: '{{last_user}}.txt', content: '{{last_user}}' } },
    ],
    [{ call: 'read', input: { file_path: '/mnt/session/uploads/mounted.txt' } }],
    [{ call: 'ask', input: { question: '{{last_user}}' } }],
    [{ say: 'it was {{last_result}}' }],
  ]);
  const agent = await client.beta.agents.create({
    name: 'a',
    model: 'scripted/inline',
    system,
    tools: [
      { type: 'agent_toolset_20260401', configs: [{ name: 'write', permission_policy: { type: 'always_ask' } }] },
      { type: 'custom', name: 'ask', description: 'asks', input_schema: { type: 'object' } },
    ],
  });
  const environment = await client.beta.environments.create({ name: 'here' });
  const made = await client.beta.sessions.create(
    {
      agent: agent.id,
      environment_id: environment.id,
      title: `title ${text}`,
      metadata: { note: text },
      resources: [{ type: 'file', file_id: file.id }],
    },
    { headers: { 'idempotency-key': `create ${text}` } },
  );
  const { id } = made;
  const send = (event: Sent) =>
    client.beta.sessions.events.send(
      id,
      { events: [event] },
      { headers: { 'idempotency-key': `${event.type} ${text}` } },
    );
  const said = [{ type: 'text' as const, text }];
  await send({ type: 'user.message', content: said });
  await send({
    type: 'user.tool_confirmation',
    tool_use_id: await findOne(client, id, 'agent.tool_use'),
    result: 'allow',
  });
  const question = await findOne(client, id, 'agent.custom_tool_use');
  await send({ type: 'user.custom_tool_result', custom_tool_use_id: question, content: said });
  await vi.waitFor(
    async () => expect(JSON.stringify(await listEvents(client, id))).toContain(`it was ${text}`),
    PATIENCE,
  );
  await vi.waitFor(async () => expect((await client.beta.sessions.retrieve(id)).status).toBe('idle'), PATIENCE);
  return { id, file: file.id };
}

type Sent = Anthropic.Beta.Sessions.EventSendParams['events'][number];

const PATIENCE = { timeout: 20_000 };

/** The id of the first event of a type, when the session waits for an answer to it. */
async function findOne(client: Anthropic, sessionId: string, type: string): Promise<string> {
  return await vi.waitFor(async () => {
    const events = await listEvents(client, sessionId);
    const found = events.find((event) => event.type === type);
    const { status } = await client.beta.sessions.retrieve(sessionId);
    if (found === undefined || status !== 'idle') throw new Error(`${sessionId} does not wait for ${type}`);
    return found.id;
  }, PATIENCE);
}

async function listEvents(client: Anthropic, sessionId: string) {
  return (await client.beta.sessions.events.list(sessionId, { limit: 100 })).data as { id: string; type: string }[];
}

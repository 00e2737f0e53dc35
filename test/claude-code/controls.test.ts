import { join } from 'node:path';
import { watchFleet } from '@fleetloom/client';
import { expect, it, vi } from 'vitest';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { bash, type ClaudeServer, delegate, isAtRest, textsOf, withClaudeServer } from './claude-server.ts';

await describeWithClaudeCode('requests to the real program outside of its turns', ({ path, version }) => {
  it('[J387, V166] files are rewound through the API to before a message, with the key in the log, also after a restart of the server', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const at = (name: string) => join(server.directory, 'workspaces', session, name);
      const write = (name: string, content: string) => ({ call: 'Write', input: { file_path: at(name), content } });
      const child = script([write('by-child.txt', 'child\n')], [{ say: 'Child.' }]);
      const steps = script(
        [write('a.txt', 'one\n'), bash('echo shell > by-bash.txt')],
        [{ say: 'One.' }],
        [write('a.txt', 'two\n'), write('b.txt', 'two\n'), delegate('general-purpose', 'Write', child)],
        [{ say: 'Two.' }],
        [{ say: 'Still here.' }],
      );
      await server.run(session, `Go. ${steps}`);
      await server.run(session, 'And now?');
      const [first, second] = await messagesOf(server, session);
      const dry = await rewind(server, session, { message_id: second, dry_run: true });
      expect([dry.status, messageOf(dry)]).toEqual([200, 'undefined']);
      expect(await server.files(session)).toEqual(['a.txt', 'b.txt', 'by-bash.txt', 'by-child.txt']);
      const done = await rewind(server, session, { message_id: second });
      expect(done).toEqual({ status: 200, json: { ...dry.json, dry_run: false } });
      const files = done.json['files'] as string[];
      expect(files.toSorted()).toEqual([at('a.txt'), at('b.txt')]);
      // Only edits of the main agent are rewound: the program has no checkpoints of sub-agents and of commands.
      expect(await server.files(session)).toEqual(['a.txt', 'by-bash.txt', 'by-child.txt']);
      expect(await server.readFile(session, 'a.txt')).toBe('one\n');
      await server.restart();
      expect(await rewind(server, session, { message_id: first })).toMatchObject({ status: 200 });
      expect(await server.files(session)).toEqual(['by-bash.txt', 'by-child.txt']);
      const { frames, problems } = await server.log(session);
      expect(problems).toEqual([]);
      const rewound = frames.flatMap((frame) => (frame.type === 'program.files_rewound' ? [frame.payload] : []));
      expect(rewound).toMatchObject([{ message_id: second }, { message_id: first }]);
      for (const { by } of rewound) expect(by).not.toBe('');
      // Managed Agents events have no rewinds: their readers know the types of the official API only.
      const events: string[] = [];
      for await (const event of server.client.beta.sessions.events.list(session)) events.push(event.type);
      expect(events.filter((type) => type.includes('rewound'))).toEqual([]);
      const { url, key } = server;
      const fleet: object[] = [];
      for await (const event of watchFleet({ url, key, session, follow: false }))
        if (event.type === 'files_rewound') fleet.push(event);
      expect(fleet).toMatchObject([
        { message_id: second, files_count: 2, by: rewound[0]!.by },
        { message_id: first, files_count: 1 },
      ]);
      // The conversation goes on where it was.
      expect(textsOf(await server.run(session, 'And after that?'))).toEqual(['Still here.']);
    });
  }, 180_000);

  it('[J388] of messages that were sent in one request only the first can be rewound to, and the refusal says what to do', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const at = (name: string) => join(server.directory, 'workspaces', session, name);
      const write = (name: string) => ({ call: 'Write', input: { file_path: at(name), content: 'x' } });
      const say = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] });
      const steps = script([write('a.txt')], [{ say: 'Done.' }]);
      await server.watch(
        session,
        () => server.send(session, say(`Go. ${steps}`), say('And more.')),
        (event) => event.type === 'session.status_idle',
      );
      const [first, behind] = await messagesOf(server, session);
      const refused = await rewind(server, session, { message_id: behind });
      expect(refused).toMatchObject({ status: 409, json: { error: { type: 'conflict_error' } } });
      expect(messageOf(refused)).toMatch(
        /the program refused for sevt_\w+: No file checkpoint found for this message: give the id of a user\.message event of this session; of several in one request, the first/,
      );
      expect(await rewind(server, session, { message_id: first })).toMatchObject({ status: 200 });
      expect(await server.files(session)).toEqual([]);
    });
  }, 120_000);

  it('[J388] a message that was sent during a turn can be rewound to, and so can the one that began the turn', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const file_path = join(server.directory, 'workspaces', session, 'b.txt');
      const write = { call: 'Write', input: { file_path, content: 'x' } };
      const wait = bash('touch begun; until [ -e go ]; do sleep 0.1; done');
      const joined = script([wait], [write], [{ say: 'Both.' }]);
      await server.watch(
        session,
        async () => {
          await server.say(session, `Go. ${joined}`);
          await vi.waitFor(async () => expect(await server.files(session)).toContain('begun'), { timeout: 30_000 });
          await server.say(session, 'And think of this.');
          await server.makeFile(session, 'go');
        },
        isAtRest,
      );
      const [first, joining] = await messagesOf(server, session);
      // Whether the file was written before or after the program took the message up is a matter of time.
      expect(await rewind(server, session, { message_id: joining })).toMatchObject({ status: 200 });
      expect(await rewind(server, session, { message_id: first })).toMatchObject({ status: 200 });
      expect(await server.files(session)).toEqual(['begun', 'go']);
    });
  }, 120_000);

  it('[J389] usage and diff are answered while the program runs, and refused with what to do where there is none', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const refused = await get(server, session, 'usage');
      expect(refused.status).toBe(409);
      expect(messageOf(refused)).toMatch(
        /the program of sesn_\w+ does not run: send a message, which starts the program/,
      );
      await server.run(session, script([bash('git init -q . && echo new > new.txt')], [{ say: 'Ready.' }]));
      const usage = await get(server, session, 'usage');
      expect(usage).toMatchObject({ status: 200, json: { type: 'program_usage', session_id: session } });
      expect(usage.json['models']).toMatchObject([{ model: expect.any(String), input_tokens: expect.any(Number) }]);
      const diff = await get(server, session, 'diff');
      if (version === '2.1.197') {
        expect(diff.status).toBe(409);
        expect(messageOf(diff)).toMatch(
          /this version of the program of sesn_\w+ has no diff of its workspace: install a newer/,
        );
      } else {
        expect(diff).toMatchObject({ status: 200, json: { type: 'program_diff' } });
      }
      const plain = await server.createSession({ model: 'scripted/echo' });
      for (const answer of [
        await get(server, plain, 'usage'),
        await get(server, plain, 'diff'),
        await rewind(server, plain, { message_id: 'sevt_1' }),
      ]) {
        expect(answer.status).toBe(409);
        expect(messageOf(answer)).toMatch(
          /is run by the model scripted\/echo: use a session whose model is claude-code/,
        );
      }
      const programs = await call(server, 'GET', '/v1/programs/claude-code');
      expect(programs.json['controls']).toEqual(
        version === '2.1.197' ? ['usage', 'rewind'] : ['usage', 'diff', 'rewind'],
      );
    });
  }, 120_000);
});

async function messagesOf(server: ClaudeServer, session: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const event of server.client.beta.sessions.events.list(session, { order: 'asc' })) {
    if (event.type === 'user.message') ids.push(event.id);
  }
  return ids;
}

const get = (server: ClaudeServer, session: string, what: string) =>
  call(server, 'GET', `/v1/sessions/${session}/program/${what}`);

const rewind = (server: ClaudeServer, session: string, body: object) =>
  call(server, 'POST', `/v1/sessions/${session}/program/rewind`, body);

interface Answer {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

async function call(server: ClaudeServer, method: string, path: string, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`${server.url}${path}`, { method, headers, ...sent });
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
}

function messageOf({ json }: Answer): string {
  return String((json['error'] as { message?: unknown } | undefined)?.message);
}

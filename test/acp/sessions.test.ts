import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { withServer } from '../server/server.suite.ts';
import { ClaudeServer, textsOf, toolset } from '../claude-code/claude-server.ts';
import { findProcesses } from '../claude-code/processes.ts';
import { acpWords as words, agentCommand } from './open-acp.ts';

const model = 'acp:test/default';
// Without a sandbox, which test/engines has: it starts faster.
const choice = {
  command: agentCommand,
  workspaces: ['wrkspc_default'],
  isUnsandboxed: true,
  environment: { PATH: process.env['PATH'], FLEETLOOM_ACP: 'ends_at_denial', SECRET: 'not for agents' },
  passedVariables: ['FLEETLOOM_ACP'],
};

it('[AC1, AC15, AC23] a session on an ACP agent: approvals, a denial whose reason is read, an interrupt, a restart of the server, and nothing left behind', async () => {
  await withServer(
    async (test) => {
      const server = new ClaudeServer(test);
      const session = await server.createSession({ model, tools: [toolset('always_ask')] });
      const turns = script(
        [{ say: 'I begin.' }, words.bash('echo "$SECRET-$HOME-$TMPDIR" > kept')],
        [words.bash('touch unwanted')],
        [{ expect: { contains: 'Not this one.' } }, { say: 'Without it.' }],
        [words.bash('tail -f /dev/null')],
        [{ say: 'Next.' }],
        [{ say: 'Later.' }],
      );
      const decided = new Set<string>();
      const decide = async (event: { type: string; stop_reason?: unknown }) => {
        const stop = event.stop_reason as { type: string; event_ids: string[] } | undefined;
        if (event.type !== 'session.status_idle' || stop?.type !== 'requires_action') return;
        for (const id of stop.event_ids.filter((each) => !decided.has(each))) {
          decided.add(id);
          const answer = decided.size === 2 ? { result: 'deny', deny_message: 'Not this one.' } : { result: 'allow' };
          await server.send(session, { type: 'user.tool_confirmation', tool_use_id: id, ...answer });
          if (decided.size === 3) await server.send(session, { type: 'user.interrupt' });
        }
      };
      const first = await server.run(session, `Go. ${turns}`, decide);
      expect(textsOf(first)).toEqual(['I begin.', 'Without it.']);
      expect(await server.files(session)).toEqual(['kept']);
      await server.run(session, 'And now?', decide);
      expect(decided.size).toBe(3);
      expect(textsOf(await server.run(session, 'And now?'))).toEqual(['Next.']);
      await server.restart();
      expect(textsOf(await server.run(session, 'And then?'))).toEqual(['Later.']);
      const { frames, problems } = await server.log(session);
      expect(problems).toEqual([]);
      const ends = frames.flatMap((frame) => (frame.type === 'turn.ended' ? [frame.payload.stop_reason] : []));
      expect(ends).toEqual(['end_turn', 'cancelled', 'end_turn', 'end_turn']);
      // Nothing of the server's environment that was not passed on, and a home and temporary files of its own.
      const home = join(server.directory, 'acp-homes', 'test', session);
      expect(await server.readFile(session, 'kept')).toBe(`-${home}-${home}/tmp\n`);
      await server.client.beta.sessions.delete(session);
      await vi.waitFor(
        async () => expect(await readdir(join(server.directory, 'acp-homes', 'test'))).toEqual([]),
        20_000,
      );
      expect(findProcesses(server.directory)).toEqual([]);
    },
    { programs: { 'acp:test': choice } },
  );
}, 60_000);

it('[AC100] an approval that is pending when the server restarts is withdrawn with that reason, its call is not run, and the next message works', async () => {
  await withServer(
    async (test) => {
      const server = new ClaudeServer(test);
      const session = await server.createSession({ model, tools: [toolset('always_ask')] });
      let ask = '';
      await server.watch(
        session,
        () => server.say(session, `Go. ${script([words.bash('touch asked')], [{ say: 'Next.' }])}`),
        (event) => {
          if (event.type !== 'session.status_idle' || event.stop_reason.type !== 'requires_action') return false;
          ask = event.stop_reason.event_ids[0] ?? '';
          return true;
        },
      );
      await server.restart();
      const results = async () =>
        (await server.log(session)).frames.filter(({ type }) => type === 'agent.tool_result').length;
      await expect.poll(results, { timeout: 20_000 }).toBe(1);
      const late = { type: 'user.tool_confirmation', tool_use_id: ask, result: 'allow' };
      await expect(server.send(session, late)).rejects.toThrow('was withdrawn because the server restarted');
      expect(textsOf(await server.run(session, 'And now?'))).toEqual(['Next.']);
      expect(await server.files(session)).toEqual([]);
      expect((await server.log(session)).problems).toEqual([]);
    },
    { programs: { 'acp:test': choice } },
  );
}, 60_000);

it('[AC1, AC17] an agent that is not configured, not installed or not allowed is refused with what to do; each has its own description', async () => {
  const programs = {
    'acp:test': choice,
    'acp:missing': { ...choice, command: ['fleetloom-no-such-agent'] },
    'acp:closed': { ...choice, workspaces: [] },
    'acp:login': { ...choice, isUnsandboxed: false, usesOwnLogin: true },
  };
  await withServer(
    async (test) => {
      const server = new ClaudeServer(test);
      const describe = async (name: string) => {
        const headers = { authorization: `Bearer ${server.key}` };
        const response = await fetch(`${server.url}/v1/programs${name === '' ? '' : `/${encodeURIComponent(name)}`}`, {
          headers,
        });
        return [response.status, await response.json()];
      };
      expect(await describe('acp:test')).toMatchObject([
        200,
        { id: 'acp:test', version: null, capabilities: { approvals: 'program', resume: 'if_offered', roster: false } },
      ]);
      expect((await describe('acp'))[0]).toBe(404);
      const [, { data }] = (await describe('')) as [number, { data: { id: string }[] }];
      expect(data.map(({ id }) => id).filter((id) => id.startsWith('acp'))).toEqual([
        'acp:test',
        'acp:missing',
        'acp:login',
      ]);
      const refused = (status: number, message: string) => ({ status, message: expect.stringContaining(message) });
      const create = (name: string) => server.createSession({ model: `acp:${name}/default` });
      await expect(create('closed')).rejects.toMatchObject(refused(403, 'is not allowed to'));
      await expect(create('other')).rejects.toMatchObject(refused(403, 'is not allowed to'));
      await expect(create('login')).rejects.toMatchObject(refused(400, '--program-env'));
      const session = await create('missing');
      const events = await server.run(session, 'Go.');
      const errors = events.flatMap((event) => (event.type === 'session.error' ? [event.error.message] : []));
      expect(errors).toEqual([expect.stringContaining('no fleetloom-no-such-agent on PATH')]);
    },
    { programs },
  );
}, 60_000);

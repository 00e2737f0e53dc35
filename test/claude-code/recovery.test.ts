import { expect, it, vi } from 'vitest';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { bash, delegate, isAtRest, textsOf, withClaudeServer } from './claude-server.ts';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { findProcesses } from './processes.ts';

const forever = 'echo once >> count; tail -f /dev/null';

await describeWithClaudeCode('what survives of the real program', ({ path }) => {
  it('[J80] a restart in the middle of a turn ends it with an error, nothing is run twice, and the next message continues', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession({ roster: [{ name: 'worker' }] });
      const child = script([bash(forever)], [{ say: 'Never.' }]);
      const turns = script([{ say: 'I begin.' }, delegate('worker', 'look', child)], [{ say: 'I go on.' }]);
      await server.say(session, `Go. ${turns}`);
      await vi.waitFor(async () => expect(await server.files(session)).toEqual(['count']), { timeout: 60_000 });
      await server.restart();
      expect(findProcesses(server.directory)).toEqual([]);

      const isOver = async () => (await server.client.beta.sessions.retrieve(session)).status === 'idle';
      await vi.waitFor(async () => expect(await isOver()).toBe(true), { timeout: 60_000 });
      const { frames } = await server.log(session);
      const errors = frames.flatMap((frame) => (frame.type === 'session.error' ? [frame.payload] : []));
      expect(errors).toMatchObject([{ error: { message: expect.stringContaining('restarted') }, retry: 'exhausted' }]);
      expect(textsOf(await server.run(session, 'And now?'))).toEqual(['I go on.']);
      expect(await server.readFile(session, 'count')).toBe('once\n');
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 180_000);

  it('[J81] a program that dies is an error with its reason, every turn of it ends, and the next message starts it again', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession({ roster: [{ name: 'worker' }] });
      const child = script([bash(forever)], [{ say: 'Never.' }]);
      const turns = script([{ say: 'I begin.' }, delegate('worker', 'look', child)], [{ say: 'I go on.' }]);
      const begin = async () => {
        await server.say(session, `Go. ${turns}`);
        await vi.waitFor(async () => expect(await server.files(session)).toEqual(['count']), { timeout: 60_000 });
        // Only the program itself: what its tools have started has to go with it.
        for (const pid of await server.programs()) process.kill(pid, 'SIGKILL');
      };
      const events = await server.watch(session, begin, isAtRest);
      const [error] = events.filter(({ type }) => type === 'session.error');
      expect(error).toMatchObject({
        error: { message: expect.stringContaining('SIGKILL'), retry_status: { type: 'exhausted' } },
      });
      expect(findProcesses(server.directory)).toEqual([]);
      expect(textsOf(await server.run(session, 'And now?'))).toEqual(['I go on.']);
      expect(await server.readFile(session, 'count')).toBe('once\n');
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 180_000);

  it('[J82] a program that is not there is an error that says what to do', async () => {
    const claudeCode = { program: '/nowhere/claude', workspaces: ['wrkspc_default'] };
    await withClaudeServer(
      path,
      async (server) => {
        const session = await server.createSession();
        const events = await server.run(session, 'Hello?');
        const [error] = events.filter(({ type }) => type === 'session.error');
        expect(error).toMatchObject({
          error: { message: expect.stringMatching(/no file \/nowhere\/claude.*--claude/) },
        });
        expect((await server.log(session)).problems).toEqual([]);
      },
      { claudeCode },
    );
  }, 60_000);

  it('[J83] a session that is archived leaves no process behind', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      await server.run(session, `Go. ${script([{ say: 'Done.' }])}`);
      expect(findProcesses(server.directory)).not.toEqual([]);
      await server.client.beta.sessions.archive(session);
      expect(findProcesses(server.directory)).toEqual([]);
    });
  }, 60_000);
});

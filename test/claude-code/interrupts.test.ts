import { expect, it, vi } from 'vitest';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { bash, delegate, isAtRest, textsOf, toolset, withClaudeServer } from './claude-server.ts';
import { findProcesses } from './processes.ts';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';

/** Never ends on its own. The program refuses a plain sleep. */
const forever = 'tail -f /dev/null';

await describeWithClaudeCode('interrupts of the real program', ({ path }) => {
  it('[J50] an interrupt stops the program, the session becomes idle, and the next message works', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const turns = script([{ say: 'I begin.' }, bash(forever)], [{ say: 'I go on.' }]);
      const events = await server.run(session, `Go. ${turns}`, async (event) => {
        if (event.type === 'agent.tool_use') await server.send(session, { type: 'user.interrupt' });
      });
      expect(events.at(-1)).toMatchObject({ type: 'session.status_idle', stop_reason: { type: 'end_turn' } });
      expect(events.filter(({ type }) => type === 'agent.tool_result')).toMatchObject([{ is_error: true }]);
      expect(textsOf(await server.run(session, 'And now?'))).toEqual(['I go on.']);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);

  it('[J51] an interrupt of one sub-agent stops that one; the other, and who sent them, continue', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession({ roster: [{ name: 'worker' }] });
      const slow = delegate('worker', 'slow', script([bash(forever)], [{ say: 'Never.' }]));
      const quick = delegate('worker', 'quick', script([bash('touch quick')], [{ say: 'Quick is done.' }]));
      let isStopped = false;
      const events = await server.run(session, `Go. ${script([slow, quick], [{ say: 'All done.' }])}`, async () => {
        const { frames } = await server.log(session);
        const call = frames.find(
          ({ type, payload }) => type === 'agent.tool_use' && JSON.stringify(payload.input).includes(`"${forever}"`),
        );
        if (call === undefined || isStopped) return;
        isStopped = true;
        await server.send(session, { type: 'user.interrupt', session_thread_id: call.threadId });
      });
      expect(textsOf(events)).toEqual(['All done.']);
      expect(await server.files(session)).toEqual(['quick']);
      const { frames, problems } = await server.log(session);
      expect(problems).toEqual([]);
      const ends = frames.flatMap((frame) => (frame.type === 'turn.ended' ? [frame.payload.stop_reason] : []));
      expect(ends.toSorted()).toEqual(['cancelled', 'end_turn', 'end_turn']);
    });
  }, 120_000);

  it('[J52] an interrupt of a session that waits for decisions withdraws its approvals, and all threads are idle', async () => {
    await withClaudeServer(path, async (server) => {
      const asking = { name: 'worker', tools: [toolset('always_ask')] };
      const session = await server.createSession({ roster: [asking] });
      const work = ['one', 'two'].map((name) =>
        delegate('worker', name, script([bash(`touch ${name}`)], [{ say: 'Never.' }])),
      );
      const asks: string[] = [];
      await server.run(session, `Go. ${script(work, [{ say: 'On we go.' }])}`, async (event) => {
        if (event.type === 'agent.tool_use' && event.evaluated_permission === 'ask') asks.push(event.id);
        if (event.type === 'session.status_idle' && !isAtRest(event))
          await server.send(session, { type: 'user.interrupt' });
      });
      expect(asks).toHaveLength(2);
      const answer = { type: 'user.tool_confirmation', tool_use_id: asks[0], result: 'allow' };
      await expect(server.send(session, answer)).rejects.toThrow(/was withdrawn because the call was interrupted/);
      expect(await server.files(session)).toEqual([]);
      expect(textsOf(await server.run(session, 'And now?'))).toEqual(['On we go.']);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);

  it('[J405] a real program that hangs before its first turn is ended within 22 s of an interrupt, and the next message works', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      // Stopped processes stand for a machine that is too busy to start the program.
      const hold = async () => {
        await vi.waitFor(() => expect(findProcesses(server.directory)).not.toEqual([]), { timeout: 20_000 });
        for (const pid of findProcesses(server.directory)) process.kill(pid, 'SIGSTOP');
        await server.send(session, { type: 'user.interrupt' });
      };
      const begin = () => server.say(session, 'Go.').then(hold);
      await server.watch(session, begin, isAtRest);
      const { frames, problems } = await server.log(session);
      const timeOf = (wanted: string) => frames.find(({ type }) => type === wanted)!.time;
      expect(frames.some(({ type }) => type === 'program.opened')).toBe(false);
      expect(timeOf('turn.ended') - timeOf('turn.stopping')).toBeLessThan(22_000);
      expect(problems).toEqual([]);
      expect(findProcesses(server.directory)).toEqual([]);
      expect(textsOf(await server.run(session, `And now? ${script([{ say: 'Next.' }])}`))).toEqual(['Next.']);
    });
  }, 120_000);

  it('[J53] an interrupt right behind a message stops the turn that has hardly begun', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const slow = [{ say: 'Slowly, slowly.', chunks: 3, every_ms: 600_000 }];
      const whens = { when: [{ match: 'And now', turn: [{ say: 'Next.' }] }], else: slow };
      const text = `Go. <script>${JSON.stringify(whens)}</script>`;
      const message = { type: 'user.message', content: [{ type: 'text', text }] };
      await server.watch(session, () => server.send(session, message, { type: 'user.interrupt' }), isAtRest);
      expect(textsOf(await server.run(session, 'And now?'))).toEqual(['Next.']);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);
});

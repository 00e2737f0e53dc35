import { expect, it } from 'vitest';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { withServer } from '../server/server.suite.ts';
import { noSandbox } from '../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { ClaudeServer, textsOf, toolset } from '../claude-code/claude-server.ts';
import { describeWithProgram } from '../support/programs.ts';
import { opencodeWords as words } from './open-opencode.ts';

const model = 'opencode/scripted/default';

// Whole sessions through the official client: the real program, the scripted model behind it.
describeWithProgram('opencode', 'sessions of the real program', ({ path }) => {
  it('[OC28] sub-agents are threads, their approvals are decided by the client, and a restarted server continues the conversation', async () => {
    await withOpencode(path, async (server) => {
      const worker = { name: 'worker', model, tools: [toolset('always_ask')] };
      const session = await server.createSession({ model, roster: [worker] });
      const child = (name: string) => script([words.bash(`touch ${name}`)], [{ say: `${name} is over.` }]);
      const both = ['wanted', 'unwanted'].map((name) => words.delegate('worker', name, `Go. ${child(name)}`));
      const decided = new Set<string>();
      const turns = script(
        [{ think: 'Hm.' }, { say: 'I delegate.' }, ...both],
        [{ say: 'All done.' }],
        [{ say: 'Later.' }],
      );
      const events = await server.run(session, `Go. ${turns}`, async (event) => {
        const stop = event.type === 'session.status_idle' ? event.stop_reason : undefined;
        if (stop?.type !== 'requires_action') return;
        const { frames } = await server.log(session);
        for (const id of stop.event_ids.filter((each) => !decided.has(each))) {
          decided.add(id);
          const use = frames.find(
            ({ type, payload }) => type === 'agent.tool_use' && 'id' in payload && payload.id === id,
          );
          const isWanted = JSON.stringify(use?.payload).includes('touch wanted');
          const decision = isWanted ? { result: 'allow' } : { result: 'deny', deny_message: 'Not this one.' };
          await server.send(session, { type: 'user.tool_confirmation', tool_use_id: id, ...decision });
        }
      });
      expect(decided.size).toBe(2);
      expect(textsOf(events)).toEqual(['I delegate.', 'All done.']);
      expect(events.filter(({ type }) => type === 'session.thread_created')).toMatchObject([
        { agent_name: 'worker' },
        { agent_name: 'worker' },
      ]);
      expect(await server.files(session)).toEqual(['wanted']);
      const threads = await server.threads(session);
      expect(threads.map(({ status }) => status)).toEqual(['idle', 'idle', 'idle']);
      const own = threads.filter(({ parent_thread_id: parent }) => parent !== null);
      const said = await Promise.all(own.map(async ({ id }) => textsOf(await server.threadEvents(session, id))));
      expect(said.flat().toSorted()).toEqual(['unwanted is over.', 'wanted is over.']);
      const { frames, problems } = await server.log(session);
      expect(problems).toEqual([]);
      const denied = frames.filter(
        ({ type, payload }) => type === 'agent.tool_result' && JSON.stringify(payload).includes('Not this one.'),
      );
      expect(denied).toHaveLength(1);

      await server.restart();
      const later = await server.run(session, 'And now?');
      expect(textsOf(later)).toEqual(['Later.']);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 240_000);

  it('[OC110] an approval that is pending when the server ends is withdrawn, its call is not run, and the next message works', async () => {
    await withOpencode(path, async (server) => {
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
      await expect.poll(results, { timeout: 60_000 }).toBe(1);
      const late = { type: 'user.tool_confirmation', tool_use_id: ask, result: 'allow' };
      await expect(server.send(session, late)).rejects.toThrow('was withdrawn because the server restarted');
      expect(textsOf(await server.run(session, 'And now?'))).toEqual(['Next.']);
      expect(await server.files(session)).toEqual([]);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 240_000);

  it('[OC28] an interrupt by the client stops the turn and its command, and the next message is answered', async () => {
    await withOpencode(path, async (server) => {
      const session = await server.createSession({ model });
      const turns = script([{ say: 'I run it.' }, words.bash('tail -f /dev/null')], [{ say: 'Next.' }]);
      const events = await server.run(session, `Go. ${turns}`, async (event) => {
        if (event.type === 'agent.tool_use') await server.send(session, { type: 'user.interrupt' });
      });
      expect(textsOf(events)).toEqual(['I run it.']);
      expect(textsOf(await server.run(session, 'And now?'))).toEqual(['Next.']);
      const { frames, problems } = await server.log(session);
      expect(problems).toEqual([]);
      expect(frames.filter(({ type }) => type === 'turn.ended')).toMatchObject([
        { payload: { stop_reason: 'cancelled' } },
        { payload: { stop_reason: 'end_turn' } },
      ]);
    });
  }, 240_000);

  it('[MX222] a fork continues with the history until its turn, works in its own workspace, and both sessions continue independently', async () => {
    await withOpencode(path, async (server) => {
      const session = await server.createSession({ model });
      const turns = [
        [{ say: 'One.' }],
        [{ say: 'Two: {{find:Remember (\\w+)}}.' }, words.bash('touch here')],
        [{ say: 'Over.' }],
        [{ say: 'Three.' }],
      ];
      await server.run(session, `Remember apples. ${script(...turns)}`);
      const fork = await server.fork(session);
      expect(textsOf(await server.run(fork, 'And now?'))).toEqual(['Two: apples.', 'Over.']);
      expect([await server.files(fork), await server.files(session)]).toEqual([['here'], []]);
      expect(textsOf(await server.run(session, 'And now?'))).toEqual(['Two: apples.', 'Over.']);
      expect(textsOf(await server.run(fork, 'And then?'))).toEqual(['Three.']);
      // In the middle of the history.
      const end = (await server.log(session)).frames.find(({ type }) => type === 'run.ended');
      const early = await server.fork(session, { at: String(end?.seq) });
      expect(textsOf(await server.run(early, 'And now?'))).toEqual(['Two: apples.', 'Over.']);
      for (const id of [session, fork, early]) expect((await server.log(id)).problems).toEqual([]);
    });
  }, 300_000);
});

async function withOpencode(path: string, run: (server: ClaudeServer) => Promise<void>): Promise<void> {
  const environment = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' };
  const choice = { program: path, environment, workspaces: ['wrkspc_default'], isUnsandboxed: noSandbox !== undefined };
  await withServer((test) => run(new ClaudeServer(test)), { programs: { opencode: choice } });
}

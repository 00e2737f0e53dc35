import { expect, it } from 'vitest';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { bash, delegate, textsOf, withClaudeServer } from './claude-server.ts';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';

await describeWithClaudeCode('sub-agents of the real program that outlast a turn', ({ path }) => {
  it('[J70] a sub-agent in the background continues after the turn, and the program reads its report in a turn of its own', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession({ roster: [{ name: 'worker' }] });
      const child = script([{ say: 'I look.' }, bash('until [ -e go ]; do sleep 0.1; done')], [{ say: 'My report.' }]);
      const prompt = `Look. ${child}`;
      const launch = { subagent_type: 'worker', description: 'look', prompt, run_in_background: true };
      const turns = script(
        [{ call: 'Agent', input: launch }],
        [{ say: 'It is under way.' }],
        [{ say: 'It has reported.' }],
      );
      let isResting = false;
      const events = await server.run(session, `Go. ${turns}`, async (event) => {
        // The main agent is idle, the session is not.
        if (event.type !== 'session.thread_status_idle' || event.agent_name !== 'coordinator' || isResting) return;
        isResting = true;
        expect((await server.client.beta.sessions.retrieve(session)).status).toBe('running');
        await server.makeFile(session, 'go');
      });
      expect(textsOf(events)).toEqual(['It is under way.', 'It has reported.']);
      const { frames, problems } = await server.log(session);
      expect(problems).toEqual([]);
      expect(frames.filter(({ type }) => type === 'run.started')).toHaveLength(1);
      const [worker] = (await server.threads(session)).filter(({ parent_thread_id: parent }) => parent !== null);
      expect(textsOf(await server.threadEvents(session, worker!.id))).toEqual(['I look.', 'My report.']);
    });
  }, 120_000);

  it('[J71] a follow-up to a sub-agent that has ended is a further turn of the same thread, also after a restart', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession({ roster: [{ name: 'worker' }] });
      const child = script([{ say: 'First report.' }], [{ say: 'Second report.' }], [{ say: 'Third report.' }]);
      const begin = script(
        [delegate('worker', 'look', child)],
        [{ say: 'One.' }],
        [{ call: 'SendMessage', input: { to: '{{last_user}}', message: 'More, please.', summary: 'More please' } }],
        [{ say: 'Asked.' }],
        [{ say: 'Heard.' }],
        [{ call: 'SendMessage', input: { to: '{{last_user}}', message: 'Even more.', summary: 'Even more please' } }],
        [{ say: 'Asked again.' }],
        [{ say: 'Heard again.' }],
      );
      await server.run(session, `Go. ${begin}`);
      const { frames } = await server.log(session);
      const created = frames.find(({ type }) => type === 'session.thread_created');
      const key = created?.type === 'session.thread_created' ? String(created.payload.program_key) : '';
      await server.run(session, key);
      await server.restart();
      await server.run(session, key);

      const [worker, ...others] = (await server.threads(session)).filter(
        ({ parent_thread_id: parent }) => parent !== null,
      );
      expect(others).toEqual([]);
      const texts = textsOf(await server.threadEvents(session, worker!.id));
      expect(texts).toEqual(['First report.', 'Second report.', 'Third report.']);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 180_000);
});

import { expect, it } from 'vitest';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { bash, delegate, textsOf, toolset, withClaudeServer } from './claude-server.ts';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';

// Whole sessions through the official client: the real program, the scripted model behind it.
await describeWithClaudeCode('sessions of the real program', ({ path, version }) => {
  const worker = { name: 'worker' };

  it('[J40] a message is answered as by any other engine, and the next one continues with the same conversation', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const turns = script(
        [{ think: 'Hm.' }, { say: 'First.' }],
        [{ expect: { contains: ['And now?'] } }, { say: 'Second.' }],
      );
      const first = await server.run(session, `Begin. ${turns}`);
      expect(first.map(({ type }) => type)).toEqual([
        'session.status_running',
        'session.thread_status_running',
        'user.message',
        'span.model_request_start',
        'agent.thinking',
        'agent.message',
        'span.model_request_end',
        'session.thread_status_idle',
        'session.usage',
        'session.status_idle',
      ]);
      const second = await server.run(session, 'And now?');
      expect([...textsOf(first), ...textsOf(second)]).toEqual(['First.', 'Second.']);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);

  it('[J41] two sub-agents at the same time are two threads, with statuses, messages and calls of their own', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession({ roster: [worker] });
      const child = (name: string) =>
        script([{ say: `${name} looks.` }, bash(`echo ${name} > ${name}.txt`)], [{ say: `${name} is done.` }]);
      const both = ['alpha', 'beta'].map((name) => delegate('worker', name, child(name)));
      const events = await server.run(
        session,
        `Go. ${script([{ say: 'I delegate.' }, ...both], [{ say: 'All done.' }])}`,
      );

      expect(textsOf(events)).toEqual(['I delegate.', 'All done.']);
      const created = events.filter(({ type }) => type === 'session.thread_created');
      expect(created).toMatchObject([{ agent_name: 'worker' }, { agent_name: 'worker' }]);
      const threads = await server.threads(session);
      expect(threads.map(({ status }) => status)).toEqual(['idle', 'idle', 'idle']);
      const said: string[] = [];
      for (const { id, parent_thread_id: parent } of threads) {
        if (parent === null) continue;
        const own = await server.threadEvents(session, id);
        said.push(textsOf(own).join(' '));
        expect(own.map(({ type }) => type)).toEqual([
          'session.thread_status_running',
          'agent.thread_message_received',
          'span.model_request_start',
          'agent.message',
          'agent.tool_use',
          'span.model_request_end',
          'agent.tool_result',
          'span.model_request_start',
          'agent.message',
          'span.model_request_end',
          'agent.thread_message_sent',
          'session.thread_status_idle',
        ]);
      }
      expect(said.toSorted()).toEqual(['alpha looks. alpha is done.', 'beta looks. beta is done.']);
      expect(await server.files(session)).toEqual(['alpha.txt', 'beta.txt']);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);

  it('[J42] a sub-agent asks, and the answer of the client decides: what is allowed is run, what is denied is not', async () => {
    await withClaudeServer(path, async (server) => {
      const asking = { name: 'worker', tools: [toolset('always_ask')] };
      const session = await server.createSession({ roster: [asking] });
      const child = (name: string) => script([bash(`touch ${name}`)], [{ say: 'Reported.' }]);
      const both = ['wanted', 'unwanted'].map((name) => delegate('worker', name, child(name)));
      const asks: string[] = [];
      const events = await server.run(session, `Go. ${script(both, [{ say: 'Done.' }])}`, async (event) => {
        if (event.type === 'agent.tool_use' && event.evaluated_permission === 'ask') {
          expect(event.session_thread_id).toMatch(/^sthr_/);
          asks.push(event.id);
        }
        // Both wait at the same time, and are answered in one request and in the other order.
        const stop = event.type === 'session.status_idle' ? event.stop_reason : undefined;
        if (stop?.type !== 'requires_action') return;
        expect([...stop.event_ids].sort()).toEqual([...asks].sort());
        const { frames } = await server.log(session);
        const isWanted = (id: string) =>
          frames.some(
            ({ type, payload }) =>
              type === 'agent.tool_use' && payload.id === id && /touch wanted/.test(JSON.stringify(payload.input)),
          );
        const answers = asks.toReversed().map((id) => ({
          type: 'user.tool_confirmation',
          tool_use_id: id,
          ...(isWanted(id) ? { result: 'allow' } : { result: 'deny', deny_message: 'Not this one.' }),
        }));
        await server.send(session, ...answers);
      });
      expect(asks).toHaveLength(2);
      expect(await server.files(session)).toEqual(['wanted']);
      const { frames, problems } = await server.log(session);
      expect(problems).toEqual([]);
      const results = frames.flatMap((frame) => (frame.type === 'agent.tool_result' ? [frame.payload] : []));
      expect(results.filter(({ is_error: isError }) => isError)).toMatchObject([
        { content: [{ text: 'Not this one.' }] },
      ]);
      expect(textsOf(events)).toEqual(['Done.']);
    });
  }, 120_000);

  it('[J43] agents delegate as deep as the session allows where the program can be kept to it, and deeper ones are threads too', async () => {
    await withClaudeServer(path, async (server) => {
      // The scripts of sub-agents are in their definitions, where they are not unescaped.
      const deep = { name: 'deep', system: `You are deep. ${script([{ say: 'From the deep.' }])}` };
      const call = {
        call: 'Agent',
        input: { subagent_type: 'deep', description: 'deeper', prompt: 'Go deeper.', run_in_background: false },
      };
      const middle = { name: 'middle', system: `You are middle. ${script([call], [{ say: 'From the middle.' }])}` };
      const session = await server.createSession({ roster: [middle, deep] });
      const go = { subagent_type: 'middle', description: 'deep', prompt: 'Go deep.', run_in_background: false };
      await server.run(session, `Go. ${script([{ call: 'Agent', input: go }], [{ say: 'Done.' }])}`);
      const { frames, problems } = await server.log(session);
      expect(problems).toEqual([]);
      const created = frames.flatMap((frame) => (frame.type === 'session.thread_created' ? [frame] : []));
      const depths = created.map(({ payload }) => `${payload.agent_name} ${payload.depth}`);
      expect(depths).toEqual(version === '2.1.197' ? ['middle 1', 'deep 2'] : ['middle 1']);
      const said = frames.flatMap((frame) => (frame.type === 'agent.message' ? [frame.payload.content[0]?.text] : []));
      expect(said).toContain('From the middle.');
    });
  }, 120_000);
});

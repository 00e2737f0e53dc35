import { expect, it } from 'vitest';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { bash, type ClaudeServer, isAtRest, textsOf, toolset, withClaudeServer } from './claude-server.ts';

await describeWithClaudeCode('workflows of the real program', ({ path }) => {
  it('[J281] each agent is a thread below the workflow, with name, prompt, texts, calls, results and end, also without a call', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const events = await server.run(session, run());
      expect(textsOf(events)).toEqual(['I run it.', 'It runs.', 'It has ended.']);
      const threads = await threadsOf(server, session);
      const workflow = threads.get('two-looks');
      expect([...threads.keys()].toSorted()).toEqual(['alpha', 'beta', 'coordinator', 'gamma', 'two-looks']);
      expect(workflow?.parent_thread_id).toBe(threads.get('coordinator')?.id);
      expect([...threads.values()].map(({ status }) => status)).toEqual(Array.from(threads, () => 'idle'));
      const stories = new Map<string, string[]>();
      for (const name of ['alpha', 'beta', 'gamma']) {
        const thread = threads.get(name)!;
        expect(thread.parent_thread_id).toBe(workflow?.id);
        stories.set(name, (await server.threadEvents(session, thread.id)).flatMap(toWords));
      }
      expect(Object.fromEntries(stories)).toEqual({
        alpha: ['given Look at alpha.', 'text Alpha looks.', 'call Bash', 'result alpha', 'text Alpha report.', 'idle'],
        beta: ['given Look at beta.', 'thinking', 'text Beta report.', 'idle'],
        gamma: ['given Sum up.', 'text Gamma report.', 'idle'],
      });
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);

  it('[J282] the session runs until the workflow is over, and is idle after the turn that reads its report', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const wait = bash('until [ -e go ]; do sleep 0.1; done');
      let isReleased = false;
      const events = await server.run(session, run([[wait], [{ say: 'Alpha report.' }]]), async (event) => {
        if (event.type !== 'session.thread_status_idle' || event.agent_name !== 'coordinator' || isReleased) return;
        isReleased = true;
        expect((await server.client.beta.sessions.retrieve(session)).status).toBe('running');
        await server.makeFile(session, 'go');
      });
      expect([isReleased, textsOf(events).at(-1)]).toEqual([true, 'It has ended.']);
      expect((await server.client.beta.sessions.retrieve(session)).status).toBe('idle');
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);

  it('[J283] an agent of a workflow asks on its own thread, after its text, and the decision is applied', async () => {
    await withClaudeServer(path, async (server) => {
      const tools = {
        ...toolset('always_allow'),
        configs: [{ name: 'bash', permission_policy: { type: 'always_ask' } }],
      };
      const session = await server.createSession({ tools: [tools] });
      const events = await server.run(session, run(), async (event) => {
        if (event.type !== 'session.status_idle' || event.stop_reason.type !== 'requires_action') return;
        for (const id of event.stop_reason.event_ids) {
          await server.send(session, { type: 'user.tool_confirmation', tool_use_id: id, result: 'allow' });
        }
      });
      expect(textsOf(events).at(-1)).toBe('It has ended.');
      const alpha = (await threadsOf(server, session)).get('alpha')!;
      const story = (await server.threadEvents(session, alpha.id)).flatMap(toWords);
      expect(story.filter((word) => word !== 'idle')).toEqual([
        'given Look at alpha.',
        'text Alpha looks.',
        'call Bash',
        'result alpha',
        'text Alpha report.',
      ]);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);

  it('[J246, J284] an interrupt stops the workflow and all of its agents, and the next message is answered', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const wait = [[{ say: 'Alpha waits.' }, bash('touch begun; sleep 300')], [{ say: 'Never.' }]];
      let isStopped = false;
      await server.watch(
        session,
        () => server.say(session, run(wait)),
        async (event) => {
          if (event.type === 'session.thread_status_idle' && event.agent_name === 'coordinator' && !isStopped) {
            isStopped = true;
            await expect.poll(() => server.files(session), { timeout: 30_000 }).toContain('begun');
            await server.send(session, { type: 'user.interrupt' });
          }
          return isStopped && isAtRest(event);
        },
      );
      const threads = await threadsOf(server, session);
      expect([...threads.values()].map(({ status }) => status)).toEqual(Array.from(threads, () => 'idle'));
      expect(textsOf(await server.run(session, 'And now?'))).toContain('It has ended.');
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);
});

/** A message that runs a workflow of two agents at once and a third one behind them. */
function run(alpha: readonly (readonly object[])[] = ALPHA): string {
  const prompt = (words: string, turns: readonly (readonly object[])[]) =>
    JSON.stringify(`${words} ${script(...turns)}`);
  const source = `export const meta = { name: 'two-looks', description: 'Two agents look', phases: [{ title: 'Look' }] };
phase('Look');
const found = await parallel([
  () => agent(${prompt('Look at alpha.', alpha)}, { label: 'alpha', phase: 'Look' }),
  () => agent(${prompt('Look at beta.', [[{ think: 'Hm.' }, { say: 'Beta report.' }]])}, { label: 'beta' }),
]);
const sum = await agent(${prompt('Sum up.', [[{ say: 'Gamma report.' }]])}, { label: 'gamma' });
return { found, sum };
`;
  const launch = { call: 'Workflow', input: { script: source } };
  return `Run it. ${script([{ say: 'I run it.' }, launch], [{ say: 'It runs.' }], [{ say: 'It has ended.' }])}`;
}

const ALPHA = [[{ say: 'Alpha looks.' }, bash('echo alpha')], [{ say: 'Alpha report.' }]];

async function threadsOf(server: ClaudeServer, session: string) {
  const threads = await server.threads(session);
  return new Map(threads.map((thread) => ['name' in thread.agent ? thread.agent.name : '', thread]));
}

type ThreadEvent = Awaited<ReturnType<ClaudeServer['threadEvents']>>[number];

function toWords(event: ThreadEvent): string[] {
  if (event.type === 'agent.thread_message_received') {
    // 2.1.325 puts a note of its own before the prompt.
    const given = /(?:Look at \w+|Sum up)\./.exec(JSON.stringify(event.content))?.[0];
    return [`given ${given}`];
  }
  if (event.type === 'agent.message') return textsOf([event]).map((text) => `text ${text}`);
  if (event.type === 'agent.thinking') return ['thinking'];
  if (event.type === 'agent.tool_use') return [`call ${event.name}`];
  if (event.type === 'agent.tool_result') {
    const [block] = event.content ?? [];
    return [
      `${event.is_error === true ? 'error' : 'result'} ${block !== undefined && 'text' in block ? block.text : ''}`,
    ];
  }
  return event.type === 'session.thread_status_idle' ? ['idle'] : [];
}

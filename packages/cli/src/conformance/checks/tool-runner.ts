import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { check, defineChecks } from '../harness/check.ts';
import { expectEqual, expectThat } from '../harness/expect.ts';
import { toCases } from '../harness/script.ts';
import { saidIn } from '../harness/talk.ts';
import { selfHosted, selfHostedEnvironment } from '../harness/self-hosted.ts';

const lookup = { type: 'custom', name: 'lookup', description: 'Looks up.', input_schema: { type: 'object' } } as const;

/** The tool runner of the official SDK. */
export const toolRunnerChecks = defineChecks('Workers, files, helpers of the SDK', [
  check(163, 'C', 'The toolRunner of the SDK serves a custom tool and ends after idle', ['scripts'], async (t) => {
    const talk = await t.session({
      turns: [[{ call: 'lookup', input: { word: 'gold' } }], [{ say: 'found {{last_result}}' }]],
      tools: [lookup],
    });
    const served: string[] = [];
    const tool = betaTool({
      name: 'lookup',
      description: 'Looks up.',
      inputSchema: { type: 'object', properties: { word: { type: 'string' } } },
      run: ({ word }) => `${String(word)} is Au`,
    });
    await talk.say('go');
    const runner = t.client.beta.sessions.events.toolRunner(talk.id, {
      tools: [tool],
      maxIdleMs: 200,
      signal: t.signal,
    });
    for await (const call of runner) served.push(`${call.name} ${call.posted}`);
    expectEqual(served, ['lookup true'], 'calls');
    expectEqual(saidIn(await talk.list()), 'found gold is Au', 'the answer');
  }),

  check(
    164,
    'C',
    'The toolRunner never runs a call that needs approval before its confirmation',
    ['scripts'],
    async (t) => {
      const { talk } = await selfHosted(
        t,
        [[{ call: 'bash', input: { command: 'x' } }], [{ say: '{{last_result}}' }]],
        'always_ask',
      );
      let ran = 0;
      const tool = betaTool({
        name: 'bash',
        description: 'Runs.',
        inputSchema: { type: 'object', properties: {} },
        run: () => `ran ${(ran += 1)}`,
      });
      const stream = await talk.watch();
      await talk.say('go');
      const served: (string | undefined)[] = [];
      const runner = t.client.beta.sessions.events.toolRunner(talk.id, {
        tools: [tool],
        maxIdleMs: 200,
        signal: t.signal,
      });
      const run = (async () => {
        for await (const call of runner) served.push(call.confirmation);
      })();
      const use = await stream.until('agent.tool_use');
      await stream.until('session.status_idle');
      await new Promise((resolve) => setTimeout(resolve, 300));
      expectEqual(ran, 0, 'runs before the confirmation');
      await talk.send({ type: 'user.tool_confirmation', tool_use_id: use.id, result: 'allow' });
      await stream.until('session.status_idle', { where: ({ stop_reason }) => stop_reason.type === 'end_turn' });
      await run;
      expectEqual([ran, served, saidIn(await talk.list())], [1, ['allow'], 'ran 1'], 'runs and the answer');
    },
  ),

  check(
    165,
    'E',
    "A child's tools on a self-hosted environment are on the session stream and answered by id",
    ['scripts'],
    async (t) => {
      const tools = [{ type: 'agent_toolset_20260401' }] as never;
      const { id: helper } = await t.agent({
        name: 'helper',
        turns: [[{ call: 'bash', input: {} }], [{ say: '{{last_result}}' }]],
        tools,
      });
      const environment_id = await selfHostedEnvironment(t);
      const talk = await t.session({
        name: 'lead',
        system: toCases(
          [{ match: '^go$', turn: [{ call: 'send_to_agent', input: { agent: 'helper', message: 'x' } }] }],
          [{ say: 'heard {{last_user}}' }],
        ),
        multiagent: { type: 'coordinator', agents: [helper] } as never,
        create: { environment_id },
      });
      const stream = await talk.watch();
      await talk.say('go');
      const use = await stream.until('agent.tool_use', { where: ({ name }) => name === 'bash' });
      const [child] = await talk.children();
      expectEqual(use.session_thread_id, child?.id, 'session_thread_id');
      const content = [{ type: 'text', text: 'answered by id' }] as const;
      await talk.send({ type: 'user.tool_result', tool_use_id: use.id, content });
      await stream.until('session.status_idle', { where: ({ stop_reason }) => stop_reason.type === 'end_turn' });
      expectThat(saidIn(await talk.list()).includes('answered by id'), 'the report', saidIn(await talk.list()));
    },
  ),
]);

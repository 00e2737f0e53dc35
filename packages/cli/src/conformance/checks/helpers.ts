import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { check, defineChecks } from '../check.ts';
import type { Context } from '../context.ts';
import type { EventOf } from '../event-of.ts';
import { expectEqual, expectFound, expectRefusal, expectThat, Mismatch } from '../expect.ts';
import { type Step, toCases } from '../script.ts';
import { ofType, saidIn, Talk } from '../talk.ts';

const lookup = { type: 'custom', name: 'lookup', description: 'Looks up.', input_schema: { type: 'object' } } as const;

export const helperChecks = defineChecks('Workers, files, helpers of the SDK', [
  check(
    159,
    'E',
    'The EnvironmentWorker of the SDK runs a call to the end and stops the item',
    ['scripts'],
    async (t) => {
      const { environmentId, talk } = await selfHosted(t, [
        [{ call: 'bash', input: { command: 'echo from the worker' } }],
        [{ say: 'it said {{last_result}}' }],
      ]);
      const stream = await talk.watch();
      await talk.say('go');
      const workdir = await mkdtemp(join(tmpdir(), 'conformance-'));
      const done = new AbortController();
      const { work } = t.client.beta.environments;
      const signal = AbortSignal.any([done.signal, t.signal]);
      const worker = work.worker({ environmentId, environmentKey: t.target.key, workdir, maxIdleMs: 200, signal });
      const run = worker.run();
      try {
        const isOver = ({ stop_reason }: EventOf<'session.status_idle'>) => stop_reason.type === 'end_turn';
        await Promise.race([stream.until('session.status_idle', { where: isOver }), run]);
        expectThat(
          saidIn(await talk.list()).includes('from the worker'),
          'the output of the worker',
          saidIn(await talk.list()),
        );
        await untilStopped(t, environmentId);
      } finally {
        done.abort();
        await run.catch(() => {});
        await rm(workdir, { recursive: true, force: true });
      }
    },
  ),

  check(160, 'E', 'A poll of an empty queue gives null', [], async (t) => {
    const environmentId = await selfHostedEnvironment(t);
    expectEqual(await t.client.beta.environments.work.poll(environmentId, {}), null, 'the work');
  }),

  check(161, 'E', 'A heartbeat that does not know the last one is 412 and says how it is', ['scripts'], async (t) => {
    const { environmentId } = await selfHosted(t, [[{ say: 'ok' }]]);
    const { work } = t.client.beta.environments;
    const item = expectFound((await work.poll(environmentId, {})) ?? undefined, 'work', null);
    await work.ack(item.id, { environment_id: environmentId });
    const beat = (expected_last_heartbeat: string) =>
      work.heartbeat(item.id, { environment_id: environmentId, expected_last_heartbeat });
    await beat('NO_HEARTBEAT');
    await expectRefusal(beat('NO_HEARTBEAT'), 412, 'a stale heartbeat');
  }),

  check(162, 'E', 'An item that nobody acknowledges comes back', ['scripts'], async (t) => {
    const { environmentId } = await selfHosted(t, [[{ say: 'ok' }]]);
    const { work } = t.client.beta.environments;
    const first = expectFound((await work.poll(environmentId, {})) ?? undefined, 'work', null);
    expectEqual(await work.poll(environmentId, {}), null, 'the queue');
    await new Promise((resolve) => setTimeout(resolve, 50));
    const again = await work.poll(environmentId, { reclaim_older_than_ms: 10 });
    expectEqual(again?.id, first.id, 'the item');
  }),

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
    'The toolRunner never runs a call that must be asked for before its confirmation',
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

  check(166, 'E', 'Files that a session puts out are listed under its id', ['scripts'], async (t) => {
    const talk = await t.session({
      turns: [[{ call: 'write', input: { file_path: '/mnt/session/outputs/out.txt', content: 'x' } }], [{ say: 'ok' }]],
      tools: [{ type: 'agent_toolset_20260401' }] as never,
    });
    const events = await talk.turn('go');
    expectEqual(
      ofType(events, 'agent.tool_result').map(({ is_error }) => is_error),
      [false],
      'the result',
    );
    const names: string[] = [];
    for await (const file of t.client.beta.files.list({ scope_id: talk.id })) names.push(file.filename);
    expectEqual(names, ['out.txt'], 'files');
    const uploaded = await t.client.beta.files.upload({
      file: new File(['facts'], 'facts.txt', { type: 'text/plain' }),
    });
    const resource = { type: 'file', file_id: uploaded.id } as const;
    const other = await t.session({ create: { resources: [resource] as never } });
    const [mounted] = other.created.resources as unknown as { file_id: string }[];
    expectEqual(mounted?.file_id, uploaded.id, 'the file of another session');
    await t.client.beta.files.delete(uploaded.id);
  }),
]);

async function selfHostedEnvironment(t: Context): Promise<string> {
  const { id } = await t.client.beta.environments.create({ name: 'conformance', config: { type: 'self_hosted' } });
  t.environmentIds.push(id);
  return id;
}

async function selfHosted(
  t: Context,
  turns: readonly (readonly Step[])[],
  policy: 'always_allow' | 'always_ask' = 'always_allow',
): Promise<{ environmentId: string; talk: Talk }> {
  const environmentId = await selfHostedEnvironment(t);
  const default_config = { permission_policy: { type: policy } };
  const tools = [{ type: 'agent_toolset_20260401', default_config }] as never;
  const agent = await t.agent({ turns, tools });
  const session = await t.client.beta.sessions.create({ agent: agent.id, environment_id: environmentId });
  t.sessionIds.push(session.id);
  return { environmentId, talk: new Talk(t, session) };
}

async function untilStopped(t: Context, environmentId: string): Promise<void> {
  for (;;) {
    const states: string[] = [];
    for await (const { state } of t.client.beta.environments.work.list(environmentId)) states.push(state);
    if (states.every((state) => state === 'stopped')) return;
    if (t.signal.aborted) throw new Mismatch('the item to be stopped', states);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

import { script } from '../../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { bash, delegate, toolset } from '../../claude-server.ts';
import type { Scenario } from '../scenario.ts';
import {
  allowAll,
  asking,
  askingWorkers,
  below,
  deepen,
  fails,
  fill,
  form,
  hook,
  keyAt,
  launch,
  member,
  PICTURE,
  putHooks,
  question,
  wait,
  when,
  workers,
} from './steps.ts';

const custom = { tools: [toolset('always_ask'), form] };

/** Work of several kinds at once that people and agents disturb. */
export const mixedScenarios: readonly Scenario[] = [
  {
    name: 'two clients that decide the same approvals at once, of the main agent and of two sub-agents',
    agent: { ...asking, roster: [{ name: 'worker', ...asking }] },
    drive: async (run) => {
      const child = (name: string) =>
        script([{ say: `${name} asks.` }, bash(`echo ${name}`)], [{ say: `${name} is done.` }]);
      const calls = [
        bash('echo main'),
        delegate('worker', 'one', child('one')),
        delegate('worker', 'two', child('two')),
      ];
      await run.say(`Go. ${script(calls, [{ say: 'Done.' }])}`);
      const seen = new Set<string>();
      while (seen.size < 3) {
        const id = await run.needsAnother(seen);
        seen.add(id);
        const both = await Promise.allSettled([
          run.decide(id, 'allow'),
          run.decide(id, 'deny', 'No.'),
          run.decide(id, 'allow'),
        ]);
        if (both.every(({ status }) => status === 'rejected')) throw new Error('no decision was accepted');
      }
      await run.rest();
    },
  },
  {
    name: 'a command in the background of the main agent that ends while a sub-agent waits for an approval',
    agent: { roster: [{ name: 'worker', ...asking }] },
    drive: async (run) => {
      const command = 'touch begun; until [ -e go ]; do sleep 0.1; done; echo went';
      const background = { call: 'Bash', input: { command, description: 'Waits', run_in_background: true } };
      const child = script([{ say: 'I ask.' }, bash('echo child')], [{ say: 'Child done.' }]);
      const cases = {
        'task-notification': [{ say: 'Something has ended.' }],
        'Go\\.': [background, launch('look', child)],
        launched: [{ say: 'Under way.' }],
      };
      await run.say(`Go. ${when(cases, [{ say: 'Well.' }])}`);
      await run.hasFile('begun');
      const [id] = await run.needs(1);
      await run.server.makeFile(run.session, 'go');
      await run.hears('has ended.');
      await run.decide(id!, 'allow');
      await run.rest();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await run.rest();
    },
  },
  {
    name: 'an interrupt of a plan that waits for its approval, and the next message',
    isDisturbed: true,
    drive: async (run) => {
      await run.server.client.beta.sessions.update(run.session, {
        metadata: { 'claude_code.permission_mode': 'plan' },
      });
      const plan = { call: 'ExitPlanMode', input: { plan: '# One' } };
      await run.say(`Go. ${when({ 'And now': [{ say: 'I go on.' }] }, [{ think: 'Hm.' }, { say: 'This.' }, plan])}`);
      const [id] = await run.needs(1);
      await run.send({ type: 'user.interrupt' });
      await run.rest();
      await run.decide(id!, 'allow').catch(() => undefined);
      await run.ask('And now?');
    },
  },
  {
    name: 'an interrupt of a workflow with an agent that waits for an approval, and the next message',
    agent: asking,
    isDisturbed: true,
    drive: async (run) => {
      const child = (name: string) =>
        script([{ say: `${name} asks.` }, bash(`echo ${name}`)], [{ say: `${name} is done.` }]);
      const meta = JSON.stringify({ name: 'look', description: 'Looks', phases: [{ title: 'Look' }] });
      const calls = ['one', 'two'].map(
        (name) =>
          `() => agent(${JSON.stringify(`Do ${name}. ${child(name)}`).replaceAll('<', '\\u003c')}, { label: '${name}' })`,
      );
      const source = `export const meta = ${meta};\nreturn await parallel([${calls.join(', ')}]);`;
      const cases = {
        'And now': [{ say: 'I go on.' }],
        'Go\\.': [{ call: 'Workflow', input: { script: source } }],
        'task-notification': [{ say: 'It has ended.' }],
      };
      await run.say(`Go. ${when(cases, [{ say: 'Started.' }])}`);
      const seen = new Set<string>();
      for (;;) {
        const id = await run.needsAnother(seen);
        seen.add(id);
        const use = run.events.find((event) => 'id' in event && event.id === id);
        if (use?.type === 'agent.tool_use' && use.name !== 'Workflow') break;
        await run.decide(id, 'allow');
      }
      await run.send({ type: 'user.interrupt' });
      await run.rest();
      for (const id of seen) await run.decide(id, 'allow').catch(() => undefined);
      await run.ask('And now?');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await run.rest();
    },
  },
  {
    name: 'custom tools of the main agent and of a sub-agent whose results come twice and in the other order',
    agent: { ...custom, roster: [{ name: 'worker', ...custom }] },
    drive: async (run) => {
      const child = script([{ say: 'I ask.' }, fill, bash('echo child')], [{ say: 'Child done.' }]);
      await run.say(`Go. ${script([fill, delegate('worker', 'look', child), bash('echo main')], [{ say: 'Done.' }])}`);
      run.onEvent(async (event) => {
        const stop = event.type === 'session.status_idle' ? event.stop_reason : undefined;
        if (stop?.type !== 'requires_action') return;
        for (const id of stop.event_ids.toReversed()) {
          const isCustom = run.events.some((each) => each.type === 'agent.custom_tool_use' && each.id === id);
          const answer = () => (isCustom ? run.give(id, 'filled') : run.decide(id, 'allow'));
          await Promise.allSettled([answer(), answer()]);
        }
      });
      await run.rest();
    },
  },
  {
    name: 'a question of a sub-agent in the background, which the program refuses, and a picture',
    agent: workers,
    drive: async (run) => {
      const child = script([{ say: 'I ask.' }, question('Which colour?')], [{ say: 'Child done.' }]);
      const cases = {
        'And this': [{ say: 'I see.' }],
        'Go\\.': [launch('ask', child)],
        'Async agent launched': [{ say: 'Under way.' }],
        'task-notification': [{ say: 'It has reported.' }],
      };
      await run.say(`Go. ${when(cases, [{ say: 'Well.' }])}`);
      await run.hears('It has reported.');
      await run.rest();
      const source = { type: 'base64', media_type: 'image/png', data: PICTURE };
      await run.send({
        type: 'user.message',
        content: [
          { type: 'text', text: 'And this:' },
          { type: 'image', source },
        ],
      });
      await run.hears('I see.');
      await run.rest();
    },
  },
  {
    name: 'a sub-agent in the background that outlasts the sub-agent that started it',
    agent: {
      roster: [
        member('middle', [
          [{ say: 'I delegate.' }, launch('deep', '', 'deep')],
          [{ say: 'From the middle.' }],
          [{ say: 'Again.' }],
        ]),
        member('deep', [
          [{ say: 'I look.' }, wait('begun', 'go')],
          [{ think: 'Hm.' }, { say: 'From the deep.' }],
        ]),
      ],
    },
    drive: async (run) => {
      await deepen(run);
      const cases = { 'task-notification': [{ say: 'It has ended.' }], 'Go\\.': [below('middle', 'middle')] };
      await run.say(`Go. ${when(cases, [{ say: 'Well.' }])}`);
      await run.hasFile('begun');
      await run.hears('From the middle.');
      await new Promise((resolve) => setTimeout(resolve, 500));
      await run.server.makeFile(run.session, 'go');
      await run.hears('From the deep.');
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      await run.rest();
    },
  },
  {
    name: 'a sub-agent with an open approval that the main agent stops',
    agent: { tools: [toolset('always_allow')], roster: [{ name: 'worker', ...asking }] },
    isDisturbed: true,
    drive: async (run) => {
      const child = script([{ say: 'I ask.' }, bash('echo child')], [{ say: 'Never.' }]);
      const cases = {
        '^a[0-9a-f]{16}': [{ call: 'TaskStop', input: { task_id: '{{last_user}}' } }],
        'And now': [{ say: 'I go on.' }],
        'Go\\.': [launch('look', child)],
        'Async agent launched': [{ say: 'Under way.' }],
        'task-notification': [{ say: 'It was stopped.' }],
      };
      await run.say(`Go. ${when(cases, [{ say: 'Stopped.' }])}`);
      const [id] = await run.needs(1);
      await run.say((await keyAt(run, 0)).key);
      await run.hears('topped.');
      await run.rest();
      await run.decide(id!, 'allow').catch(() => undefined);
      await run.ask('And now?');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await run.rest();
    },
  },
  {
    name: 'an interrupt of one of two sub-agents of the same name in the background, while the other asks',
    agent: askingWorkers,
    isDisturbed: true,
    drive: async (run) => {
      const child = (name: string) => script([{ say: 'I ask.' }, bash(`echo ${name}`)], [{ say: 'My report.' }]);
      const cases = {
        'And now': [{ say: 'I go on.' }],
        'Go\\.': [launch('look', child('one')), launch('look', child('two'))],
        'Async agent launched': [{ say: 'Under way.' }],
        'task-notification': [{ say: 'It has ended.' }],
      };
      await run.say(`Go. ${when(cases, [{ say: 'Well.' }])}`);
      const both = await run.needs(2);
      const { id } = await keyAt(run, 1);
      await run.send({ type: 'user.interrupt', session_thread_id: id });
      await Promise.allSettled(both.map((each) => run.decide(each, 'allow')));
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await run.rest();
      await run.ask('And now?');
    },
  },
  {
    name: 'parallel calls: one allowed, one denied, one without the file, one unknown, one custom',
    agent: custom,
    drive: async (run) => {
      const calls = [
        { think: 'Hm.' },
        { say: 'All of them.' },
        bash('echo allowed'),
        bash('echo denied'),
        { call: 'Read', input: { file_path: '/nowhere/at/all' } },
        { call: 'Nothing', input: { a: 1 } },
        fill,
      ];
      run.onEvent(async (event) => {
        const stop = event.type === 'session.status_idle' ? event.stop_reason : undefined;
        if (stop?.type !== 'requires_action') return;
        for (const id of stop.event_ids) {
          const use = run.events.find((each) => 'id' in each && each.id === id);
          if (use?.type === 'agent.custom_tool_use') await run.give(id, 'filled').catch(() => undefined);
          else {
            const isDenied = JSON.stringify(use).includes('denied');
            await run.decide(id, isDenied ? 'deny' : 'allow', isDenied ? 'No.' : undefined).catch(() => undefined);
          }
        }
      });
      await run.ask(`Go. ${script(calls, [{ say: 'Done.' }])}`);
    },
  },
  {
    name: 'hooks of a sub-agent in the background, and an answer that is too long',
    agent: workers,
    drive: async (run) => {
      await putHooks(run, {
        PreToolUse: hook('grep -q refused && { echo "Not this one." >&2; exit 2; }; exit 0', 'Bash'),
        PostToolUse: hook(
          { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'By the way.' } },
          'Bash',
        ),
        SubagentStop: hook('[ -e child ] && exit 0; touch child; echo "Go on, child." >&2; exit 2'),
      });
      const child = script(
        [{ say: 'I look.' }, bash('echo refused'), bash('echo fine')],
        [{ say: 'Half' }, { stop: 'max_tokens' }],
        [{ say: 'Child.' }],
        [{ say: 'Child again.' }],
      );
      const cases = {
        'Go\\.': [launch('look', child)],
        'Async agent launched': [{ say: 'Under way.' }],
        'task-notification': [{ say: 'It has reported.' }],
      };
      await run.say(`Go. ${when(cases, [{ say: 'Well.' }])}`);
      await run.hears('It has reported.');
      await run.rest();
    },
  },
  {
    name: 'refusals of a sub-agent in the background, and of the main agent behind it',
    agent: workers,
    drive: async (run) => {
      const child = script([{ say: 'I look.' }, bash('echo one')], [{ say: 'I will not.' }, { stop: 'refusal' }]);
      const cases = {
        'And now': [{ say: 'I go on.' }],
        'Go\\.': [launch('look', child)],
        'Async agent launched': [{ say: 'Under way.' }],
      };
      await run.say(`Go. ${when(cases, [{ say: 'Nor will I.' }, { stop: 'refusal' }])}`);
      await run.hears('Nor will I.');
      await run.rest();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await run.rest();
    },
  },
  {
    name: 'retries and a broken answer of an agent of an agent that asks',
    agent: {
      roster: [
        member('middle', [[fails(2), below('deep', 'deep')], [{ say: 'From the middle.' }]]),
        member(
          'deep',
          [
            [fails(1), { say: 'I ask.' }, bash('echo deep')],
            [{ say: 'Half', chunks: 2 }, { cut: { times: 1 } }, { say: 'From the deep.' }],
          ],
          asking,
        ),
      ],
    },
    drive: async (run) => {
      await deepen(run);
      await allowAll(run);
      await run.ask(`Go. ${script([below('middle', 'middle')], [{ say: 'Done.' }])}`);
    },
  },
  {
    name: 'a message that waits behind a sub-agent, and an interrupt of both',
    agent: workers,
    isDisturbed: true,
    drive: async (run) => {
      const child = script([{ say: 'I look.' }, wait('begun', 'never')], [{ say: 'Never.' }]);
      const cases = { 'And now': [{ say: 'I go on.' }], 'And this': [{ say: 'I see.' }] };
      await run.say(`Go. ${when(cases, [delegate('worker', 'look', child)])}`);
      await run.hasFile('begun');
      await run.say('And this.');
      await run.send({ type: 'user.interrupt' });
      await run.rest();
      await run.ask('And now?');
    },
  },
];

import { script } from '../../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { bash, delegate, toolset } from '../../claude-server.ts';
import type { Scenario } from '../scenario.ts';
import {
  PICTURE,
  workers,
  asking,
  askingWorkers,
  form,
  fill,
  launch,
  question,
  when,
  below,
  member,
  deepen,
  putHooks,
  hook,
} from './steps.ts';

/** Several things that wait for people, and hooks. */
export const approvalScenarios: readonly Scenario[] = [
  {
    name: 'a question and an approval of a sub-agent at the same time',
    agent: askingWorkers,
    drive: async (run) => {
      const child = script([{ say: 'I ask.' }, bash('echo child')], [{ say: 'Child done.' }]);
      await run.say(
        `Go. ${script([delegate('worker', 'look', child), question('Which colour?')], [{ say: 'Done.' }])}`,
      );
      const both = await run.needs(2);
      for (const id of both.toReversed()) {
        const isQuestion = run.events.some((event) => event.type === 'agent.custom_tool_use' && event.id === id);
        await (isQuestion ? run.give(id, 'Blue') : run.decide(id, 'allow'));
      }
      await run.rest();
    },
  },
  {
    name: 'a question of a sub-agent, and one of several answers',
    agent: workers,
    drive: async (run) => {
      run.onEvent(async (event) => {
        const stop = event.type === 'session.status_idle' ? event.stop_reason : undefined;
        if (stop?.type !== 'requires_action') return;
        for (const id of stop.event_ids) await run.give(id, '{"Which colours?":"Red, Blue"}');
      });
      const child = script([{ say: 'I ask.' }, question('Which colours?', true)], [{ say: 'Child done.' }]);
      await run.ask(
        `Go. ${script([delegate('worker', 'ask', child)], [question('Which colours?', true)], [{ say: 'Done.' }])}`,
      );
    },
  },
  {
    name: 'a denial with an interrupt of one of two sub-agents',
    agent: askingWorkers,
    isDisturbed: true,
    drive: async (run) => {
      const child = (name: string) =>
        script([{ say: `${name} asks.` }, bash(`echo ${name}`)], [{ say: `${name} is done.` }]);
      const both = ['one', 'two'].map((name) => delegate('worker', name, child(name)));
      await run.say(`Go. ${script(both, [{ say: 'Done.' }])}`);
      const [first, second] = await run.needs(2);
      await run.send({ type: 'user.tool_confirmation', tool_use_id: first, result: 'deny', interrupt: true });
      await run.decide(second!, 'allow');
      await run.rest();
    },
  },
  {
    name: 'a denial with an interrupt of the main agent, while a sub-agent works in the background',
    agent: { ...asking, roster: [{ name: 'worker' }] },
    isDisturbed: true,
    drive: async (run) => {
      const child = script([{ say: 'I look.' }, bash('until [ -e go ]; do sleep 0.1; done')], [{ say: 'My report.' }]);
      const cases = {
        'And now': [{ say: 'I go on.' }],
        'Async agent launched': [bash('echo one')],
        'task-notification': [{ say: 'It has reported.' }],
      };
      await run.say(`Go. ${when(cases, [launch('look', child)])}`);
      // The session is running, because the sub-agent is.
      const ask = await run.see((event) => event.type === 'agent.tool_use' && event.evaluated_permission === 'ask');
      const id = 'id' in ask ? ask.id : '';
      await run.send({ type: 'user.tool_confirmation', tool_use_id: id, result: 'deny', interrupt: true });
      await run.server.makeFile(run.session, 'go');
      await run.rest();
      await run.ask('And now?');
    },
  },
  {
    name: 'a denial with an interrupt of an agent of an agent',
    agent: {
      roster: [
        member('middle', [[below('deep', 'deep')], [{ say: 'From the middle.' }]]),
        member('deep', [[{ say: 'I ask.' }, bash('echo deep')], [{ say: 'Never.' }]], asking),
      ],
    },
    isDisturbed: true,
    drive: async (run) => {
      await deepen(run);
      await run.say(`Go. ${script([below('middle', 'middle')], [{ say: 'Done.' }])}`);
      const [id] = await run.needs(1);
      await run.send({ type: 'user.tool_confirmation', tool_use_id: id, result: 'deny', interrupt: true });
      await run.rest();
    },
  },
  {
    name: 'calls that are allowed with changed input, of the main agent and of agents of agents',
    agent: {
      ...asking,
      roster: [
        member('middle', [[below('deep', 'deep')], [{ say: 'From the middle.' }]]),
        member('deep', [[{ say: 'I ask.' }, bash('echo deep')], [{ say: 'From the deep.' }]], asking),
      ],
    },
    drive: async (run) => {
      await deepen(run);
      const changed = { result: 'allow', updated_input: { command: 'echo changed', description: 'Changed' } };
      await run.say(`Go. ${script([bash('echo main')], [below('middle', 'middle')], [{ say: 'Done.' }])}`);
      const [first] = await run.needs(1);
      await run.send({ type: 'user.tool_confirmation', tool_use_id: first, ...changed });
      const next = await run.needsAnother(new Set([first!]));
      await run.send({ type: 'user.tool_confirmation', tool_use_id: next, ...changed });
      await run.rest();
    },
  },
  {
    name: 'a custom tool of an agent of an agent that gives a picture, and one that fails',
    agent: {
      tools: [toolset('always_allow'), form],
      roster: [
        member('middle', [[below('deep', 'deep')], [{ say: 'From the middle.' }]]),
        member('deep', [[{ say: 'I ask.' }, fill], [fill], [{ say: 'From the deep.' }]], {
          tools: [toolset('always_allow'), form],
        }),
      ],
    },
    drive: async (run) => {
      await deepen(run);
      let count = 0;
      run.onEvent(async (event) => {
        if (event.type !== 'agent.custom_tool_use') return;
        const source = { type: 'base64', media_type: 'image/png', data: PICTURE };
        const isFirst = count++ === 0;
        const content = isFirst
          ? [
              { type: 'text', text: 'This:' },
              { type: 'image', source },
            ]
          : [{ type: 'text', text: 'Not again.' }];
        await run.send({ type: 'user.custom_tool_result', custom_tool_use_id: event.id, content, is_error: !isFirst });
      });
      await run.say(`Go. ${script([below('middle', 'middle')], [{ say: 'Done.' }])}`);
      await run.rest();
    },
  },
  {
    name: 'hooks that refuse a call, add to a result, and keep the agent from stopping',
    agent: workers,
    drive: async (run) => {
      await putHooks(run, {
        PreToolUse: hook('grep -q refused && { echo "Not this one." >&2; exit 2; }; exit 0', 'Bash'),
        PostToolUse: hook(
          { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'By the way.' } },
          'Bash',
        ),
        Stop: hook('[ -e stopped ] && exit 0; touch stopped; echo "Go on." >&2; exit 2'),
        SubagentStop: hook('[ -e child ] && exit 0; touch child; echo "Go on, child." >&2; exit 2'),
      });
      const child = script([{ say: 'I look.' }, bash('echo refused')], [{ say: 'Child.' }], [{ say: 'Child again.' }]);
      await run.ask(
        `Go. ${script([bash('echo refused')], [bash('echo fine')], [delegate('worker', 'look', child)], [{ say: 'Done.' }], [{ say: 'Really done.' }])}`,
      );
    },
  },
  {
    name: 'a custom tool of two agents of a workflow',
    isSmoke: true,
    agent: { tools: [toolset('always_allow'), form] },
    drive: async (run) => {
      run.onEvent(async (event) => {
        if (event.type === 'agent.custom_tool_use') await run.give(event.id, 'filled');
      });
      const meta = JSON.stringify({ name: 'look', description: 'Looks', phases: [{ title: 'Look' }] });
      const child = (name: string) =>
        script([{ say: `${name} asks.` }, fill], [fill], [{ say: `${name} reports.` }]).replaceAll('<', '\\u003c');
      const calls = ['one', 'two'].map(
        (name) => `() => agent(${JSON.stringify(`Do ${name}. ${child(name)}`)}, { label: '${name}' })`,
      );
      const source = `export const meta = ${meta};\nreturn await parallel([${calls.join(', ')}]);`;
      const turns = [
        [{ call: 'Workflow', input: { script: source } }],
        [{ say: 'Started.' }],
        [{ say: 'It has ended.' }],
      ];
      await run.say(`Go. ${script(...turns)}`);
      await run.says('It has ended.');
      await run.rest();
    },
  },
  {
    name: 'a plan is refused, made again and approved, and a sub-agent then asks',
    agent: askingWorkers,
    drive: async (run) => {
      await run.server.client.beta.sessions.update(run.session, {
        metadata: { 'claude_code.permission_mode': 'plan' },
      });
      const plan = (text: string) => ({ call: 'ExitPlanMode', input: { plan: text } });
      const child = script([bash('touch it')], [{ say: 'Child done.' }]);
      await run.say(
        `Go. ${script([{ think: 'Hm.' }, plan('# One')], [{ say: 'Again.' }, plan('# Two')], [delegate('worker', 'look', child)], [{ say: 'Done.' }])}`,
      );
      const [first] = await run.needs(1);
      await run.decide(first!, 'deny', 'Not like this.');
      const second = await run.needsAnother(new Set([first!]));
      await run.decide(second, 'allow');
      const third = await run.needsAnother(new Set([first!, second]));
      await run.decide(third, 'allow');
      await run.rest();
    },
  },
];

import { script } from '../../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { bash, delegate, toolset } from '../../claude-server.ts';
import type { Scenario } from '../scenario.ts';
import { workers, launch, when, below, member, allowAll, deepen } from './steps.ts';

/** Background work, results and tools of every kind. */
export const workScenarios: readonly Scenario[] = [
  {
    name: 'a command in the background of a sub-agent that outlasts it',
    agent: workers,
    drive: async (run) => {
      const command = 'touch begun; until [ -e go ]; do sleep 0.1; done; echo went';
      const background = { call: 'Bash', input: { command, description: 'Waits', run_in_background: true } };
      const child = script([{ say: 'I begin.' }, background], [{ say: 'It is under way.' }], [{ say: 'It went.' }]);
      await run.say(
        `Go. ${script([delegate('worker', 'look', child)], [{ say: 'Well.' }], [{ say: 'It has ended.' }])}`,
      );
      await run.hasFile('begun');
      await run.says('Well.');
      await run.server.makeFile(run.session, 'go');
      await run.rest();
    },
  },
  {
    name: 'a sub-agent in the background that the main agent stops',
    agent: workers,
    isDisturbed: true,
    drive: async (run) => {
      const child = script([{ say: 'I look.' }, bash('touch begun; tail -f /dev/null')], [{ say: 'Never.' }]);
      const cases = {
        'And now': [{ say: 'I go on.' }],
        '^a[0-9a-f]{16}': [{ call: 'TaskStop', input: { task_id: '{{last_user}}' } }],
        'Async agent launched': [{ say: 'Under way.' }],
        'task-notification': [{ say: 'It was stopped.' }],
        topped: [{ say: 'Stopped.' }],
      };
      await run.say(`Go. ${when(cases, [launch('look', child)])}`);
      await run.hears('Under way.');
      await run.hasFile('begun');
      const { frames } = await run.server.log(run.session);
      const created = frames.find(({ type }) => type === 'session.thread_created');
      await run.say(created?.type === 'session.thread_created' ? String(created.payload.program_key) : '');
      await run.hears('topped.');
      await run.rest();
      await run.ask('And now?');
    },
  },
  {
    name: 'a message of the main agent to a sub-agent in the background that works',
    agent: workers,
    drive: async (run) => {
      const child = script(
        [{ say: 'I look.' }, bash('touch begun; until [ -e go ]; do sleep 0.1; done')],
        [{ say: 'I have read it.' }],
        [{ say: 'And more.' }],
      );
      const cases = {
        '^a[0-9a-f]{16}': [
          { call: 'SendMessage', input: { to: '{{last_user}}', message: 'Think of this.', summary: 'Think' } },
        ],
        'Go\\.': [launch('look', child)],
        'Async agent launched': [{ say: 'Under way.' }],
        'task-notification': [{ say: 'It has reported.' }],
      };
      await run.say(`Go. ${when(cases, [{ say: 'Sent.' }])}`);
      await run.hears('Under way.');
      await run.hasFile('begun');
      const { frames } = await run.server.log(run.session);
      const created = frames.find(({ type }) => type === 'session.thread_created');
      await run.say(created?.type === 'session.thread_created' ? String(created.payload.program_key) : '');
      await run.hears('Sent.');
      await run.server.makeFile(run.session, 'go');
      await run.hears('It has reported.');
      await run.rest();
    },
  },
  {
    name: 'agents of agents in the background at three depths',
    agent: {
      roster: [
        member('middle', [
          [{ say: 'I delegate.' }, launch('deep', '', 'deep')],
          [{ say: 'Deep is under way.' }],
          [{ say: 'Deep has reported.' }],
        ]),
        member('deep', [
          [{ think: 'Hm.' }, { say: 'I look.' }, bash('echo deep'), below('deepest', 'deepest')],
          [{ say: 'From the deep.' }],
        ]),
        member('deepest', [[{ say: 'I look.' }, bash('echo deepest')], [{ say: 'From the deepest.' }]]),
      ],
    },
    drive: async (run) => {
      await deepen(run);
      const cases = {
        'Async agent launched': [{ say: 'Under way.' }],
        'task-notification': [{ say: 'It has reported.' }],
      };
      await run.say(`Go. ${when(cases, [launch('middle', '', 'middle')])}`);
      await run.hears('It has reported.');
      await run.rest();
    },
  },
  {
    name: 'results that are long, empty, coloured and not text',
    agent: workers,
    drive: (run) => {
      const commands = [
        'seq 1 30000',
        'true',
        "printf '\\033[31mred\\033[0m \\000 \\377 \\r\\n\\n  end  \\n\\n'",
        "printf 'Gr\\303\\274\\303\\237e \\360\\237\\247\\265 \\342\\200\\250'",
        'echo out; echo err >&2; exit 1',
        'seq 1 30000 >&2; exit 2',
      ];
      const child = script(...commands.map((command) => [bash(command)]), [{ say: 'Done.' }]);
      return run.ask(`Go. ${script(commands.map(bash), [delegate('worker', 'look', child)], [{ say: 'Done.' }])}`);
    },
  },
  {
    name: 'a command that takes too long',
    drive: async (run) => {
      const command = 'echo begun; until [ -e go ]; do sleep 0.1; done';
      const slow = { call: 'Bash', input: { command, timeout: 1_500, description: 'Slow' } };
      const cases = {
        'And now': [{ say: 'I go on.' }],
        'task-notification': [{ say: 'It is over.' }],
        'Go\\.': [slow],
      };
      await run.ask(`Go. ${when(cases, [{ say: 'Too long.' }])}`);
      // The program moves the command to the background, and begins a turn when the command has ended.
      const { frames } = await run.server.log(run.session);
      await run.server.makeFile(run.session, 'go');
      if (frames.some(({ type }) => type === 'program.work_started')) await run.says('It is over.');
      await run.rest();
      await run.ask('And now?');
    },
  },
  {
    name: 'other tools of the program',
    drive: async (run) => {
      await allowAll(run);
      const todo = { content: 'Do it', status: 'in_progress', activeForm: 'Doing it' };
      const calls = [
        { call: 'TodoWrite', input: { todos: [todo] } },
        { call: 'TaskCreate', input: { subject: 'Do it', description: 'Do it' } },
        { call: 'TaskList', input: {} },
        { call: 'ToolSearch', input: { query: 'select:WebFetch', max_results: 3 } },
        { call: 'Skill', input: { skill: 'nothing' } },
        { call: 'NotebookEdit', input: { notebook_path: '/nowhere.ipynb', new_source: 'x' } },
        { call: 'WebFetch', input: { url: 'http://127.0.0.1:1/', prompt: 'Read' } },
      ];
      await run.ask(`Go. ${script(...calls.map((call) => [call]), [{ say: 'Done.' }])}`);
    },
  },
  {
    name: 'a workflow of three agents: one fails, one asks, one is cut off once',
    agent: {
      tools: [{ ...toolset('always_allow'), configs: [{ name: 'bash', permission_policy: { type: 'always_ask' } }] }],
    },
    drive: async (run) => {
      await allowAll(run);
      const agents = [
        script([{ say: 'One looks.' }, bash('echo one')], [{ say: 'One reports.' }]),
        script([{ say: 'Two fails.' }, { fail: { status: 400, message: 'no such thing', times: 50 } }]),
        script(
          [{ say: 'Half of', chunks: 2 }, { cut: { times: 1 } }, { say: 'Three reports.' }],
          [{ say: 'Behind it.' }],
        ),
      ];
      const meta = JSON.stringify({ name: 'look', description: 'Looks', phases: [{ title: 'Look' }] });
      const calls = agents.map(
        (each, at) =>
          `() => agent(${JSON.stringify(`Do ${at}. ${each}`).replaceAll('<', '\\u003c')}, { label: 'l${at}' })`,
      );
      const source = `export const meta = ${meta};\nreturn await parallel([${calls.join(', ')}]);`;
      await run.say(
        `Go. ${script([{ call: 'Workflow', input: { script: source } }], [{ say: 'Started.' }], [{ say: 'It has ended.' }])}`,
      );
      await run.says('It has ended.');
      await run.rest();
    },
  },
];

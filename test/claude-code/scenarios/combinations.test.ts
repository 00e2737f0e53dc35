import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'vitest';
import { script } from '../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { describeWithClaudeCode } from '../../support/claude-code.ts';
import { type AgentChoice, bash, delegate, toolset } from '../claude-server.ts';
import { runScenario, select } from './run-scenario.ts';
import type { ScenarioRun } from './scenario-run.ts';
import type { Scenario } from './scenario.ts';
import { shareClaudeServer } from './shared-server.ts';

const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAIAAAAmkwkpAAAAJ0lEQVR4nAXBMQEAAACCMIIZzJNQBnQDDBaHEBMbF6Gmtq7CzOzcPKdjE0EdpVEhAAAAAElFTkSuQmCC';

const workers = { roster: [{ name: 'worker' }] };
const asking = { tools: [toolset('always_ask')] };
const askingWorkers = { roster: [{ name: 'worker', ...asking }] };
const fails = (times: number, afterS = 0) => ({ fail: { status: 529, times, retry_after_s: afterS } });

const form = { type: 'custom', name: 'form', description: 'Asks', input_schema: { type: 'object', properties: {} } };
const fill = { call: 'mcp__fleetloom__form', input: {} };

function launch(description: string, child: string, agent = 'worker'): object {
  const prompt = `Do ${description}. ${child}`;
  return { call: 'Agent', input: { subagent_type: agent, description, prompt, run_in_background: true } };
}

function question(text: string, multiSelect = false): object {
  const options = ['Red', 'Blue'].map((label) => ({ label, description: label }));
  return { call: 'AskUserQuestion', input: { questions: [{ question: text, header: 'Colour', options, multiSelect }] } };
}

function when(cases: Readonly<Record<string, readonly object[]>>, otherwise: readonly object[]): string {
  const all = Object.entries(cases).map(([match, turn]) => ({ match, turn }));
  return `<script>${JSON.stringify({ when: all, else: otherwise }).replaceAll('<', '\\u003c')}</script>`;
}

function below(name: string, agent: string): object {
  const input = { subagent_type: agent, description: name, prompt: `Do ${name}.`, run_in_background: false };
  return { call: 'Agent', input };
}

function member(name: string, turns: readonly (readonly object[])[], more: object = {}): AgentChoice {
  return { name, system: `You are ${name}. ${script(...turns)}`, ...more };
}

const look = [
  [bash(`echo ${PICTURE} | base64 -d > "$PPID.png"; printf %s "$PWD/$PPID.png"`)],
  [{ call: 'Read', input: { file_path: '{{last_result}}' } }],
  [{ think: 'Hm.' }, { say: 'I see it.' }],
];

async function allowAll(run: ScenarioRun): Promise<void> {
  run.onEvent(async (event) => {
    const stop = event.type === 'session.status_idle' ? event.stop_reason : undefined;
    if (stop?.type !== 'requires_action') return;
    for (const id of stop.event_ids) await run.decide(id, 'allow').catch(() => undefined);
  });
}

async function deepen(run: ScenarioRun): Promise<void> {
  await run.server.client.beta.sessions.update(run.session, { metadata: { 'claude_code.depth': run.depthMax } });
}

async function putHooks(run: ScenarioRun, hooks: object): Promise<void> {
  const folder = join(run.server.directory, 'workspaces', run.session, '.claude');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'settings.json'), JSON.stringify({ hooks }));
  await run.server.client.beta.sessions.update(run.session, { metadata: { 'claude_code.settings': 'project' } });
}

function hook(output: object | string, matcher = '*'): object[] {
  const command = typeof output === 'string' ? output : `echo '${JSON.stringify(output)}'`;
  return [{ matcher, hooks: [{ type: 'command', command }] }];
}

/** What the other tables have apart, together. */
const scenarios: readonly Scenario[] = [
  {
    name: 'a picture in the result of a sub-agent, and of an agent of an agent',
    agent: { roster: [{ name: 'worker' }, member('middle', [[below('deep', 'deep')], [{ say: 'Done.' }]]), member('deep', look)] },
    drive: async (run) => {
      await deepen(run);
      const calls = [delegate('worker', 'one', script(...look)), below('middle', 'middle')];
      await run.ask(`Go. ${script(calls, [{ say: 'Done.' }])}`);
    },
  },
  {
    name: 'a picture and no text in a message',
    drive: async (run) => {
      await run.ask(`Go. ${script([{ say: 'One.' }], [{ say: 'Two.' }])}`);
      const source = { type: 'base64', media_type: 'image/png', data: PICTURE };
      await run.send({ type: 'user.message', content: [{ type: 'image', source }] });
      await run.rest();
    },
  },
  {
    name: 'two messages in one request, and two more while it answers',
    drive: async (run) => {
      const wait = bash('touch begun; until [ -e go ]; do sleep 0.1; done');
      const message = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] });
      await run.send(message(`Go. ${script([wait], [{ say: 'Read.' }], [{ say: 'More.' }])}`), message('And this.'));
      await run.hasFile('begun');
      await run.send(message('And that.'), message('And more.'));
      await run.server.makeFile(run.session, 'go');
      await run.rest();
    },
  },
  {
    name: 'a compaction while a sub-agent works in the background',
    agent: workers,
    drive: async (run) => {
      const child = script([{ say: 'I look.' }, bash('until [ -e go ]; do sleep 0.1; done')], [{ say: 'My report.' }]);
      const cases = {
        'And now': [{ say: 'I go on.' }],
        'Async agent launched': [{ say: `Under way. ${'A long talk. '.repeat(100)}` }],
        'task-notification': [{ say: 'It has reported.' }],
        'Your task is to create': [{ say: '<summary>All of it.</summary>' }],
      };
      await run.say(`Go. ${when(cases, [launch('look', child)])}`);
      await run.hears('Under way.');
      await run.see((event) => event.type === 'session.thread_status_idle' && event.agent_name === 'coordinator');
      await run.say('/compact');
      await run.see((event) => event.type === 'agent.thread_context_compacted');
      await run.server.makeFile(run.session, 'go');
      await run.rest();
      await run.ask(`And now? ${script([{ say: 'I go on.' }])}`);
    },
  },
  {
    name: 'a conversation that is cleared',
    drive: async (run) => {
      await run.ask(`Go. ${script([{ say: 'First.' }, bash('echo one')], [{ say: 'Second.' }])}`);
      await run.ask('/clear');
      await run.ask(`And now? ${script([bash('echo two')], [{ say: 'Third.' }])}`);
    },
  },
  {
    name: 'a message while requests of the main agent are retried',
    drive: async (run) => {
      await run.say(`Go. ${script([fails(3, 1), { say: 'At last.' }, bash('echo one')], [{ say: 'Read.' }], [{ say: 'More.' }])}`);
      await run.receives((event) => event.type === 'request_retrying');
      await run.say('And think of this.');
      await run.rest();
    },
  },
  {
    name: 'a message while an approval is open',
    agent: asking,
    drive: async (run) => {
      await run.say(`Go. ${script([{ say: 'May I?' }, bash('echo one')], [{ say: 'Read.' }], [{ say: 'More.' }])}`);
      const [id] = await run.needs(1);
      await run.say('And think of this.');
      await run.decide(id!, 'allow');
      await run.rest();
    },
  },
  {
    name: 'an interrupt while requests of the main agent are retried',
    isDisturbed: true,
    drive: async (run) => {
      await run.say(`Go. ${when({ 'And now': [{ say: 'I go on.' }] }, [fails(50, 2), { say: 'Never.' }])}`);
      await run.receives((event) => event.type === 'request_retrying');
      await run.send({ type: 'user.interrupt' });
      await run.rest();
      await run.ask('And now?');
    },
  },
  {
    name: 'an interrupt while requests of two sub-agents are retried',
    agent: workers,
    isDisturbed: true,
    drive: async (run) => {
      const child = script([{ say: 'I look.' }, bash('echo one')], [fails(50, 2), { say: 'Never.' }]);
      const all = ['one', 'two'].map((name) => delegate('worker', name, child));
      await run.say(`Go. ${when({ 'And now': [{ say: 'I go on.' }] }, all)}`);
      await run.receives((event) => event.type === 'request_retrying');
      await run.send({ type: 'user.interrupt' });
      await run.rest();
      await run.ask('And now?');
    },
  },
  {
    name: 'a question and an approval of a sub-agent at the same time',
    agent: askingWorkers,
    drive: async (run) => {
      const child = script([{ say: 'I ask.' }, bash('echo child')], [{ say: 'Child done.' }]);
      await run.say(`Go. ${script([delegate('worker', 'look', child), question('Which colour?')], [{ say: 'Done.' }])}`);
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
      await run.ask(`Go. ${script([delegate('worker', 'ask', child)], [question('Which colours?', true)], [{ say: 'Done.' }])}`);
    },
  },
  {
    name: 'a denial with an interrupt of one of two sub-agents',
    agent: askingWorkers,
    isDisturbed: true,
    drive: async (run) => {
      const child = (name: string) => script([{ say: `${name} asks.` }, bash(`echo ${name}`)], [{ say: `${name} is done.` }]);
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
        member('deep', [[{ say: 'I ask.' }, fill], [fill], [{ say: 'From the deep.' }]], { tools: [toolset('always_allow'), form] }),
      ],
    },
    drive: async (run) => {
      await deepen(run);
      let count = 0;
      run.onEvent(async (event) => {
        if (event.type !== 'agent.custom_tool_use') return;
        const source = { type: 'base64', media_type: 'image/png', data: PICTURE };
        const isFirst = count++ === 0;
        const content = isFirst ? [{ type: 'text', text: 'This:' }, { type: 'image', source }] : [{ type: 'text', text: 'Not again.' }];
        await run.send({ type: 'user.custom_tool_result', custom_tool_use_id: event.id, content, is_error: !isFirst });
      });
      await run.say(`Go. ${script([below('middle', 'middle')], [{ say: 'Done.' }])}`);
      await run.rest();
    },
  },
  {
    name: 'a command in the background of a sub-agent that outlasts it',
    agent: workers,
    drive: async (run) => {
      const command = 'touch begun; until [ -e go ]; do sleep 0.1; done; echo went';
      const background = { call: 'Bash', input: { command, description: 'Waits', run_in_background: true } };
      const child = script([{ say: 'I begin.' }, background], [{ say: 'It is under way.' }], [{ say: 'It went.' }]);
      await run.say(`Go. ${script([delegate('worker', 'look', child)], [{ say: 'Well.' }], [{ say: 'It has ended.' }])}`);
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
        'topped': [{ say: 'Stopped.' }],
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
    knownGap: {
      '2.1.325': 'The thread of a sub-agent has no message that the main agent sends while the sub-agent works: only its call has it.',
    },
    drive: async (run) => {
      const child = script(
        [{ say: 'I look.' }, bash('touch begun; until [ -e go ]; do sleep 0.1; done')],
        [{ say: 'I have read it.' }],
        [{ say: 'And more.' }],
      );
      const cases = {
        '^a[0-9a-f]{16}': [{ call: 'SendMessage', input: { to: '{{last_user}}', message: 'Think of this.', summary: 'Think' } }],
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
        member('middle', [[{ say: 'I delegate.' }, launch('deep', '', 'deep')], [{ say: 'Deep is under way.' }], [{ say: 'Deep has reported.' }]]),
        member('deep', [[{ think: 'Hm.' }, { say: 'I look.' }, bash('echo deep'), below('deepest', 'deepest')], [{ say: 'From the deep.' }]]),
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
    drive: (run) => {
      const slow = { call: 'Bash', input: { command: 'echo begun; until [ -e never ]; do sleep 0.1; done', timeout: 1_500, description: 'Slow' } };
      return run.ask(`Go. ${script([{ say: 'I wait.' }, slow], [{ say: 'Too long.' }], [{ say: 'Over.' }])}`).then(async () => {
        await run.server.makeFile(run.session, 'never');
        await run.rest();
        await run.ask('And now?');
      });
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
    name: 'hooks that refuse a call, add to a result, and keep the agent from stopping',
    agent: workers,
    drive: async (run) => {
      await putHooks(run, {
        PreToolUse: hook('grep -q refused && { echo "Not this one." >&2; exit 2; }; exit 0', 'Bash'),
        PostToolUse: hook({ hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'By the way.' } }, 'Bash'),
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
    name: 'a hook that refuses a message',
    drive: async (run) => {
      await putHooks(run, {
        UserPromptSubmit: hook('grep -q forbidden && { echo "Not that." >&2; exit 2; }; echo "A note."; exit 0'),
      });
      await run.ask(`Go. ${script([{ say: 'First.' }], [{ say: 'Second.' }])}`);
      await run.ask('Something forbidden.');
      await run.ask('And now?');
    },
  },
  {
    name: 'a workflow of three agents: one fails, one asks, one is cut off once',
    agent: { tools: [{ ...toolset('always_allow'), configs: [{ name: 'bash', permission_policy: { type: 'always_ask' } }] }] },
    drive: async (run) => {
      await allowAll(run);
      const agents = [
        script([{ say: 'One looks.' }, bash('echo one')], [{ say: 'One reports.' }]),
        script([{ say: 'Two fails.' }, { fail: { status: 400, message: 'no such thing', times: 50 } }]),
        script([{ say: 'Half of', chunks: 2 }, { cut: { times: 1 } }, { say: 'Three reports.' }], [{ say: 'Behind it.' }]),
      ];
      const meta = JSON.stringify({ name: 'look', description: 'Looks', phases: [{ title: 'Look' }] });
      const calls = agents.map((each, at) => `() => agent(${JSON.stringify(`Do ${at}. ${each}`).replaceAll('<', '\\u003c')}, { label: 'l${at}' })`);
      const source = `export const meta = ${meta};\nreturn await parallel([${calls.join(', ')}]);`;
      await run.say(`Go. ${script([{ call: 'Workflow', input: { script: source } }], [{ say: 'Started.' }], [{ say: 'It has ended.' }])}`);
      await run.says('It has ended.');
      await run.rest();
    },
  },
  {
    name: 'a plan is refused, made again and approved, and a sub-agent then asks',
    agent: askingWorkers,
    drive: async (run) => {
      await run.server.client.beta.sessions.update(run.session, { metadata: { 'claude_code.permission_mode': 'plan' } });
      const plan = (text: string) => ({ call: 'ExitPlanMode', input: { plan: text } });
      const child = script([bash('touch it')], [{ say: 'Child done.' }]);
      await run.say(`Go. ${script([{ think: 'Hm.' }, plan('# One')], [{ say: 'Again.' }, plan('# Two')], [delegate('worker', 'look', child)], [{ say: 'Done.' }])}`);
      const [first] = await run.needs(1);
      await run.decide(first!, 'deny', 'Not like this.');
      const second = await run.needsAnother(new Set([first!]));
      await run.decide(second, 'allow');
      const third = await run.needsAnother(new Set([first!, second]));
      await run.decide(third, 'allow');
      await run.rest();
    },
  },
  {
    name: 'interrupts of a session that is idle, and before the first message',
    drive: async (run) => {
      await run.send({ type: 'user.interrupt' });
      await run.ask(`Go. ${script([{ say: 'First.' }], [{ say: 'Second.' }])}`);
      await run.send({ type: 'user.interrupt' });
      await run.ask('And now?');
    },
  },
  {
    name: 'an interrupt at once behind the message, and the next message',
    isDisturbed: true,
    drive: async (run) => {
      await run.say(`Go. ${when({ 'And now': [{ say: 'I go on.' }] }, [{ say: 'First.', chunks: 5, every_ms: 100 }])}`);
      await run.send({ type: 'user.interrupt' });
      await run.rest();
      await run.ask('And now?');
    },
  },
  {
    name: 'an answer that pauses, and texts of white space',
    drive: async (run) => {
      await run.ask(`Go. ${script([{ say: 'One' }, { stop: 'pause_turn' }], [{ say: 'Two.' }], [{ think: '' }, { say: ' ' }, { say: 'Three.' }])}`);
      await run.ask('And now?');
    },
  },
];

await describeWithClaudeCode('one story of several things at once', ({ path, version }) => {
  const server = shareClaudeServer(path);

  it.for(select(scenarios, version))(
    '[J500] transcript, log and streams have the same content: %s',
    { timeout: 120_000 },
    async ([, scenario]) => {
      await runScenario(server(), scenario, version);
    },
  );
});

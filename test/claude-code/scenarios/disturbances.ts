import { script } from '../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { type AgentChoice, bash, delegate, toolset } from '../claude-server.ts';
import type { ScenarioRun } from './scenario-run.ts';

/** A moment at which a session is interrupted, its program killed or its server restarted. */
export interface Moment {
  readonly name: string;
  readonly agent?: AgentChoice;
  /** Speaks to the session and resolves at that moment. */
  readonly reach: (run: ScenarioRun) => Promise<void>;
}

/** A command that never ends. The program rejects a plain `sleep`. */
const FOREVER = 'touch begun; tail -f /dev/null';

const slowly = { say: 'One two three four five.', chunks: 5, every_ms: 600_000 };

/** The script with which the main agent answers the next message, however this turn ended. */
function thenOn(turn: readonly object[]): string {
  const next = { match: 'And now', turn: [{ say: 'I go on.' }] };
  return `<script>${JSON.stringify({ when: [next], else: turn }).replaceAll('<', '\\u003c')}</script>`;
}

function member(name: string, ...turns: readonly (readonly object[])[]): AgentChoice {
  return { name, system: `You are ${name}. ${script(...turns)}` };
}

export const moments: readonly Moment[] = [
  {
    name: 'in a text',
    reach: async (run) => {
      await run.say(`Go. ${thenOn([{ think: 'Hm.' }, { say: 'A whole one.' }, slowly])}`);
      await run.hears('One');
    },
  },
  {
    name: 'in a tool',
    reach: async (run) => {
      await run.say(`Go. ${thenOn([{ say: 'I begin.' }, bash(FOREVER)])}`);
      await run.hasFile('begun');
    },
  },
  {
    name: 'in an approval',
    agent: { tools: [toolset('always_ask')] },
    reach: async (run) => {
      await run.say(`Go. ${thenOn([{ say: 'May I?' }, bash('echo one')])}`);
      await run.needs(1);
    },
  },
  {
    name: 'in a question',
    reach: async (run) => {
      const options = ['Red', 'Blue'].map((label) => ({ label, description: label }));
      const questions = [{ question: 'Which colour?', header: 'Colour', options, multiSelect: false }];
      await run.say(`Go. ${thenOn([{ call: 'AskUserQuestion', input: { questions } }])}`);
      await run.needs(1);
    },
  },
  {
    name: 'with sub-agents in a text, a tool and an approval',
    agent: { roster: [{ name: 'worker' }, { name: 'asker', tools: [toolset('always_ask')] }] },
    reach: async (run) => {
      const all = [
        delegate('worker', 'text', script([{ say: 'I say.' }, slowly])),
        delegate('worker', 'tool', script([{ say: 'I do.' }, bash(FOREVER)], [{ say: 'Never.' }])),
        delegate('asker', 'ask', script([{ say: 'I ask.' }, bash('echo one')], [{ say: 'Never.' }])),
      ];
      await run.say(`Go. ${thenOn([{ say: 'I delegate.' }, ...all])}`);
      await run.hears('One');
      await run.hasFile('begun');
      await run.see((event) => event.type === 'agent.tool_use' && event.evaluated_permission === 'ask');
    },
  },
  {
    name: 'with agents of agents',
    agent: {
      roster: [
        member('middle', [{ say: 'I delegate.' }, delegate('deep', 'deep', '')], [{ say: 'Never.' }]),
        member(
          'deep',
          [{ think: 'Hm.' }, { say: 'Deep begins.' }, bash('echo one')],
          [{ say: 'Deep delegates.' }, delegate('deepest', 'report', '')],
          [{ say: 'Deep goes on.' }, bash('echo two; touch begun')],
          // 2.1.197 prints nothing more of it: only the transcript has the result.
          [slowly],
        ),
        member('deepest', [{ say: 'Deepest begins.' }, bash('echo three; exit 3')], [{ say: 'Deepest reports.' }]),
      ],
    },
    reach: async (run) => {
      // Newer releases delegate three levels deep only if they are allowed to.
      await run.server.client.beta.sessions.update(run.session, { metadata: { 'claude_code.depth': run.depthMax } });
      await run.say(`Go. ${thenOn([{ say: 'I begin.' }, delegate('middle', 'middle', '')])}`);
      await run.hasFile('begun');
      await run.hasTranscribed('echo two');
    },
  },
  {
    name: 'with a sub-agent in the background',
    agent: { roster: [{ name: 'worker' }] },
    reach: async (run) => {
      const prompt = `Look. ${script([{ say: 'I do.' }, bash(FOREVER)], [{ say: 'Never.' }])}`;
      const input = { subagent_type: 'worker', description: 'look', prompt, run_in_background: true };
      const launch = { call: 'Agent', input };
      const cases = [
        { match: 'And now', turn: [{ say: 'I go on.' }] },
        { match: 'Async agent launched', turn: [{ say: 'Under way.' }] },
        // Slower than the interrupt of the turn that the program begins when the agent was stopped.
        { match: 'task-notification', turn: [{ sleep_ms: 5_000 }, { say: 'It is over.' }] },
      ];
      await run.say(
        `Go. <script>${JSON.stringify({ when: cases, else: [launch] }).replaceAll('<', '\\u003c')}</script>`,
      );
      await run.hears('Under way.');
      await run.hasFile('begun');
    },
  },
];

/** Only a command in the background is running. */
export const inBackground: Moment = {
  name: 'with a command in the background',
  reach: async (run) => {
    const input = { command: FOREVER, description: 'Never ends', run_in_background: true };
    const launch = { call: 'Bash', input };
    const cases = [
      { match: 'And now', turn: [{ say: 'I go on.' }] },
      { match: 'running in background', turn: [{ say: 'Under way.' }] },
      { match: 'task-notification', turn: [{ say: 'It is over.' }] },
    ];
    await run.ask(`Go. <script>${JSON.stringify({ when: cases, else: [launch] }).replaceAll('<', '\\u003c')}</script>`);
    await run.hasFile('begun');
  },
};

const form = { type: 'custom', name: 'form', description: 'Asks', input_schema: { type: 'object', properties: {} } };

/** Moments in which two or more activities of one kind run at once. */
export const combinedMoments: readonly Moment[] = [
  {
    name: 'in a question, and an approval and a custom tool of sub-agents',
    agent: {
      roster: [
        { name: 'asker', tools: [toolset('always_ask')] },
        { name: 'caller', tools: [form] },
      ],
    },
    reach: async (run) => {
      const options = ['Red', 'Blue'].map((label) => ({ label, description: label }));
      const questions = [{ question: 'Which colour?', header: 'Colour', options, multiSelect: false }];
      const fill = { call: 'mcp__fleetloom__form', input: {} };
      const all = [
        delegate('asker', 'ask', script([{ say: 'I ask.' }, bash('echo one')], [{ say: 'Never.' }])),
        delegate('caller', 'call', script([{ say: 'I call.' }, fill], [{ say: 'Never.' }])),
        { call: 'AskUserQuestion', input: { questions } },
      ];
      await run.say(`Go. ${thenOn(all)}`);
      await run.needs(3);
    },
  },
  {
    name: 'in a custom tool of an agent of an agent',
    agent: {
      tools: [toolset('always_allow'), form],
      roster: [
        member('middle', [{ say: 'I delegate.' }, delegate('deep', 'deep', '')], [{ say: 'Never.' }]),
        {
          ...member('deep', [{ say: 'I call.' }, { call: 'mcp__fleetloom__form', input: {} }], [{ say: 'Never.' }]),
          tools: [toolset('always_allow'), form],
        },
      ],
    },
    reach: async (run) => {
      await run.server.client.beta.sessions.update(run.session, { metadata: { 'claude_code.depth': run.depthMax } });
      await run.say(`Go. ${thenOn([{ say: 'I begin.' }, delegate('middle', 'middle', '')])}`);
      await run.needs(1);
    },
  },
  {
    name: 'in a workflow with an agent that works and one that waits for an approval',
    agent: {
      tools: [{ ...toolset('always_allow'), configs: [{ name: 'bash', permission_policy: { type: 'always_ask' } }] }],
    },
    reach: async (run) => {
      const child = (name: string, ...turns: readonly object[][]) =>
        JSON.stringify(`Do ${name}. ${script(...turns)}`).replaceAll('<', '\\u003c');
      const asks = child('ask', [{ say: 'I ask.' }, bash('echo one')], [{ say: 'Never.' }]);
      const says = child('say', [{ say: 'I say.' }, slowly]);
      const meta = JSON.stringify({ name: 'look', description: 'Looks', phases: [{ title: 'Look' }] });
      const source = `export const meta = ${meta};\nreturn await parallel([() => agent(${asks}, { label: 'asks' }), () => agent(${says}, { label: 'says' })]);`;
      const cases = {
        'And now': [{ say: 'I go on.' }],
        'task-notification': [{ sleep_ms: 5_000 }, { say: 'It is over.' }],
        'Go\\.': [{ call: 'Workflow', input: { script: source } }],
      };
      const all = Object.entries(cases).map(([match, turn]) => ({ match, turn }));
      const otherwise = [{ say: 'Under way.' }];
      await run.say(
        `Go. <script>${JSON.stringify({ when: all, else: otherwise }).replaceAll('<', '\\u003c')}</script>`,
      );
      await run.hears('Under way.');
      await run.see((event) => event.type === 'agent.tool_use' && event.evaluated_permission === 'ask');
      await run.hears('One');
    },
  },
  {
    name: 'while requests of the main agent are retried',
    reach: async (run) => {
      const fail = { fail: { status: 529, times: 50, retry_after_s: 20 } };
      await run.say(`Go. ${thenOn([fail, { say: 'Never.' }])}`);
      await run.receives((event) => event.type === 'request_retrying');
    },
  },
  {
    name: 'with three sub-agents in their third text',
    agent: { roster: [{ name: 'worker' }] },
    reach: async (run) => {
      const texts = (name: string) => [
        { say: `${name} one.` },
        { think: `${name} thinks.` },
        { say: `${name} two.` },
        { say: `${name} open.`, chunks: 2, every_ms: 600_000 },
      ];
      const all = ['a', 'b', 'c'].map((name) => delegate('worker', name, script(texts(name))));
      await run.say(`Go. ${thenOn([{ say: 'I delegate.' }, ...all])}`);
      for (const name of ['a', 'b', 'c']) await run.hears(`${name} two.`);
    },
  },
  {
    name: 'with a sub-agent in the background that asks, and a command',
    agent: { roster: [{ name: 'asker', tools: [toolset('always_ask')] }] },
    reach: async (run) => {
      const prompt = `Look. ${script([{ say: 'I ask.' }, bash('echo one')], [{ say: 'Never.' }])}`;
      const agent = { subagent_type: 'asker', description: 'look', prompt, run_in_background: true };
      const command = { command: FOREVER, description: 'Never ends', run_in_background: true };
      const cases = [
        { match: 'And now', turn: [{ say: 'I go on.' }] },
        { match: 'task-notification', turn: [{ sleep_ms: 5_000 }, { say: 'It is over.' }] },
        { match: 'Async agent launched|running in background', turn: [{ say: 'Under way.' }] },
      ];
      const turn = [
        { call: 'Agent', input: agent },
        { call: 'Bash', input: command },
      ];
      await run.say(`Go. <script>${JSON.stringify({ when: cases, else: turn }).replaceAll('<', '\\u003c')}</script>`);
      await run.hears('Under way.');
      await run.hasFile('begun');
      await run.needs(1);
    },
  },
  {
    name: 'with a further run of a sub-agent',
    agent: { roster: [{ name: 'worker' }] },
    reach: async (run) => {
      const child = script(
        [{ say: 'First.' }, bash('echo one')],
        [{ say: 'First report.' }],
        [{ say: 'I do.' }, bash(FOREVER)],
      );
      const cases = [
        { match: 'And now', turn: [{ say: 'I go on.' }] },
        {
          match: '^a[0-9a-f]{16}',
          turn: [{ call: 'SendMessage', input: { to: '{{last_user}}', message: 'More.', summary: 'More please' } }],
        },
        { match: 'Go\\.', turn: [delegate('worker', 'look', child)] },
        { match: 'task-notification', turn: [{ sleep_ms: 5_000 }, { say: 'It is over.' }] },
        { match: 'First report', turn: [{ say: 'One.' }] },
      ];
      const turn = [{ say: 'Asked.' }];
      await run.ask(`Go. <script>${JSON.stringify({ when: cases, else: turn }).replaceAll('<', '\\u003c')}</script>`);
      const { frames } = await run.server.log(run.session);
      const created = frames.find(({ type }) => type === 'session.thread_created');
      await run.say(created?.type === 'session.thread_created' ? String(created.payload.program_key) : '');
      await run.hasFile('begun');
      await run.hears('Asked.');
    },
  },
  {
    name: 'with a message that the agent has not read',
    reach: async (run) => {
      const cases = [
        { match: 'And now', turn: [{ say: 'I go on.' }] },
        { match: 'think of this', turn: [{ say: 'I have read it.' }] },
      ];
      const turn = [{ say: 'I begin.' }, bash(FOREVER)];
      await run.say(`Go. <script>${JSON.stringify({ when: cases, else: turn }).replaceAll('<', '\\u003c')}</script>`);
      await run.hasFile('begun');
      await run.say('And think of this.');
    },
  },
];

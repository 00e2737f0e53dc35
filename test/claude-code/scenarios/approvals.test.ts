import { it } from 'vitest';
import { script } from '../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { serveMcp } from '../../../packages/server/src/tools/mcp/mcp-server.suite.ts';
import { describeWithClaudeCode } from '../../support/claude-code.ts';
import { bash, delegate, toolset } from '../claude-server.ts';
import { runScenario, select } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';
import { shareClaudeServer } from './shared-server.ts';

const asking = { tools: [toolset('always_ask')] };
const askingWorkers = { roster: [{ name: 'worker', ...asking }] };

const lookup = {
  type: 'custom',
  name: 'lookup',
  description: 'Looks a word up',
  input_schema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
};

function look(word: string): object {
  return { call: 'mcp__fleetloom__lookup', input: { word } };
}

function question(text: string): object {
  const options = ['Red', 'Blue'].map((label) => ({ label, description: label }));
  return {
    call: 'AskUserQuestion',
    input: { questions: [{ question: text, header: 'Colour', options, multiSelect: false }] },
  };
}

const readOnly = {
  type: 'agent_toolset_20260401',
  default_config: { enabled: false },
  configs: [{ name: 'read', enabled: true }],
};

/** Calls that wait for an answer from outside the program. */
const scenarios: readonly Scenario[] = [
  {
    name: 'a call of the main agent is allowed, the next one denied',
    isSmoke: true,
    agent: asking,
    drive: async (run) => {
      await run.say(`Go. ${script([{ say: 'May I?' }, bash('echo one')], [bash('echo two')], [{ say: 'Done.' }])}`);
      await run.decide((await run.needs(1))[0]!, 'allow');
      await run.see((event) => event.type === 'agent.tool_result');
      await run.decide((await run.needs(1))[0]!, 'deny', 'Not this one.');
      await run.rest();
    },
  },
  {
    name: 'two calls of one answer are decided in the other order',
    agent: asking,
    drive: async (run) => {
      await run.say(`Go. ${script([bash('echo one'), bash('echo two')], [{ say: 'Done.' }])}`);
      // The program may ask for the second one only when the first one is decided.
      const decided = new Set<string>();
      while (decided.size < 2) {
        const id = await run.needsAnother(decided);
        decided.add(id);
        await run.decide(id, decided.size === 1 ? 'deny' : 'allow');
      }
      await run.rest();
    },
  },
  {
    name: 'calls of two sub-agents are allowed and denied in the other order',
    isSmoke: true,
    agent: askingWorkers,
    drive: async (run) => {
      const child = (name: string) =>
        script([{ say: `${name} asks.` }, bash(`touch ${name}`)], [{ say: `${name} reports.` }]);
      const both = ['wanted', 'unwanted'].map((name) => delegate('worker', name, child(name)));
      await run.say(`Go. ${script(both, [{ say: 'Done.' }])}`);
      const [first, second] = await run.needs(2);
      await run.decide(second!, 'deny', 'Not this one.');
      await run.decide(first!, 'allow');
      await run.rest();
    },
  },
  {
    name: 'a call of the main agent and one of a sub-agent wait at the same time',
    agent: { ...asking, ...askingWorkers },
    drive: async (run) => {
      const child = script([bash('echo child')], [{ say: 'Child done.' }]);
      await run.say(`Go. ${script([delegate('worker', 'look', child), bash('echo main')], [{ say: 'Done.' }])}`);
      for (const id of (await run.needs(2)).toReversed()) await run.decide(id, 'allow');
      await run.rest();
    },
  },
  {
    name: 'a call of a sub-agent in the background is allowed after the turn',
    agent: askingWorkers,
    drive: async (run) => {
      const prompt = `Look. ${script([bash('echo child')], [{ say: 'My report.' }])}`;
      const input = { subagent_type: 'worker', description: 'look', prompt, run_in_background: true };
      await run.say(`Go. ${script([{ call: 'Agent', input }], [{ say: 'Under way.' }], [{ say: 'Heard.' }])}`);
      await run.decide((await run.needs(1))[0]!, 'allow');
      await run.rest();
    },
  },
  {
    name: 'a question is answered, another one refused',
    isSmoke: true,
    drive: async (run) => {
      await run.say(
        `Go. ${script([{ say: 'A question.' }, question('Which colour?')], [question('Really?')], [{ say: 'Done.' }])}`,
      );
      await run.give((await run.needs(1))[0]!, 'Blue');
      await run.see(
        (event) => event.type === 'agent.custom_tool_use' && JSON.stringify(event.input).includes('Really?'),
      );
      const [again] = await run.needs(1);
      const content = [{ type: 'text', text: 'I do not want to say.' }];
      await run.send({ type: 'user.custom_tool_result', custom_tool_use_id: again, content, is_error: true });
      await run.rest();
    },
  },
  {
    name: 'a custom tool is called by the main agent and by a sub-agent',
    agent: { tools: [toolset('always_allow'), lookup], roster: [{ name: 'worker', tools: [lookup] }] },
    drive: async (run) => {
      run.onEvent(async (event) => {
        if (event.type !== 'agent.custom_tool_use') return;
        await run.give(event.id, `${String(event.input['word'])} means something`);
      });
      const child = script([{ say: 'I look.' }, look('deep')], [{ say: 'Found it.' }]);
      await run.say(`Go. ${script([look('flat'), delegate('worker', 'look', child)], [{ say: 'Both found.' }])}`);
      await run.rest();
    },
  },
  {
    name: 'a tool of an MCP server is allowed and denied',
    agent: async () => {
      const mcp = await serveMcp();
      const asked = { default_config: { permission_policy: { type: 'always_ask' } } };
      const tools = [toolset('always_allow'), { type: 'mcp_toolset', mcp_server_name: 'desk', ...asked }];
      return { tools, mcp_servers: [{ type: 'url', name: 'desk', url: mcp.url }] };
    },
    drive: async (run) => {
      const echo = { call: 'mcp__desk__echo', input: {} };
      await run.say(`Go. ${script([echo], [echo], [{ say: 'Done.' }])}`);
      await run.decide((await run.needs(1))[0]!, 'allow');
      await run.see((event) => event.type === 'agent.mcp_tool_result');
      await run.decide((await run.needs(1))[0]!, 'deny', 'Not again.');
      await run.rest();
    },
  },
  {
    name: 'tools that the definition does not allow',
    agent: { tools: [toolset('always_allow')], roster: [{ name: 'reader', tools: [readOnly] }] },
    drive: (run) => {
      const child = script([{ say: 'I try.' }, bash('touch by-reader')], [{ say: 'I could not.' }]);
      return run.ask(`Go. ${script([bash('touch by-main'), delegate('reader', 'read', child)], [{ say: 'Done.' }])}`);
    },
  },
  {
    name: 'calls that the permission mode refuses',
    agent: asking,
    drive: async (run) => {
      const metadata = { 'claude_code.permission_mode': 'dontAsk' };
      await run.server.client.beta.sessions.update(run.session, { metadata });
      await run.ask(`Go. ${script([bash('touch it')], [{ say: 'I could not.' }])}`);
    },
  },
  {
    name: 'a plan is made and approved',
    drive: async (run) => {
      const metadata = { 'claude_code.permission_mode': 'plan' };
      await run.server.client.beta.sessions.update(run.session, { metadata });
      run.onEvent(async (event) => {
        const stop = event.type === 'session.status_idle' ? event.stop_reason : undefined;
        if (stop?.type === 'requires_action') for (const id of stop.event_ids) await run.decide(id, 'allow');
      });
      const plan = { call: 'ExitPlanMode', input: { plan: '# The plan\n\n1. Do it.' } };
      await run.ask(`Go. ${script([{ say: 'I plan.' }, plan], [bash('echo done')], [{ say: 'Done.' }])}`);
    },
  },
];

await describeWithClaudeCode('one story with approvals', ({ path, version }) => {
  const server = shareClaudeServer(path);

  it.for(select(scenarios, version))(
    '[J332] transcript, log and streams have the same content: %s',
    { timeout: 120_000 },
    async ([, scenario]) => {
      await runScenario(server(), scenario, version);
    },
  );
});

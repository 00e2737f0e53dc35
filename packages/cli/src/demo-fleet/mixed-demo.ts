import type { Agent, AgentCreateParams } from '@fleetloom/protocol/managed-agents';
import type { FleetProgram } from '@fleetloom/protocol/fleet';
import type { ServerApi } from '../connection/server-api.ts';

/** The title of the demo with members on several programs. */
export const mixedTitle = 'Demo: Claude Code, Codex and opencode look at ferry';

/** The task of the lead in that demo. */
export const mixedTask = 'Look at ferry with your team, each on its own engine, and report what you found.';

/** A member of the team. `bash` is the step with which its program runs a command. */
interface Member {
  readonly program: string;
  readonly title: string;
  readonly model: string;
  readonly bash: (command: string) => object;
  readonly task: string;
  readonly commands: readonly string[];
  readonly report: string;
  /** Whether commands of the member need an approval. */
  readonly asks: boolean;
}

const described = (call: string) => (command: string) => ({
  call,
  input: { command, description: 'Looks at the project' },
});

const team: readonly Member[] = [
  {
    program: 'claude-code',
    title: 'Claude Code',
    model: 'claude-code/default',
    bash: described('Bash'),
    task: 'Review src/retry.js, and write down what you found in docs/review.md.',
    commands: [
      'head -n 30 src/retry.js',
      'echo "The first wait is two seconds, and the documentation says one." > docs/review.md',
    ],
    report: 'The first wait is longer than the documentation says. I have written docs/review.md.',
    asks: false,
  },
  {
    program: 'codex',
    title: 'Codex',
    model: 'codex/gpt-5.5',
    bash: (cmd) => ({ call: 'exec_command', input: { cmd } }),
    task: 'Count the tests. Your command has to be approved.',
    commands: ["grep -c 'test(' test/*.js"],
    report: 'I have counted the tests of each file.',
    asks: true,
  },
  {
    program: 'opencode',
    title: 'opencode',
    model: 'opencode/scripted/default',
    bash: described('bash'),
    task: 'Find every TODO, and list them in docs/todo.md.',
    commands: ["grep -rn 'TODO' src > docs/todo.md; wc -l < docs/todo.md"],
    report: 'All of them are in docs/todo.md.',
    asks: false,
  },
];

/** Creates the lead and its team, and returns the id of the lead. A program that is not installed is replaced by a scripted agent. */
export async function saveMixedTeam(api: ServerApi): Promise<string> {
  const { data: programs } = await api.get<{ data: readonly FleetProgram[] }>('/v1/programs');
  const isUsable = (name: string) =>
    programs.some(({ id, version, problem }) => id === name && version !== null && problem === null);
  const known = new Map<string, string>();
  for await (const { id, name } of api.list<Agent>('/v1/agents')) known.set(name, id);
  const save = async (agent: AgentCreateParams): Promise<string> => {
    const before = known.get(agent.name);
    return (await api.post<Agent>(before === undefined ? '/v1/agents' : `/v1/agents/${before}`, agent)).id;
  };
  const members = team.map((member) => (isUsable(member.program) ? member : toStandIn(member)));
  const ids: string[] = [];
  for (const member of members) ids.push(await save(toAgent(member)));
  return await save({
    name: 'demo-mixed-lead',
    model: 'scripted/echo',
    description: 'Coordinates agents on three engines',
    system: toScript(toLeadTurns(members)),
    multiagent: { type: 'coordinator', agents: ids },
  });
}

function nameOf({ program }: Member): string {
  return `demo-${program}`;
}

/** Replaces the program of a member by the scripted model, which plays the same steps. */
function toStandIn(member: Member): Member {
  const bash = (command: string) => ({ call: 'bash', input: { command } });
  return { ...member, title: `${member.title} (not installed: scripted)`, model: 'scripted/echo', bash };
}

function toAgent(member: Member): AgentCreateParams {
  const policy = { type: member.asks ? 'always_ask' : 'always_allow' } as const;
  return {
    name: nameOf(member),
    model: member.model,
    description: member.title,
    tools: [{ type: 'agent_toolset_20260401', default_config: { permission_policy: policy } }],
  };
}

function toLeadTurns(members: readonly Member[]): readonly (readonly object[])[] {
  const tasks = members.map((member) => ({
    agent: nameOf(member),
    message: `${member.task} ${toScript(toMemberTurns(member))}`,
  }));
  return [
    [
      { think: 'Three engines, one project. I look at my team first.', every_ms: 35 },
      { say: 'Let me see who is there.', every_ms: 50 },
      { call: 'list_agents', input: {} },
    ],
    [
      { say: 'Each of them gets a part, at the same time.', every_ms: 50 },
      { call: 'delegate', input: { tasks } },
    ],
    [{ say: 'All have reported:\n\n{{last_result}}', every_ms: 20 }],
  ];
}

function toMemberTurns({ title, bash, commands, report }: Member): readonly (readonly object[])[] {
  return [
    ...commands.map((command, at) => [...(at === 0 ? [{ say: `${title} begins.`, every_ms: 60 }] : []), bash(command)]),
    [{ say: report, every_ms: 60 }],
  ];
}

/** The text of a script. `<` is escaped, because the text may be part of another script. */
function toScript(turns: readonly (readonly object[])[]): string {
  return `<script>${JSON.stringify({ turns }).replaceAll('<', '\\u003c')}</script>`;
}

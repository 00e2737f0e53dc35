import type { Api } from './api.ts';

// Scripted agents, few and short enough for a test.

type Steps = readonly (readonly object[])[];

/** An agent whose `write` and `edit` calls need approval. */
export async function createAgent(
  api: Api,
  name: string,
  turns: Steps,
  members: readonly string[] = [],
): Promise<string> {
  const script = JSON.stringify({ turns }).replaceAll('<', '\\u003c');
  const asks = (tool: 'write' | 'edit') => ({ name: tool, permission_policy: { type: 'always_ask' } });
  const agent = await api.post('/v1/agents', {
    name,
    model: 'scripted/test',
    system: `<script>${script}</script>`,
    tools: [
      {
        type: 'agent_toolset_20260401',
        default_config: { permission_policy: { type: 'always_allow' } },
        configs: [asks('write'), asks('edit')],
      },
    ],
    ...(members.length === 0 ? {} : { multiagent: { type: 'coordinator', agents: [...members] } }),
  });
  return agent.id;
}

export async function startSession(api: Api, agent: string, title: string): Promise<string> {
  const environment = await api.post('/v1/environments', { name: 'here' });
  const session = await api.post('/v1/sessions', {
    agent,
    environment_id: environment.id,
    title,
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'Begin.' }] }],
  });
  return session.id;
}

/** A coordinator with `count` children, each of which writes a file and reports the result. */
export async function startFleetWithApprovals(api: Api, children: number): Promise<string> {
  const writer = await createAgent(api, 'writer', [
    [
      { think: 'A file is needed.' },
      { say: 'I write it down, so that it is not lost.' },
      { call: 'write', input: { file_path: 'note-{{last_user}}.txt', content: 'written\n' } },
    ],
    [{ say: 'It says: {{last_result}}' }],
  ]);
  const tasks = Array.from({ length: children }, (_, index) => ({ agent: 'writer', message: String(index + 1) }));
  const lead = await createAgent(
    api,
    'lead',
    [
      [{ say: 'I ask the others.' }, { call: 'delegate', input: { tasks } }],
      [{ say: 'All have answered.\n\n{{results}}' }],
    ],
    [writer],
  );
  return startSession(api, lead, 'Writers');
}

/** A coordinator and children that write text for a while. */
export async function startWritingFleet(api: Api, children: number, words: number, everyMs: number): Promise<string> {
  const text = Array.from({ length: words }, (_, index) => `word${index}`).join(' ');
  const talker = await createAgent(api, 'talker', [
    [
      { think: 'I think about {{last_user}}.' },
      { say: `About {{last_user}}: ${text}`, every_ms: everyMs },
      { call: 'glob', input: { pattern: '*.md' } },
    ],
    [{ say: 'That was **all** about {{last_user}}.', every_ms: everyMs }],
  ]);
  const tasks = Array.from({ length: children }, (_, index) => ({ agent: 'talker', message: `topic ${index + 1}` }));
  const lead = await createAgent(
    api,
    'lead',
    [[{ say: 'I ask around.' }, { call: 'delegate', input: { tasks } }], [{ say: 'All have spoken.' }]],
    [talker],
  );
  return startSession(api, lead, 'Talkers');
}

/** Waits until the session is idle. */
export async function untilIdle(api: Api, sessionId: string): Promise<void> {
  for (;;) {
    const { status } = await api.get<{ status: string }>(`/v1/sessions/${sessionId}`);
    if (status === 'idle' || status === 'terminated') return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { onTestFinished } from 'vitest';
import { createClaudeCodeEngine } from '../../packages/server/src/engines/claude-code/claude-code-engine.ts';
import type { Program, ProgramEngine, ProgramEvent } from '../../packages/server/src/engines/program.ts';
import { serveScriptedModel } from '../../packages/server/src/engines/scripted/index.ts';
import { claudeCodeEnvironment, temporaryHome } from '../support/claude-code.ts';

/** The engine with the real program, in front of the scripted model. Whatever it started is gone after the test. */
export interface TestedEngine {
  readonly engine: ProgramEngine;
  readonly home: string;
  /** Where agents work. */
  readonly directory: string;
  /** Opens a program and begins to listen to it. */
  readonly open: (changes?: Partial<Opening>) => Promise<Conversation>;
}

export interface Opening {
  readonly agent: AgentSnapshot;
  readonly members: readonly AgentSnapshot[];
  readonly resume: string | null;
}

export async function openEngine(path: string, { isTapped = true } = {}): Promise<TestedEngine> {
  const home = await temporaryHome();
  const directory = join(home, 'work');
  await mkdir(directory);
  const model = await serveScriptedModel();
  const direct = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'none' };
  const upstream = { type: 'endpoint', baseURL: model.url, credential: { apiKey: 'none' } } as const;
  const engine = createClaudeCodeEngine({
    program: path,
    directory: join(home, 'programs'),
    environment: claudeCodeEnvironment(home, isTapped ? {} : direct),
    upstream: isTapped ? upstream : null,
  });
  onTestFinished(async () => {
    await engine.close();
    await model.close();
  });
  const open = async (changes: Partial<Opening> = {}) => {
    const opening = { agent: agent(), members: [], resume: null, ...changes };
    return listen(await engine.open({ sessionId: 'sesn_test', directory, depthMax: 1, known: [], ...opening }));
  };
  return { engine, home, directory, open };
}

/** A program and everything that it has told so far. */
export interface Conversation {
  readonly program: Program;
  readonly events: readonly ProgramEvent[];
  /** The first event that this holds for, as soon as there is one. */
  readonly find: <Found extends ProgramEvent>(holds: (event: ProgramEvent) => event is Found) => Promise<Found>;
  /** The first one of the type, behind so many others of it. */
  readonly next: <Type extends ProgramEvent['type']>(
    type: Type,
    before?: number,
  ) => Promise<Extract<ProgramEvent, { type: Type }>>;
}

function listen(program: Program): Conversation {
  const events: ProgramEvent[] = [];
  let wake = () => {};
  let isOver = false;
  void (async () => {
    for await (const batch of program.events) {
      events.push(...batch);
      wake();
    }
    isOver = true;
    wake();
  })();
  const waitFor = async <Found>(look: () => Found | undefined): Promise<Found> => {
    while (true) {
      const found = look();
      if (found !== undefined) return found;
      if (isOver) throw new Error(`it ended without it: ${JSON.stringify(events, null, 1)}`);
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  return {
    program,
    events,
    find: (holds) => waitFor(() => events.find(holds)),
    next: (type, before = 0) => {
      type Wanted = Extract<ProgramEvent, { type: typeof type }>;
      return waitFor(() => events.filter((event): event is Wanted => event.type === type)[before]);
    },
  };
}

/** An agent with all tools of the program, allowed unless it is said. */
export function agent(changes: Partial<AgentSnapshot> = {}): AgentSnapshot {
  return {
    type: 'agent',
    id: 'agent_test',
    version: 1,
    name: 'coordinator',
    description: null,
    system: null,
    model: { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' },
    tools: [toolset('always_allow')],
    mcp_servers: [],
    skills: [],
    execution_identity: { type: 'service_account' },
    ...changes,
  };
}

export function toolset(policy: 'always_allow' | 'always_ask'): AgentSnapshot['tools'][number] {
  return {
    type: 'agent_toolset_20260401',
    default_config: { enabled: true, permission_policy: { type: policy } },
    configs: [],
  };
}

/** A message that makes the scripted model play these turns. */
export function script(...turns: readonly (readonly object[])[]): string {
  return `<script>${JSON.stringify({ turns }).replaceAll('<', '\\u003c')}</script>`;
}

export function said(text: string): readonly [{ readonly type: 'text'; readonly text: string }] {
  return [{ type: 'text', text }];
}

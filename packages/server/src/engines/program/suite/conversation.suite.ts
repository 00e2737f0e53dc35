import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import type { AssistantBlock } from '../../../base/content.ts';
import type { Program, ProgramEngine, ProgramEvent, ProgramOptions } from '../program.ts';

/** An engine under test, with the scripted model as its endpoint. */
export interface TestedPrograms {
  readonly engine: ProgramEngine;
  /** The workspace of its agents. */
  readonly directory: string;
  /** The model of all agents; by default the default model of the claude program. */
  readonly model?: string | undefined;
  /** Returns the number of running processes that the engine has started, with or without their parents. */
  readonly countProcesses: () => number;
  /** Closes the engine, and the resources of the test. */
  readonly close: () => Promise<void>;
}

/** A program and every event that it has emitted so far. */
export interface Conversation {
  readonly program: Program;
  readonly events: readonly ProgramEvent[];
  /** Resolves with the first event for which `holds` is true. */
  readonly find: <Found extends ProgramEvent>(holds: (event: ProgramEvent) => event is Found) => Promise<Found>;
  /** Resolves with the first event of the type after `before` events of it. */
  readonly next: <Type extends ProgramEvent['type']>(type: Type, before?: number) => Promise<EventOf<Type>>;
  /** Sends a message, and waits for the end of the turn that it begins. */
  readonly ask: (text: string) => Promise<EventOf<'turn_ended'>>;
}

export type EventOf<Type extends ProgramEvent['type']> = Extract<ProgramEvent, { type: Type }>;

/** Opens a program and begins to read its events. */
export async function converse(
  tested: Pick<TestedPrograms, 'engine' | 'directory' | 'model'>,
  changes: Partial<ProgramOptions> = {},
): Promise<Conversation> {
  return listen(await openTested(tested, changes));
}

/** Opens a program whose agents all have the tested model. */
export function openTested(
  { engine, directory, model }: Pick<TestedPrograms, 'engine' | 'directory' | 'model'>,
  changes: Partial<ProgramOptions> = {},
): Promise<Program> {
  const options = toOptions(directory, changes);
  const on = (one: AgentSnapshot) => (model === undefined ? one : { ...one, model: { ...one.model, id: model } });
  return engine.open({ ...options, agent: on(options.agent), members: options.members.map(on) });
}

export function toOptions(directory: string, changes: Partial<ProgramOptions> = {}): ProgramOptions {
  const usual = { sessionId: 'sesn_test', agent: agent(), members: [], depthMax: 1, known: [], resume: null };
  return { directory, ...usual, ...changes };
}

export function listen(program: Program): Conversation {
  const events: ProgramEvent[] = [];
  let waiting: (() => void)[] = [];
  const wake = () => {
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
  };
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
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  const ofType = <Type extends ProgramEvent['type']>(type: Type) =>
    events.filter((event): event is EventOf<Type> => event.type === type);
  return {
    program,
    events,
    find: (holds) => waitFor(() => events.find(holds)),
    next: (type, before = 0) => waitFor(() => ofType(type)[before]),
    ask: (text) => {
      const before = ofType('turn_ended').length;
      program.say(said(text));
      return waitFor(() => ofType('turn_ended')[before]);
    },
  };
}

/** An agent with all tools of the program, allowed unless `changes` says otherwise. */
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

/** A message that makes the scripted model play these turns, one for each request. */
export function script(...turns: readonly (readonly object[])[]): string {
  return toElement({ turns });
}

/** A message that makes the scripted model choose a turn by the last message. */
export function scriptByWords(cases: Readonly<Record<string, readonly object[]>>): string {
  return toElement({ when: Object.entries(cases).map(([match, turn]) => ({ match, turn })) });
}

function toElement(content: object): string {
  return `<script>${JSON.stringify(content).replaceAll('<', '\\u003c')}</script>`;
}

export function said(text: string): readonly [{ readonly type: 'text'; readonly text: string }] {
  return [{ type: 'text', text }];
}

/** The complete blocks of an agent. */
export function wholeOf(events: readonly ProgramEvent[], key = 'main'): AssistantBlock[] {
  return events.flatMap((event) => (event.type === 'block_ended' && event.key === key ? [event.content] : []));
}

export function textsOf(events: readonly ProgramEvent[], key = 'main'): string[] {
  return wholeOf(events, key).flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

import type { OpenProgramEngine } from './program-host.ts';

/** The entry of a program engine in the registry. Its implementation is loaded when a server starts. */
export interface ProgramEntry {
  /** The engine runs sessions whose model is `<name>/…`, and is described at `/v1/programs/<name>`. */
  readonly name: string;
  /**
   * There are several engines of this kind, each with a name that the operator gives it: `acp:<name>/…`. The engine named `acp` removes files of
   * engines that are no longer configured.
   */
  readonly isNamed?: boolean | undefined;
  /** Keys of a session's metadata that begin with this configure the engine. */
  readonly optionPrefix: string;
  /** Models that are offered to people, each without the name of the engine. The program accepts others as well. */
  readonly models?: readonly string[];
  /** Loads the function that opens the engine. */
  readonly load: () => Promise<OpenProgramEngine>;
}

/** Every known program engine. A new engine needs its folder and one line here. */
const entries: ProgramEntry[] = [
  {
    name: 'claude-code',
    optionPrefix: 'claude_code.',
    models: ['default', 'opus', 'sonnet', 'haiku'],
    load: async () => (await import('./claude-code/open-claude-code.ts')).openClaudeCode,
  },
  {
    name: 'codex',
    optionPrefix: 'codex.',
    load: async () => (await import('./codex/open-codex.ts')).openCodex,
  },
  {
    name: 'opencode',
    optionPrefix: 'opencode.',
    load: async () => (await import('./opencode/open-opencode.ts')).openOpencode,
  },
  {
    name: 'acp',
    isNamed: true,
    optionPrefix: 'acp.',
    load: async () => (await import('./acp/open-acp.ts')).openAcp,
  },
];

/** Adds an engine for this process until the returned function is called, so that a test can use an engine of its own. */
export function registerProgram(entry: ProgramEntry): () => void {
  if (entries.some(({ name }) => name === entry.name)) {
    throw new Error(`A program engine named ${entry.name} is registered already. Choose another name.`);
  }
  entries.push(entry);
  return () => void entries.splice(entries.indexOf(entry), 1);
}

/** All registered engines. */
export function listPrograms(): readonly ProgramEntry[] {
  return [...entries];
}

/** The engine that runs sessions with this model; undefined for a model that answers single requests. */
export function findProgramEntry(model: string): ProgramEntry | undefined {
  const engine = toEngineName(model);
  return entries.find(({ name, isNamed = false }) => (isNamed ? isOfKind(engine, name) : engine === name));
}

/** The name of the engine of a model: `codex`, `acp:opencode`. Undefined for a model without one. */
export function toEngineName(model: string): string | undefined {
  return /^([^/]+)\//.exec(model)?.[1];
}

/** The names of engines of this entry, given the names that the operator has configured. */
export function listEngineNames({ name, isNamed = false }: ProgramEntry, configured: readonly string[]): string[] {
  return isNamed ? [...configured.filter((each) => isOfKind(each, name)), name] : [name];
}

function isOfKind(engine: string | undefined, kind: string): boolean {
  return engine?.startsWith(`${kind}:`) === true && ENGINE_NAME.test(engine.slice(kind.length + 1));
}

/** A name that an operator can give an engine. */
const ENGINE_NAME = /^[A-Za-z0-9][\w.-]{0,62}$/;

/** Whether a program engine runs sessions with this model. */
export function isProgramModel(model: string): boolean {
  return findProgramEntry(model) !== undefined;
}

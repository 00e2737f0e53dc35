import { cutText } from '@fleetloom/protocol/fleet';
import { limits } from '../base/limits.ts';
import type { ProgramFacts } from './program.ts';

/** Which settings a program loads beside the agent's definition: those of the workspace, and with `user` the operator's own too. */
export const settingsChoices = ['none', 'project', 'user'] as const;
export type SettingsChoice = (typeof settingsChoices)[number];

/** Keys in a session's metadata with which its program is configured. */
export const programOptionKeys = {
  model: 'claude_code.model',
  permissionMode: 'claude_code.permission_mode',
  depth: 'claude_code.depth',
  settings: 'claude_code.settings',
} as const;

/** What a program is started with: a change holds from its next start on. */
export interface StartOptions {
  /** Null: what the session was created with. */
  readonly depth: number | null;
  readonly settings: SettingsChoice;
}

type Metadata = Readonly<Record<string, unknown>>;

export function startOptionsOf(metadata: Metadata): StartOptions {
  const { [programOptionKeys.depth]: depth, [programOptionKeys.settings]: settings } = metadata;
  return {
    depth: typeof depth === 'string' && isDepth(depth) ? Number(depth) : null,
    settings: settingsChoices.find((choice) => choice === settings) ?? 'none',
  };
}

export interface InvalidOption {
  readonly problem: string;
  readonly advice: string;
}

/** The first option that the program cannot have; null if it can have all of them. A key that is removed is always valid. */
export function findInvalidOption(metadata: Metadata, facts: ProgramFacts): InvalidOption | null {
  const unknown = optionKeysOf(metadata).find((key) => !knownKeys.includes(key));
  if (unknown !== undefined) return toInvalid(unknown, 'is not an option of a program');
  const empty = optionKeysOf(metadata).find((key) => metadata[key] === '');
  if (empty !== undefined) return { problem: `metadata.${empty}: is empty`, advice: 'give a value, or remove the key' };
  const values = (Object.keys(programOptionKeys) as (keyof typeof programOptionKeys)[]).flatMap((option) => {
    const value = metadata[programOptionKeys[option]];
    return typeof value === 'string' ? [{ option, value }] : [];
  });
  for (const { option, value } of values) {
    const allowed = allowedOf(option, facts);
    if (allowed === null || allowed.values.includes(value)) continue;
    const { values: known, why = '' } = allowed;
    const problem = `metadata.${programOptionKeys[option]}: ${JSON.stringify(value)} is not possible${why}`;
    return { problem, advice: `use one of ${known.join(', ')}, or remove the key` };
  }
  return null;
}

/** The first option in the metadata of a session that no program runs; null if there is none. */
export function findForeignOption(metadata: Metadata): InvalidOption | null {
  const [key] = optionKeysOf(metadata);
  if (key === undefined) return null;
  const problem = `metadata.${clip(key)}: the model of this session is not a program`;
  return { problem, advice: `remove the key, or use a claude-code/… model; its keys are ${knownKeys.join(', ')}` };
}

const OPTION_PREFIX = 'claude_code.';
const knownKeys: readonly string[] = Object.values(programOptionKeys);

function optionKeysOf(metadata: Metadata): string[] {
  return Object.keys(metadata).filter((key) => key.startsWith(OPTION_PREFIX) && typeof metadata[key] === 'string');
}

function toInvalid(key: string, why: string): InvalidOption {
  return { problem: `metadata.${clip(key)}: ${why}`, advice: `use one of ${knownKeys.join(', ')}, or remove the key` };
}

/** Keys come from callers and may be long. */
function clip(key: string): string {
  return cutText(key, limits.excerptCharsMax);
}

interface Allowed {
  readonly values: readonly string[];
  readonly why?: string;
}

/** Null: any value. Only the endpoint knows which models there are. */
function allowedOf(option: keyof typeof programOptionKeys, facts: ProgramFacts): Allowed | null {
  const { version, permissionModes, depths, settings } = facts;
  const program = version === null ? 'the program' : `version ${version} of the program`;
  switch (option) {
    case 'model':
      return null;
    case 'permissionMode':
      return { values: permissionModes, why: ` with ${program}` };
    case 'depth':
      return { values: depths.map(String), why: ` with ${program}` };
    case 'settings':
      return { values: settings, why: settings.includes('user') ? '' : USER_SETTINGS };
  }
}

const USER_SETTINGS =
  ': a program in the sandbox does not see the settings of the operator (`user` needs a server with --unsandboxed-programs)';

function isDepth(text: string): boolean {
  return /^[1-9]$/.test(text);
}

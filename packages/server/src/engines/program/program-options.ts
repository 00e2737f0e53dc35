import { cutText } from '@fleetloom/protocol/fleet';
import { baseLimits } from '../../base/limits.ts';
import { type ProgramFacts, type SettingsChoice, settingsChoices } from './program.ts';
import { findProgramEntry, listPrograms, type ProgramEntry } from './registry.ts';

/** Options of a program, and the ends of the keys that set them in a session's metadata. */
const optionNames = {
  model: 'model',
  permissionMode: 'permission_mode',
  depth: 'depth',
  settings: 'settings',
} as const;
type OptionName = keyof typeof optionNames;

/** The options that a session's metadata sets for the program of its model, unchecked. */
export function programOptionsOf(model: string, metadata: Metadata): Partial<Record<OptionName, unknown>> {
  const entry = findProgramEntry(model);
  if (entry === undefined) return {};
  return Object.fromEntries(options.map((option) => [option, metadata[toKey(entry, option)]]));
}

/** The options that apply at the start of a program: a change takes effect at its next start. */
export interface StartOptions {
  /** The depth of delegation; null: the depth that the session was created with. */
  readonly depth: number | null;
  readonly settings: SettingsChoice;
}

type Metadata = Readonly<Record<string, unknown>>;

/** The start options in a session's metadata; an invalid value counts as not set. */
export function startOptionsOf(model: string, metadata: Metadata): StartOptions {
  const { depth, settings } = programOptionsOf(model, metadata);
  return {
    depth: typeof depth === 'string' && isDepth(depth) ? Number(depth) : null,
    settings: settingsChoices.find((choice) => choice === settings) ?? 'none',
  };
}

/** An option that a session cannot have, with advice to the caller. */
export interface InvalidOption {
  readonly problem: string;
  readonly advice: string;
}

/** The first option that the program cannot have; null if all are valid. A key that is removed is always valid. */
export function findInvalidOption(metadata: Metadata, entry: ProgramEntry, facts: ProgramFacts): InvalidOption | null {
  const known = keysOf(entry);
  const given = givenKeys(metadata, entry);
  const unknown = given.find((key) => !known.includes(key));
  if (unknown !== undefined) {
    const problem = `metadata.${clip(unknown)}: is not an option of a program`;
    return { problem, advice: `use one of ${known.join(', ')}, or remove the key` };
  }
  const empty = given.find((key) => metadata[key] === '');
  if (empty !== undefined) return { problem: `metadata.${empty}: is empty`, advice: 'give a value, or remove the key' };
  for (const option of options) {
    const key = toKey(entry, option);
    const value = metadata[key];
    const allowed = allowedOf(option, facts);
    if (typeof value !== 'string' || allowed === null || allowed.values.includes(value)) continue;
    const problem = `metadata.${key}: ${JSON.stringify(value)} is not possible${allowed.why ?? ''}`;
    return { problem, advice: `use one of ${allowed.values.join(', ')}, or remove the key` };
  }
  return null;
}

/** The first option in the metadata of a session that belongs to a program that runs none of its models; null if there is none. */
export function findForeignOption(metadata: Metadata, models: readonly string[]): InvalidOption | null {
  const own = models.map(findProgramEntry);
  for (const entry of listPrograms()) {
    const [key] = own.includes(entry) ? [] : givenKeys(metadata, entry);
    if (key === undefined) continue;
    const what = own.every((program) => program === undefined) ? 'a program' : entry.name;
    const problem = `metadata.${clip(key)}: the model of this session is not ${what}`;
    const keys = keysOf(entry).join(', ');
    return { problem, advice: `remove the key, or use a ${entry.name}/… model; its keys are ${keys}` };
  }
  return null;
}

const options = Object.keys(optionNames) as readonly OptionName[];

function toKey({ optionPrefix }: ProgramEntry, option: OptionName): string {
  return `${optionPrefix}${optionNames[option]}`;
}

function keysOf(entry: ProgramEntry): string[] {
  return options.map((option) => toKey(entry, option));
}

function givenKeys(metadata: Metadata, { optionPrefix }: ProgramEntry): string[] {
  return Object.keys(metadata).filter((key) => key.startsWith(optionPrefix) && typeof metadata[key] === 'string');
}

/** Shortens a key for a message: keys come from callers and may be long. */
function clip(key: string): string {
  return cutText(key, baseLimits.excerptCharsMax);
}

interface Allowed {
  readonly values: readonly string[];
  readonly why?: string;
}

/** The allowed values of an option. Null: any value, because only the endpoint knows its models. */
function allowedOf(option: OptionName, facts: ProgramFacts): Allowed | null {
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

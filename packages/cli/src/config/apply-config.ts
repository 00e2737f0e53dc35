import type { Command, Option } from 'commander';
import type { Io } from '../io.ts';
import { UsageError } from '../usage-error.ts';
import type { Config } from './read-config.ts';

/**
 * Gives a command the values that stand in the configuration, where neither an option nor a variable says otherwise.
 * `port: 4300` is for every command that has `--port`; below the name of a command it is for that one.
 */
export function applyConfig(env: Io['env'], command: Command, { file, values }: Config): void {
  const program = topOf(command);
  checkNames(program, file, values);
  const own = values[command.name()];
  for (const option of command.options) {
    const value = valueOf(own, option) ?? valueOf(values, option);
    if (value === undefined || isSaid(env, command, option)) continue;
    command.setOptionValueWithSource(option.attributeName(), toValue(file, option, value), 'config');
  }
}

/** Variables that say what an option says. */
const VARIABLES: Readonly<Record<string, string | undefined>> = {
  port: 'PORT',
  host: 'HOST',
  data: 'FLEETLOOM_DATA',
  database: 'FLEETLOOM_DATABASE',
  'database-listen': 'FLEETLOOM_DATABASE_LISTEN',
  url: 'FLEETLOOM_URL',
  key: 'FLEETLOOM_KEY',
  'model-base-url': 'ANTHROPIC_BASE_URL',
};

function isSaid(env: Io['env'], command: Command, option: Option): boolean {
  const variable = VARIABLES[nameOf(option)];
  const isSet = variable !== undefined && (env[variable] ?? '') !== '';
  return isSet || command.getOptionValueSource(option.attributeName()) === 'cli';
}

function toValue(file: string, option: Option, value: unknown): unknown {
  const takesValue = option.required || option.optional;
  if (!takesValue && typeof value === 'boolean') return value;
  const values: readonly unknown[] = option.variadic && Array.isArray(value) ? value : [value];
  if (takesValue && values.every((each) => typeof each === 'string' || typeof each === 'number')) {
    try {
      return toParsed(option, values.map(String));
    } catch (error) {
      throw wrong(file, option, error instanceof Error ? error.message : String(error));
    }
  }
  throw wrong(file, option, takesValue ? 'It takes a text or a number.' : 'It is true or false.');
}

/** As if they had been given on the command line: an option that takes several gets a list, also of one. */
function toParsed({ variadic, parseArg }: Option, texts: readonly string[]): unknown {
  if (parseArg === undefined) return variadic ? texts : texts[0];
  return texts.reduce((before: unknown, text) => parseArg(text, before), undefined);
}

function wrong(file: string, option: Option, reason: string): UsageError {
  return new UsageError(`"${nameOf(option)}" in "${file}" is wrong: ${reason}`, 'Mend it there.');
}

/** A misspelt name would otherwise do nothing, and nobody would know why. */
function checkNames(program: Command, file: string, values: Readonly<Record<string, unknown>>): void {
  const commands = new Map(program.commands.map((each) => [each.name(), each]));
  const all = new Set(program.commands.flatMap(({ options }) => options.map(nameOf)));
  for (const [name, value] of Object.entries(values)) {
    const command = commands.get(name);
    const isGroup = command !== undefined && typeof value === 'object' && value !== null;
    const unknown = isGroup
      ? Object.keys(value).find((each) => !command.options.map(nameOf).includes(each))
      : undefined;
    if (unknown !== undefined) throw unheardOf(file, `${name}.${unknown}`);
    if (!isGroup && !all.has(name)) throw unheardOf(file, name);
  }
}

function unheardOf(file: string, name: string): UsageError {
  return new UsageError(`"${file}" says "${name}", which is no option.`, 'fleetloom --help shows which there are.');
}

function valueOf(values: unknown, option: Option): unknown {
  if (typeof values !== 'object' || values === null || !Object.hasOwn(values, nameOf(option))) return undefined;
  return (values as Readonly<Record<string, unknown>>)[nameOf(option)];
}

/** `--model-base-url` is `model-base-url` in the file. */
function nameOf({ long, short }: Option): string {
  return (long ?? short ?? '').replace(/^-+/, '');
}

function topOf(command: Command): Command {
  return command.parent === null ? command : topOf(command.parent);
}

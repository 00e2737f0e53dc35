import type { Command, Option } from 'commander';
import type { Io } from '../base/io.ts';
import { isObject } from '../base/is-object.ts';
import { UsageError } from '../base/usage-error.ts';
import type { Config } from './read-config.ts';

/**
 * Applies the configuration to a command, unless an option or an environment variable sets the value.
 * `port: 4300` applies to every command with `--port`; below the name of a command it applies to that command.
 */
export function applyConfig(env: Io['env'], command: Command, { file, values }: Config): void {
  const program = programOf(command);
  checkNames(program, file, values);
  const own = values[command.name()];
  for (const option of command.options) {
    const value = valueOf(own, option) ?? valueOf(values, option);
    if (value === undefined || isSet(env, command, option)) continue;
    command.setOptionValueWithSource(option.attributeName(), toValue(file, option, value), 'config');
  }
}

/** Environment variables that set an option. */
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

function isSet(env: Io['env'], command: Command, option: Option): boolean {
  const variable = VARIABLES[nameOf(option)];
  const isInEnv = variable !== undefined && (env[variable] ?? '') !== '';
  return isInEnv || command.getOptionValueSource(option.attributeName()) === 'cli';
}

function toValue(file: string, option: Option, value: unknown): unknown {
  const takesValue = option.required || option.optional;
  if (!takesValue && typeof value === 'boolean') return value;
  const values: readonly unknown[] = option.variadic && Array.isArray(value) ? value : [value];
  if (takesValue && values.every((each) => typeof each === 'string' || typeof each === 'number')) {
    try {
      return toParsed(option, values.map(String));
    } catch (error) {
      throw invalid(file, option, error instanceof Error ? error.message : String(error));
    }
  }
  throw invalid(file, option, takesValue ? 'Write a text or a number.' : 'Write true or false.');
}

/** Parses values as on the command line: a variadic option gets a list, even for one value. */
function toParsed({ variadic, parseArg }: Option, texts: readonly string[]): unknown {
  if (parseArg === undefined) return variadic ? texts : texts[0];
  return texts.reduce((before: unknown, text) => parseArg(text, before), undefined);
}

function invalid(file: string, option: Option, reason: string): UsageError {
  return new UsageError(`"${nameOf(option)}" in "${file}" is invalid: ${reason}`, 'Fix the file.');
}

/** A misspelt name would otherwise be ignored without notice. */
function checkNames(program: Command, file: string, values: Readonly<Record<string, unknown>>): void {
  const commands = new Map(program.commands.map((each) => [each.name(), each]));
  const all = new Set(program.commands.flatMap(({ options }) => options.map(nameOf)));
  for (const [name, value] of Object.entries(values)) {
    const command = commands.get(name);
    const isGroup = command !== undefined && typeof value === 'object' && value !== null;
    const unknown = isGroup
      ? Object.keys(value).find((each) => !command.options.map(nameOf).includes(each))
      : undefined;
    if (unknown !== undefined) throw unknownOption(file, `${name}.${unknown}`);
    if (!isGroup && !all.has(name)) throw unknownOption(file, name);
  }
}

function unknownOption(file: string, name: string): UsageError {
  return new UsageError(`Unknown option "${name}" in "${file}".`, '"fleetloom <command> --help" lists the options.');
}

function valueOf(values: unknown, option: Option): unknown {
  if (!isObject(values) || !Object.hasOwn(values, nameOf(option))) return undefined;
  return values[nameOf(option)];
}

/** `--model-base-url` is `model-base-url` in the file. */
function nameOf({ long, short }: Option): string {
  return (long ?? short ?? '').replace(/^-+/, '');
}

function programOf(command: Command): Command {
  return command.parent === null ? command : programOf(command.parent);
}

import type { Command, Option } from 'commander';
import { toCompletedArgument } from './completed-argument.ts';

/** What can follow a command: its sub-commands and options. */
export interface Words {
  /** Path of the command, such as `agents apply`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly OptionWord[];
  /** The kind of ids that its arguments name; undefined if they are not ids of the server. */
  readonly ids: 'session' | 'rule' | undefined;
}

/** A word to complete, with its description. */
export interface Word {
  readonly text: string;
  readonly description: string;
}

/** An option to complete. */
export interface OptionWord extends Word {
  /** The values of the option: one of a list, any value, or no value. */
  readonly takes: readonly string[] | 'anything' | 'nothing';
}

/** All commands that the help shows, each with its sub-commands and options. */
export function listWords(command: Command, path: readonly string[] = []): readonly Words[] {
  const commands = command.createHelp().visibleCommands(command);
  const arguments_ = command.registeredArguments.map((argument) =>
    toCompletedArgument(command.name(), argument.name()),
  );
  const own: Words = {
    path: path.join(' '),
    commands: commands.map((each) => ({ text: each.name(), description: each.description() })),
    options: command.options.filter(({ hidden }) => !hidden).map(toWord),
    ids: arguments_.find((kind) => kind !== undefined),
  };
  const below = commands.filter((each) => command.commands.includes(each));
  return [own, ...below.flatMap((each) => listWords(each, [...path, each.name()]))];
}

function toWord({ long, short, description, argChoices, required, optional }: Option): OptionWord {
  const takes = argChoices ?? (required || optional ? 'anything' : 'nothing');
  return { text: long ?? short ?? '', description, takes };
}

import type { Command, Option } from 'commander';

/** What can follow a command: its sub-commands and options. */
export interface Words {
  /** Path of the command, such as `agents apply`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly OptionWord[];
}

/** A word to complete, with its description. */
export interface Word {
  readonly text: string;
  readonly description: string;
}

/** An option to complete. */
export interface OptionWord extends Word {
  /** Its value: one of these, any value, or no value. */
  readonly takes: readonly string[] | 'anything' | 'nothing';
}

/** All commands of the program, each with its sub-commands and options. */
export function listWords(command: Command, path: readonly string[] = []): readonly Words[] {
  const own: Words = {
    path: path.join(' '),
    commands: command.commands.map((each) => ({ text: each.name(), description: each.description() })),
    options: command.options.filter(({ hidden }) => !hidden).map(toWord),
  };
  return [own, ...command.commands.flatMap((each) => listWords(each, [...path, each.name()]))];
}

function toWord({ long, short, description, argChoices, required, optional }: Option): OptionWord {
  const takes = argChoices ?? (required || optional ? 'anything' : 'nothing');
  return { text: long ?? short ?? '', description, takes };
}

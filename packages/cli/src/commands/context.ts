import type { Command } from 'commander';
import type { Io } from '../base/io.ts';

/** The context of a declared command: its process, and the callback for its exit code. */
export interface CommandContext {
  readonly io: Io;
  readonly done: (exitCode: number) => void;
}

/** Declares one command: its arguments, options, help and a short action that loads the implementation. */
export type DeclareCommand = (program: Command, context: CommandContext) => Command;

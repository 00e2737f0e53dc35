import type { Command } from 'commander';
import type { Io } from '../base/io.ts';

/** What a declared command runs with: the process it belongs to, and where its exit code goes. */
export interface CommandContext {
  readonly io: Io;
  readonly done: (exitCode: number) => void;
}

/** Declares one command: its arguments, options, help and a short action that loads the implementation. */
export type DeclareCommand = (program: Command, context: CommandContext) => Command;

import { z } from 'zod';
import { defineTool, type ToolDefinition } from '../../define-tool.ts';
import { oncePerLimits, type ToolLimits } from '../../tool-limits.ts';
import type { HostInputs } from '../contract/inputs.ts';

export type HostToolDefinitions = { readonly [Name in keyof HostInputs]: ToolDefinition<HostInputs[Name]> };

/** The tools that run in the tool host as the model sees them, and the checks of their inputs. */
export const defineHostTools: (limits: ToolLimits) => HostToolDefinitions = oncePerLimits((limits) => ({
  bash: defineTool({
    name: 'bash',
    description:
      'Runs a command in bash. The shell stays between calls: directory and variables are as the last command left them. ' +
      `Only the last ${limits.bashOutputBytesMax} bytes of the output are kept. The shell begins in the workspace.`,
    input: z.object({
      command: z.string().nullish().describe('What to run'),
      restart: z.boolean().nullish().describe('Ends the shell, with everything that runs in it, and begins a new one'),
      timeout_ms: z
        .int()
        .min(1)
        .max(limits.bashTimeoutMsMax)
        .nullish()
        .describe(`How long it may take, in milliseconds; ${limits.bashTimeoutMs} if not given`),
    }),
  }),
  read: defineTool({
    name: 'read',
    description:
      'Reads a text file of the workspace. Long files have to be read in parts: give view_range as [first line, last line], ' +
      'counted from 1, both included; a last line of 0 or less means the end of the file.',
    input: z.object({
      file_path: z.string().min(1).describe(FILE_PATH),
      view_range: z
        .array(z.int())
        .length(2)
        .nullish()
        .describe('[first line, last line], counted from 1, both included; a last line of 0 or less means to the end'),
    }),
  }),
  write: defineTool({
    name: 'write',
    description:
      'Writes a text file of the workspace. Replaces what is there, and makes the directories that are missing.',
    input: z.object({
      file_path: z.string().min(1).describe(FILE_PATH),
      content: z.string().describe('What the file has afterwards'),
    }),
  }),
  edit: defineTool({
    name: 'edit',
    description:
      'Replaces a piece of a text file of the workspace. old_string has to be there exactly once, unless replace_all is set.',
    input: z.object({
      file_path: z.string().min(1).describe(FILE_PATH),
      old_string: z.string().min(1).describe('What is there, exactly, with its spaces and line ends'),
      new_string: z.string().describe('What comes in its place, literally'),
      replace_all: z.boolean().nullish().describe('Replaces it everywhere'),
    }),
  }),
  glob: defineTool({
    name: 'glob',
    description:
      'Finds files by their names, the newest first, with paths from the workspace on. Knows *, **, ?, [abc] and {a,b}. ' +
      `Gives at most ${limits.globResultsMax}, and does not look into .git and node_modules.`,
    input: z.object({
      pattern: z.string().min(1).max(limits.globPatternCharsMax).describe('Such as **/*.ts or src/*.{js,json}'),
      path: z.string().min(1).nullish().describe('The directory to look in; the workspace if not given'),
    }),
  }),
  grep: defineTool({
    name: 'grep',
    description:
      'Searches the contents of files for a regular expression. Gives path, line number and line, with paths from the workspace on. ' +
      'Does not look into .git, node_modules and binary files.',
    input: z.object({
      pattern: z.string().min(1).max(limits.grepPatternCharsMax).describe('A regular expression, such as TODO|FIXME'),
      path: z.string().min(1).nullish().describe('The file or directory to search; the workspace if not given'),
    }),
  }),
}));

const FILE_PATH = 'Path of the file, from the workspace on or absolute inside it';

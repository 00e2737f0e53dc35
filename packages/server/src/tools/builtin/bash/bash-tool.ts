import { z } from 'zod';
import { type HostTool, hostTool } from '../built-in-tool.ts';
import type { BashInput } from './shells.ts';

/** `bash`: runs commands in a shell that each thread keeps between calls. */
export const bashTool: HostTool<BashInput> = hostTool(
  'bash',
  ({ bashOutputBytesMax, bashTimeoutMs, bashTimeoutMsMax }) => ({
    description:
      'Runs a command in bash. The shell stays between calls: directory and variables are as the last command left them. ' +
      `Only the last ${bashOutputBytesMax} bytes of the output are kept. The shell begins in the workspace.`,
    input: z.object({
      command: z.string().nullish().describe('What to run'),
      restart: z.boolean().nullish().describe('Ends the shell, with everything that runs in it, and begins a new one'),
      timeout_ms: z
        .int()
        .min(1)
        .max(bashTimeoutMsMax)
        .nullish()
        .describe(`How long it may take, in milliseconds; ${bashTimeoutMs} if not given`),
    }),
  }),
);

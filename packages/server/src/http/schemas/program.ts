import { z } from 'zod';
import { settingsChoices } from '../../engines/program-options.ts';

export const program = z
  .strictObject({
    type: z.literal('program'),
    id: z.string(),
    /** Null if the program is not installed. */
    version: z.string().nullable(),
    is_sandboxed: z.boolean(),
    /** Values of `claude_code.permission_mode`, `claude_code.depth` and `claude_code.settings` in a session's metadata. */
    permission_modes: z.array(z.string()),
    depths: z.array(z.int()),
    settings: z.array(z.enum(settingsChoices)),
  })
  .meta({ id: 'Program' });

import { limits as commandLimits } from './commands/limits.ts';
import { limits as modelLimits } from './model/limits.ts';
import { limits as slotLimits } from './slots/limits.ts';

/** Every number that bounds the fleet library. */
export const limits = { ...slotLimits, ...commandLimits, ...modelLimits } as const;

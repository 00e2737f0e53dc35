import { effortLevels } from '@fleetloom/protocol/managed-agents';
import { z } from 'zod';
import { name } from './common.ts';

const effort = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('low') }),
  z.strictObject({ type: z.literal('medium') }),
  z.strictObject({ type: z.literal('high') }),
  z.strictObject({ type: z.literal('xhigh') }),
  z.strictObject({ type: z.literal('max') }),
]);
const speed = z.enum(['standard', 'fast']);

/** The model of an agent in requests. Any id is accepted here; the engines check which models exist. */
export const modelParams = z.union([
  name,
  z.strictObject({
    id: name,
    effort: z
      .union([z.enum(effortLevels), effort])
      .nullable()
      .exactOptional(),
    speed: speed.nullable().exactOptional(),
    inference_geo: name.nullable().exactOptional(),
  }),
]);

/** The model of an agent in responses. */
export const model = z.strictObject({ id: z.string(), effort, speed, inference_geo: z.string().exactOptional() });

import { z } from 'zod';
import type { Json } from '../../base/json/json.ts';
import { baseLimits } from '../../base/limits.ts';
import { httpLimits } from '../limits.ts';

// Schemas that several resources share. Input is a `strictObject`: an unknown field is a mistake that would otherwise go
// unnoticed. Null and absent are different, so `exactOptional` declares which of them is allowed.

/** The name of an agent, an environment or a tool server. */
export const name = z.string().min(1).max(baseLimits.nameCharsMax);
/** The description of a resource. */
export const description = z.string().max(httpLimits.descriptionCharsMax).nullable();
/** A time with its offset from UTC. */
export const moment = z.iso.datetime({ offset: true });

const metadataKey = z.string().min(1).max(httpLimits.metadataKeyCharsMax);
const metadataValue = z.string().max(httpLimits.metadataValueCharsMax);

/** Metadata. The service checks the number of pairs: for an update, the limit applies to the merged result. */
export const metadata = z.record(metadataKey, metadataValue);
/** A change of metadata: null removes a key. */
export const metadataPatch = z.record(metadataKey, metadataValue.nullable());

/** The value that switches an optional feature off. */
export const disabled = z.strictObject({ type: z.literal('disabled') });

/**
 * Any JSON. The body was parsed from JSON, so nothing is left to check: a union of all types took 90 ms for 50,000 values.
 * The OpenAPI document lists this schema under its own name.
 */
export const json = z
  .unknown()
  .refine((value) => value !== undefined)
  .meta({ id: 'Json' }) as z.ZodType<Json>;

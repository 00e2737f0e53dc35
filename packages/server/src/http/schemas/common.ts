import { z } from 'zod';
import type { Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';

// Forms that several resources share. What is sent is `strictObject`: a field that nobody knows is a mistake that would
// otherwise go unnoticed. Null and left out are different things, so `exactOptional` says which of them is possible.

export const name = z.string().min(1).max(limits.nameCharsMax);
export const description = z.string().max(limits.descriptionCharsMax).nullable();
export const moment = z.iso.datetime({ offset: true });

const metadataKey = z.string().min(1).max(limits.metadataKeyCharsMax);
const metadataValue = z.string().max(limits.metadataValueCharsMax);

/** How many pairs there may be, the service knows: on an update it is what comes out that counts. */
export const metadata = z.record(metadataKey, metadataValue);
export const metadataPatch = z.record(metadataKey, metadataValue.nullable());

export const disabled = z.strictObject({ type: z.literal('disabled') });

/**
 * Any JSON. It has a name and names itself: `z.json()` refers to a part of it that has none, and whoever draws the document
 * of the whole server would follow it for ever.
 */
export const json: z.ZodType<Json> = z
  .lazy(() => z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(json), z.record(z.string(), json)]))
  .meta({ id: 'Json' });

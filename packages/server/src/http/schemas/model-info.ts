import { z } from 'zod';
import { httpLimits } from '../limits.ts';
import { storeLimits } from '../../store/limits.ts';
import { moment } from './common.ts';

const lifecycle = z.enum(['active', 'deprecated', 'retired']);

/** A model in responses. */
export const modelInfo = z
  .strictObject({
    type: z.literal('model'),
    id: z.string(),
    display_name: z.string(),
    created_at: moment,
    lifecycle,
    deprecated_at: moment.nullable(),
    retires_at: moment.nullable(),
    line: z.enum(['haiku', 'sonnet', 'opus', 'fable', 'mythos']).nullable(),
    max_input_tokens: z.int().nullable(),
    max_tokens: z.int().nullable(),
    allowed_fallback_models: z.array(z.string()).nullable(),
    capabilities: z.null(),
  })
  .meta({ id: 'Model' });

/** The schema of a page that is continued by the ids of its first and last item. */
export function idPage<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  });
}

/** The query of `GET /v1/models`. */
export const modelListQuery = z.strictObject({
  limit: z.int().min(1).max(storeLimits.pageItemsMax).default(httpLimits.recordPageItemsDefault),
  after_id: z.string().exactOptional(),
  before_id: z.string().exactOptional(),
  lifecycle: z.array(lifecycle).exactOptional(),
});

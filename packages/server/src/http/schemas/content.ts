import { z } from 'zod';
import { baseLimits } from '../../base/limits.ts';

// Content of messages and tool results, the same in requests and responses; only the server may send `redacted`.

/** A block of text. */
export const textBlock = z.strictObject({ type: z.literal('text'), text: z.string() });

const mediaType = z.string().min(1).max(baseLimits.nameCharsMax);
const base64 = z.strictObject({ type: z.literal('base64'), data: z.string(), media_type: mediaType });
const url = z.strictObject({ type: z.literal('url'), url: z.url() });
const file = z.strictObject({ type: z.literal('file'), file_id: z.string().min(1) });
const plainText = z.strictObject({ type: z.literal('text'), data: z.string(), media_type: z.literal('text/plain') });

const imageBlock = z.strictObject({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [base64, url, file]),
});
const documentBlock = z.strictObject({
  type: z.literal('document'),
  source: z.discriminatedUnion('type', [base64, url, file, plainText]),
  title: z.string().nullable().exactOptional(),
  context: z.string().nullable().exactOptional(),
});
const searchResultBlock = z.strictObject({
  type: z.literal('search_result'),
  source: z.string(),
  title: z.string(),
  content: z.array(textBlock),
  citations: z.strictObject({ enabled: z.boolean() }),
});

/** A block of a user message. */
export const messageBlock = z.discriminatedUnion('type', [textBlock, imageBlock, documentBlock]);
/** A block of a tool result. */
export const resultBlock = z.discriminatedUnion('type', [textBlock, imageBlock, documentBlock, searchResultBlock]);

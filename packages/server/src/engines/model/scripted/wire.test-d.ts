import type Anthropic from '@anthropic-ai/sdk';
import { expectTypeOf } from 'vitest';
import type { ScriptedModel } from './model.ts';
import type { ContentBlock, ErrorBody, Message, MessagesEvent, ModelInfo, StopReason } from './wire.ts';

// What the scripted model sends, a reader of the official SDK's types can read.
expectTypeOf<MessagesEvent>().toExtend<Anthropic.RawMessageStreamEvent>();
expectTypeOf<Message>().toExtend<Anthropic.Message>();
expectTypeOf<ContentBlock>().toExtend<Anthropic.ContentBlock>();
expectTypeOf<ModelInfo>().toExtend<Anthropic.ModelInfo>();
expectTypeOf<StopReason>().toEqualTypeOf<Anthropic.StopReason>();
expectTypeOf<Pick<ErrorBody, 'type' | 'request_id'>>().toExtend<Pick<Anthropic.ErrorResponse, 'type' | 'request_id'>>();

// No event of the real API is missing.
expectTypeOf<MessagesEvent['type']>().toEqualTypeOf<Anthropic.RawMessageStreamEvent['type']>();

// What is sent to the real API can be sent here, and what comes back can be sent again.
export function asks(model: ScriptedModel, params: Anthropic.MessageCreateParams): void {
  expectTypeOf(model.create(params)).resolves.toEqualTypeOf<Message>();
  expectTypeOf<{ role: 'assistant'; content: ContentBlock[] }>().toExtend<Anthropic.MessageParam>();
}

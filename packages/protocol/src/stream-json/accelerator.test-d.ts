import { type Accelerator, StreamTranslator } from '@fleetloom/protocol/stream-json';
import { createAccelerator } from '@fleetloom/protocol/stream-json/accelerator';
import { expectTypeOf } from 'vitest';

expectTypeOf(createAccelerator).toBeCallableWith();
expectTypeOf(createAccelerator()).toEqualTypeOf<Accelerator>();
expectTypeOf(StreamTranslator).toBeConstructibleWith({ accelerator: createAccelerator() });
// @ts-expect-error: one accelerator belongs to one stream, so it is made for it
void new StreamTranslator({ accelerator: createAccelerator });
// @ts-expect-error: absent, not undefined
void new StreamTranslator({ accelerator: undefined });

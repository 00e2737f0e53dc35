import { hasHidden, INTERRUPTED, NOT_CARRIED_OUT, showHidden } from '@fleetloom/protocol/text';
import { expectTypeOf } from 'vitest';

expectTypeOf(showHidden).toEqualTypeOf<(text: string) => string>();
expectTypeOf(hasHidden).toEqualTypeOf<(text: string) => boolean>();
expectTypeOf<typeof INTERRUPTED | typeof NOT_CARRIED_OUT>().toExtend<string>();

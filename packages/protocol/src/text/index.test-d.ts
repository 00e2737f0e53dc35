import { hasHidden, showHidden } from '@fleetloom/protocol/text';
import { expectTypeOf } from 'vitest';

expectTypeOf(showHidden).toEqualTypeOf<(text: string) => string>();
expectTypeOf(hasHidden).toEqualTypeOf<(text: string) => boolean>();

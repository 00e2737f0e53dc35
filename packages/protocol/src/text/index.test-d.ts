import {
  cleanLine,
  cleanText,
  cutText,
  cutTextStart,
  formatAge,
  formatAgo,
  formatBytes,
  formatCost,
  formatCount,
  formatElapsed,
  formatSpan,
  hasHidden,
  INTERRUPTED,
  NOT_CARRIED_OUT,
  plural,
  showHidden,
} from '@fleetloom/protocol/text';
import { expectTypeOf } from 'vitest';

expectTypeOf(showHidden).toEqualTypeOf<(text: string) => string>();
expectTypeOf(cleanText).toEqualTypeOf<(text: string) => string>();
expectTypeOf(cleanLine).toEqualTypeOf<(text: string) => string>();
expectTypeOf(hasHidden).toEqualTypeOf<(text: string) => boolean>();
expectTypeOf(cutText).toEqualTypeOf<(text: string, charsMax: number) => string>();
expectTypeOf(cutTextStart).toEqualTypeOf<(text: string, charsMax: number) => string>();
for (const format of [formatAge, formatAgo, formatBytes, formatCost, formatCount, formatElapsed, formatSpan])
  expectTypeOf(format).toEqualTypeOf<(value: number) => string>();
expectTypeOf(plural).toEqualTypeOf<(count: number, noun: string) => string>();
expectTypeOf<typeof INTERRUPTED | typeof NOT_CARRIED_OUT>().toExtend<string>();

import {
  type Clock,
  createIds,
  createManualClock,
  type ErrorKind,
  FleetloomError,
  type FleetloomErrorFields,
  type Id,
  type IdPrefix,
  type Ids,
  type IdSources,
  limits,
  type ManualClock,
  systemClock,
} from '@fleetloom/server';
import { expectTypeOf } from 'vitest';

// --- time ---

expectTypeOf<Clock>().toEqualTypeOf<{ now: () => number; steady: () => number }>();
expectTypeOf(systemClock).toEqualTypeOf<Clock>();
expectTypeOf(createManualClock).toEqualTypeOf<(startMs?: number) => ManualClock>();
expectTypeOf<ManualClock>().toExtend<Clock>();
// @ts-expect-error: nobody moves the real time
systemClock.advance(1);

// --- ids ---

expectTypeOf<IdSources>().toEqualTypeOf<{ now: () => number; random: () => number }>();
expectTypeOf(createIds).toEqualTypeOf<(sources: IdSources) => Ids>();
createIds({ now: systemClock.now, random: Math.random });
// @ts-expect-error: chance is handed in, like time
createIds({ now: Date.now });

export function makes(ids: Ids): void {
  expectTypeOf(ids.next('sevt')).toEqualTypeOf<`sevt_${string}`>();
  expectTypeOf<Id<'sevt'>>().toEqualTypeOf<`sevt_${string}`>();
  expectTypeOf<Id<'sevt'>>().toExtend<Id>();
  expectTypeOf<Id<'sesn'>>().not.toExtend<Id<'sevt'>>();
  expectTypeOf<'sevt'>().toExtend<IdPrefix>();
  // @ts-expect-error: nothing has such ids
  ids.next('event');
}

// --- errors ---

expectTypeOf<ErrorKind>().toEqualTypeOf<'caller' | 'retryable' | 'terminal'>();
expectTypeOf(FleetloomError).constructorParameters.toEqualTypeOf<[fields: FleetloomErrorFields]>();
expectTypeOf<FleetloomError>().toExtend<Error>();
expectTypeOf<Pick<FleetloomError, 'code' | 'kind'>>().toEqualTypeOf<{
  readonly code: string;
  readonly kind: ErrorKind;
}>();
// @ts-expect-error: an error that says not what to do cannot be made
void new FleetloomError({ code: 'a', kind: 'caller', problem: 'b' });
// @ts-expect-error: only http knows a status
void new FleetloomError({ code: 'a', kind: 'caller', problem: 'b', advice: 'c', status: 400 });

// --- limits ---

expectTypeOf<typeof limits>().toExtend<{ readonly errorMessageCharsMax: number; readonly idTimeMsMax: number }>();
// @ts-expect-error: what everybody relies on is not changed
limits.idTimeMsMax = 1;

import type { PushDevice, PushDeviceList, PushDeviceParams, PushKey } from '@fleetloom/protocol/fleet';
import { expectTypeOf } from 'vitest';
import type { z } from 'zod';
import type { pushDevice, pushDeviceBody, pushDevices, pushKey } from './push.ts';

// The schemas of the server accept exactly the types of the protocol package. Only `readonly` differs.

type Mutable<Value> = Value extends object ? { -readonly [Key in keyof Value]: Mutable<Value[Key]> } : Value;

expectTypeOf<z.output<typeof pushDeviceBody>>().toExtend<PushDeviceParams>();
expectTypeOf<Mutable<PushDeviceParams>>().toExtend<z.input<typeof pushDeviceBody>>();
expectTypeOf<keyof z.input<typeof pushDeviceBody>>().toEqualTypeOf<keyof PushDeviceParams>();
expectTypeOf<z.output<typeof pushDevice>>().toEqualTypeOf<Mutable<PushDevice>>();
expectTypeOf<z.output<typeof pushDevices>>().toEqualTypeOf<Mutable<PushDeviceList>>();
expectTypeOf<z.output<typeof pushKey>>().toEqualTypeOf<Mutable<PushKey>>();

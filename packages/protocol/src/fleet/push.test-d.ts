import type {
  PushDevice,
  PushDeviceList,
  PushDeviceParams,
  PushKey,
  PushKind,
  PushMessage,
  PushQuietHours,
} from '@fleetloom/protocol/fleet';
import { expectTypeOf } from 'vitest';

// A response never has the address or the keys of a device.
expectTypeOf<PushDevice>().not.toHaveProperty('endpoint');
expectTypeOf<PushDevice>().not.toHaveProperty('keys');
expectTypeOf<PushDevice['quiet_hours']>().toEqualTypeOf<PushQuietHours | null>();
expectTypeOf<PushDevice['notify']>().toEqualTypeOf<readonly PushKind[]>();
expectTypeOf<PushDeviceList['data']>().toEqualTypeOf<readonly PushDevice[]>();
expectTypeOf<PushDeviceParams['include_content']>().toEqualTypeOf<boolean | undefined>();
expectTypeOf<PushKey['public_key']>().toEqualTypeOf<string>();
expectTypeOf<PushMessage['needs_you']>().toEqualTypeOf<number>();
// @ts-expect-error: a device is not notified of every event
expectTypeOf<PushKind>().toEqualTypeOf<'messages'>();

import type { FleetAuditEntry, FleetLogin, FleetRole, FleetScope } from '@fleetloom/protocol/fleet';
import { expectTypeOf } from 'vitest';

expectTypeOf<FleetScope>().toEqualTypeOf<'read' | 'run' | 'approve' | 'manage' | 'admin'>();
expectTypeOf<FleetLogin['role']>().toEqualTypeOf<FleetRole | null>();
expectTypeOf<FleetLogin['scopes']>().toEqualTypeOf<readonly FleetScope[] | null>();
expectTypeOf<FleetAuditEntry['hash']>().toEqualTypeOf<string>();
expectTypeOf<FleetAuditEntry['entry']['target']>().toEqualTypeOf<string | null>();
// @ts-expect-error: a role is a name for scopes, not one of them
expectTypeOf<FleetRole>().toEqualTypeOf<FleetScope>();

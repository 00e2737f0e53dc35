import type {
  FleetAuditCaller,
  FleetAuditEntry,
  FleetLogin,
  FleetOAuthFlow,
  FleetOAuthFlowError,
  FleetOAuthFlowStarted,
  FleetPerson,
  FleetRole,
  FleetScope,
} from '@fleetloom/protocol/fleet';
import { expectTypeOf } from 'vitest';

expectTypeOf<FleetScope>().toEqualTypeOf<'read' | 'run' | 'approve' | 'manage' | 'admin'>();
expectTypeOf<FleetLogin['role']>().toEqualTypeOf<FleetRole | null>();
expectTypeOf<FleetLogin['scopes']>().toEqualTypeOf<readonly FleetScope[] | null>();
expectTypeOf<FleetAuditEntry['hash']>().toEqualTypeOf<string>();
expectTypeOf<FleetAuditEntry['entry']['target']>().toEqualTypeOf<string | null>();
// @ts-expect-error: a role is a name for scopes, not one of them
expectTypeOf<FleetRole>().toEqualTypeOf<FleetScope>();

expectTypeOf<FleetOAuthFlowStarted['authorization_url']>().toEqualTypeOf<string>();
expectTypeOf<FleetOAuthFlow['status']>().toEqualTypeOf<'pending' | 'completed' | 'failed'>();
expectTypeOf<Extract<FleetOAuthFlow, { status: 'failed' }>['error']>().toEqualTypeOf<FleetOAuthFlowError>();
// @ts-expect-error: only a flow that has completed has a credential
expectTypeOf<Extract<FleetOAuthFlow, { status: 'pending' }>['credential_id']>().toEqualTypeOf<string>();
expectTypeOf<FleetLogin['person']>().toEqualTypeOf<FleetPerson | null>();
expectTypeOf<FleetAuditEntry['entry']['by']['type']>().toEqualTypeOf<FleetAuditCaller>();

import type { FleetKey } from '@fleetloom/protocol/fleet';
import {
  CHAIN_START,
  type ChainCheck,
  type ChainEnd,
  type CheckedEntry,
  type KeepAudit,
  ROLE_NAMES,
  type Role,
  SCOPES,
  type Scope,
  type ServerOptions,
  type TlsFiles,
  toFleetKey,
} from '@fleetloom/server';
import { expectTypeOf } from 'vitest';

expectTypeOf<(typeof SCOPES)[number]>().toEqualTypeOf<Scope>();
expectTypeOf<(typeof ROLE_NAMES)[number]>().toEqualTypeOf<Role>();
expectTypeOf(toFleetKey).returns.toEqualTypeOf<FleetKey>();
expectTypeOf<ServerOptions['tls']>().toEqualTypeOf<TlsFiles | undefined>();
expectTypeOf<ServerOptions['keepAudit']>().toEqualTypeOf<KeepAudit | undefined>();
expectTypeOf(CHAIN_START).toEqualTypeOf<ChainEnd>();
expectTypeOf<ChainCheck['last']>().toEqualTypeOf<ChainEnd | undefined>();
expectTypeOf<Parameters<ChainCheck['add']>[0]>().toEqualTypeOf<CheckedEntry>();
// @ts-expect-error: an audit log is kept forever, or for some days
expectTypeOf<KeepAudit>().toEqualTypeOf<'none'>();

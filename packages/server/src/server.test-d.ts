import {
  type ClaudeCodeChoice,
  type DoorLog,
  type RequestLog,
  type FleetloomServer,
  type Json,
  type JsonObject,
  openKeys,
  type OpenKeysOptions,
  type RateLimit,
  type RequestLogEntry,
  type ServerOptions,
  startServer,
  toGatewayVariables,
  type DatabaseTls,
} from '@fleetloom/server';
import { expectTypeOf } from 'vitest';

expectTypeOf(startServer).toEqualTypeOf<(options: ServerOptions) => Promise<FleetloomServer>>();
expectTypeOf<FleetloomServer['url']>().toEqualTypeOf<string>();
expectTypeOf<FleetloomServer['firstKey']>().toEqualTypeOf<string | undefined>();
expectTypeOf<FleetloomServer['webhookKey']>().toEqualTypeOf<string | undefined>();
expectTypeOf<ServerOptions['log']>().toEqualTypeOf<RequestLog | undefined>();
expectTypeOf<DoorLog>().toEqualTypeOf<RequestLog>();
expectTypeOf<ServerOptions['rateLimit']>().toEqualTypeOf<RateLimit | undefined>();
expectTypeOf<RateLimit>().toEqualTypeOf<{ readonly perSecond: number; readonly burst: number }>();
expectTypeOf<NonNullable<RequestLog['onRequest']>>().parameter(0).toEqualTypeOf<RequestLogEntry>();
expectTypeOf<JsonObject>().toExtend<Json>();
expectTypeOf<OpenKeysOptions>().toEqualTypeOf<{
  readonly dataDirectory: string;
  readonly database?: string | undefined;
  readonly databaseTls?: DatabaseTls | undefined;
}>();

export async function opensKeys(): Promise<string> {
  const { keys, close } = await openKeys({ dataDirectory: 'data' });
  expectTypeOf(close).toEqualTypeOf<() => Promise<void>>();
  // @ts-expect-error: they are kept somewhere
  void openKeys({});
  return (await keys.list())[0]!.id;
}

export function starts(): Promise<FleetloomServer>[] {
  return [
    startServer({ dataDirectory: 'data', isOpen: true }),
    startServer({ dataDirectory: 'data', models: { credential: { apiKey: 'k' }, baseURL: 'http://127.0.0.1:1' } }),
    startServer({ dataDirectory: 'data', claudeCode: { program: '/usr/bin/claude', usesOwnLogin: true } }),
    startServer({ dataDirectory: 'data', claudeCode: false }),
    startServer({ dataDirectory: 'data', webhooks: { urls: ['https://example.com/fleet'] } }),
    // @ts-expect-error: it has to keep everything somewhere
    startServer({ isOpen: true }),
    // @ts-expect-error: models need a key or a token
    startServer({ dataDirectory: 'data', models: { baseURL: 'http://127.0.0.1:1' } }),
  ];
}

expectTypeOf<ServerOptions['claudeCode']>().toEqualTypeOf<ClaudeCodeChoice | false | undefined>();
expectTypeOf(toGatewayVariables).returns.toEqualTypeOf<Record<string, string>>();

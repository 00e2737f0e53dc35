import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';

/** The server of a command about vaults. */
export function openApi(io: Io, options: ConnectionOptions): ServerApi {
  return createServerApi(toConnection(io.env, options), limits.callMs, () => io.timers.now());
}

/** The path of a vault, or of a credential in it. */
export function toPath(vault: string, credential?: string): string {
  const path = `/v1/vaults/${encodeURIComponent(vault)}`;
  return credential === undefined ? path : `${path}/credentials/${encodeURIComponent(credential)}`;
}

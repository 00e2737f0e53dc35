import { MAIN, type ProgramEvent } from '../../program.ts';
import { record, text } from '../../lines/values.ts';

/** The MCP servers that opencode cannot use, from the response to `GET /mcp`. */
export function toServerFailures(servers: unknown): ProgramEvent[] {
  return Object.entries(record(servers) ?? {}).flatMap(([serverName, value]): ProgramEvent[] => {
    const server = record(value);
    const status = text(server?.['status']) ?? '';
    if (!failures.has(status)) return [];
    const reason = text(server?.['error']) ?? null;
    return [{ type: 'server_failed', key: MAIN, serverName, isLogin: status !== 'failed', reason }];
  });
}

const failures = new Set(['failed', 'needs_auth', 'needs_client_registration']);

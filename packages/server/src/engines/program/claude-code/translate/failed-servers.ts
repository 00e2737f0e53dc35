import { record, text } from '../../lines/values.ts';
import { MAIN, type ProgramEvent } from '../../program.ts';

/** Reports each MCP server that the program could not connect to once: the program repeats the list with every turn. */
export class FailedServers {
  readonly #whyUnreachable: (serverName: string) => string | null;
  readonly #known = new Set<string>();

  /** `whyUnreachable` returns the reason, if this server knows it. */
  constructor(whyUnreachable: (serverName: string) => string | null = () => null) {
    this.#whyUnreachable = whyUnreachable;
  }

  take(servers: unknown): ProgramEvent[] {
    return (Array.isArray(servers) ? servers : []).flatMap((value: unknown): ProgramEvent[] => {
      const serverName = text(record(value)?.['name']);
      const status = text(record(value)?.['status']);
      if (serverName === undefined || (status !== 'failed' && status !== 'needs-auth')) return [];
      if (this.#known.has(serverName)) return [];
      this.#known.add(serverName);
      const reason = this.#whyUnreachable(serverName);
      return [{ type: 'server_failed', key: MAIN, serverName, isLogin: status === 'needs-auth', reason }];
    });
  }
}

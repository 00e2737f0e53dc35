import { McpFault } from './mcp-fault.ts';

/** Counts the MCP connections of all sessions of a server. */
export class ConnectionSlots {
  #used = 0;

  /** Returns a function that frees the slot. Throws an {@link McpFault} when all slots are in use. */
  take(max: number): () => void {
    if (this.#used >= max) {
      throw new McpFault(
        'limit',
        `all ${max} MCP connections of this server are in use. Try again when other sessions have ended`,
        { wasSent: false },
      );
    }
    this.#used++;
    let isFree = false;
    return () => {
      if (!isFree) this.#used--;
      isFree = true;
    };
  }
}

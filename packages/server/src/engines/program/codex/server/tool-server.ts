import type { CustomTool } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../../../../base/json/json.ts';
import { type ClientResult, McpTools } from '../../mcp/mcp-tools.ts';
import { record, text } from '../../lines/values.ts';

/** The thread and the item of a call. */
export interface CallPlace {
  readonly threadId: string;
  readonly itemId: string;
}

/**
 * The MCP server with the custom tools of the agents. Codex sends the ids of the thread and of the model's tool call with each
 * call, so that sub-agents have the tools too, and the result can come from any client at any time.
 */
export class ToolServer {
  readonly #tools: McpTools;
  readonly #waiting = new Map<string, (result: ClientResult) => void>();
  /** Results that arrived before their call. */
  readonly #early = new Map<string, ClientResult>();

  constructor(tools: readonly CustomTool[]) {
    this.#tools = new McpTools(tools);
  }

  get isEmpty(): boolean {
    return this.#tools.isEmpty;
  }

  /** Answers a message of MCP; undefined for a notification. */
  async handle(message: JsonObject, signal: AbortSignal): Promise<JsonObject | undefined> {
    return await this.#tools.handle(message, (params) => this.#call(params, signal));
  }

  give(place: CallPlace, result: ClientResult): void {
    const resolve = this.#waiting.get(keyOf(place));
    if (resolve === undefined) return void this.#early.set(keyOf(place), result);
    resolve(result);
  }

  /** Forgets a call that has a result, from any source. */
  forget(place: CallPlace): void {
    this.#early.delete(keyOf(place));
  }

  async #call(params: JsonObject, signal: AbortSignal): Promise<ClientResult> {
    const meta = record(params['_meta']);
    const [threadId, itemId] = [text(meta?.['threadId']), text(meta?.['callId'])];
    if (threadId === undefined || itemId === undefined) return UNNAMED;
    const key = keyOf({ threadId, itemId });
    const early = this.#early.get(key);
    this.#early.delete(key);
    if (early !== undefined) return early;
    const given = await new Promise<ClientResult>((resolve) => {
      this.#waiting.set(key, resolve);
      signal.addEventListener('abort', () => resolve(STOPPED), { once: true });
    });
    this.#waiting.delete(key);
    return given;
  }
}

const UNNAMED: ClientResult = {
  content: [{ type: 'text', text: 'The program did not send the id of this call, so it cannot be answered.' }],
  isError: true,
};

const STOPPED: ClientResult = { content: [{ type: 'text', text: 'The call was stopped.' }], isError: true };

function keyOf({ threadId, itemId }: CallPlace): string {
  return `${threadId} ${itemId}`;
}

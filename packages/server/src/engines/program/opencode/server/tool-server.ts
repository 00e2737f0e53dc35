import { isDeepStrictEqual } from 'node:util';
import type { CustomTool } from '@fleetloom/protocol/managed-agents';
import type { Json, JsonObject } from '../../../../base/json/json.ts';
import { type ClientResult, McpTools } from '../../mcp/mcp-tools.ts';
import { text } from '../../lines/values.ts';

/** A call of a custom tool that opencode has sent. */
interface Waiting {
  readonly name: string;
  readonly input: Json;
  /** The id of the call; null until the call was announced. */
  callId: string | null;
  readonly resolve: (result: ClientResult) => void;
}

/**
 * The MCP server with the custom tools of the agents. opencode does not send the conversation of a call: the call is joined to the
 * announced call with the same name and input.
 */
export class ToolServer {
  readonly #tools: McpTools;
  #waiting: Waiting[] = [];
  /** Calls that were announced and that opencode has not sent here yet. */
  readonly #announced = new Map<string, { readonly name: string; readonly input: Json }>();
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

  /** Announces the call of an agent. opencode sends it here before or after that. */
  announce(callId: string, name: string, input: Json): void {
    const waiting = this.#waiting.find((each) => each.callId === null && isSame(each, { name, input }));
    if (waiting === undefined) return void this.#announced.set(callId, { name, input });
    this.#join(waiting, callId);
  }

  /** Takes the result of a call. */
  give(callId: string, result: ClientResult): void {
    const waiting = this.#waiting.find((each) => each.callId === callId);
    if (waiting === undefined) this.#early.set(callId, result);
    else waiting.resolve(result);
  }

  /** Forgets a call that has a result, from any source. */
  end(callId: string): void {
    this.#announced.delete(callId);
    this.#early.delete(callId);
  }

  async #call(params: JsonObject, signal: AbortSignal): Promise<ClientResult> {
    const name = text(params['name']) ?? '';
    const input = params['arguments'] ?? {};
    let waiting: Waiting | undefined;
    const given = await new Promise<ClientResult>((resolve) => {
      waiting = { name, input, callId: null, resolve };
      this.#waiting.push(waiting);
      signal.addEventListener('abort', () => resolve(ABANDONED), { once: true });
      const [callId] = [...this.#announced].find(([, call]) => isSame(call, { name, input })) ?? [];
      if (callId !== undefined) this.#join(waiting, callId);
    });
    this.#waiting = this.#waiting.filter((each) => each !== waiting);
    return given;
  }

  #join(waiting: Waiting, callId: string): void {
    waiting.callId = callId;
    this.#announced.delete(callId);
    const early = this.#early.get(callId);
    this.#early.delete(callId);
    if (early !== undefined) waiting.resolve(early);
  }
}

const ABANDONED: ClientResult = { content: [{ type: 'text', text: 'The call was stopped.' }], isError: true };

function isSame(
  one: { readonly name: string; readonly input: Json },
  other: { readonly name: string; readonly input: Json },
): boolean {
  return one.name === other.name && isDeepStrictEqual(one.input, other.input);
}

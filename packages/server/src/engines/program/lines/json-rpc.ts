import { type Fields, type RequestId, type RpcLine, toRpcLine } from './json-rpc-line.ts';

/** The response of the program to a request. */
export type RpcAnswer =
  | { readonly type: 'result'; readonly result: Fields }
  /** `message` is the error of the program. */
  | { readonly type: 'refused'; readonly message: string };

/** A JSON-RPC connection to a program: sends requests, matches responses, and reads other lines. */
export class JsonRpc {
  readonly #write: (line: string) => void;
  readonly #header: object;
  readonly #waiting = new Map<RequestId, (answer: RpcAnswer) => void>();
  #nextId = 1;
  #isClosed = false;

  /** `write` receives complete lines. The fields of `header` are at the beginning of each. */
  constructor(write: (line: string) => void, header: object = {}) {
    this.#write = write;
    this.#header = header;
  }

  /** Sends a request. `onAnswer` is called in the order of the lines of the program, and not at all if it ends before. */
  request(method: string, params: object, onAnswer: (answer: RpcAnswer) => void = () => {}): void {
    if (this.#isClosed) return;
    const id = this.#nextId++;
    this.#waiting.set(id, onAnswer);
    this.#send({ id, method, params });
  }

  notify(method: string, params?: object): void {
    this.#send({ method, ...(params === undefined ? {} : { params }) });
  }

  /** Answers a request of the program. */
  answer(id: RequestId, result: object): void {
    this.#send({ id, result });
  }

  reject(id: RequestId, message: string): void {
    this.#send({ id, error: { code: METHOD_NOT_FOUND, message } });
  }

  /** Reads an object that the program wrote. Null if it is a response, or not a line of the protocol. */
  take(message: Fields): Exclude<RpcLine, { type: 'response' }> | null {
    const line = toRpcLine(message);
    if (line?.type !== 'response') return line;
    const onAnswer = this.#waiting.get(line.id);
    this.#waiting.delete(line.id);
    const { result, error } = line;
    onAnswer?.(error === null ? { type: 'result', result } : { type: 'refused', message: error });
    return null;
  }

  /** Drops open requests without calling `onAnswer`, because the program has exited. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
  }

  #send(message: object): void {
    if (!this.#isClosed) this.#write(`${JSON.stringify({ ...this.#header, ...message })}\n`);
  }
}

const METHOD_NOT_FOUND = -32_601;

import { nameIn, number, record, text } from './values.ts';

/** A line of JSON-RPC that a program has written. The fields of params and results are checked where they are read. */
export type RpcLine =
  | { readonly type: 'notification'; readonly method: string; readonly params: Fields }
  /** The program waits for a response with the same id. */
  | { readonly type: 'request'; readonly id: RequestId; readonly method: string; readonly params: Fields }
  | {
      readonly type: 'response';
      readonly id: RequestId;
      readonly result: Fields;
      /** The error of the program; null if the request succeeded. */
      readonly error: string | null;
    };

/** An object of a line, unchecked. */
export type Fields = Readonly<Record<string, unknown>>;

/** Programs count their own requests from 0; clients may use any number or text. */
export type RequestId = number | string;

/** Reads one JSON object that the program has written; null if it is not one of the three kinds. */
export function toRpcLine(message: Fields): RpcLine | null {
  const id = number(message['id']) ?? nameIn(message['id']);
  const method = text(message['method']);
  const params = record(message['params']) ?? {};
  if (method !== undefined && id !== undefined) return { type: 'request', id, method, params };
  if (method !== undefined) return { type: 'notification', method, params };
  if (id === undefined) return null;
  const error = record(message['error']);
  const problem = error === undefined ? null : (text(error['message']) ?? JSON.stringify(error));
  return { type: 'response', id, result: record(message['result']) ?? {}, error: problem };
}

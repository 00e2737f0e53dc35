import { cutText } from '@fleetloom/protocol/fleet';
import { baseLimits } from '../../../base/limits.ts';

/** The reason in an error response of the endpoint: the message of an API error, or else the beginning of the body. */
export function readRefusal(body: Uint8Array): string {
  const text = new TextDecoder().decode(body);
  const said = /"message"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  const message = said === undefined ? text.trim() : toText(said);
  return cutText(message === '' ? 'the endpoint refused without a message' : message, baseLimits.errorMessageCharsMax);
}

/** Decodes a JSON string found in the body, which may be cut off and so is not parsed as a whole. */
function toText(json: string): string {
  try {
    // The pattern matches a JSON string.
    return JSON.parse(json) as string;
  } catch {
    return json;
  }
}

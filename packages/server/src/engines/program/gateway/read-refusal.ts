import { cutText } from '@fleetloom/protocol/fleet';
import { baseLimits } from '../../../base/limits.ts';

/** Why the endpoint refused: what it says as an error of the API, else the beginning of whatever it says. */
export function readRefusal(body: Uint8Array): string {
  const text = new TextDecoder().decode(body);
  const said = /"message"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  const message = said === undefined ? text.trim() : toText(said);
  return cutText(message === '' ? 'the endpoint refused without a message' : message, baseLimits.errorMessageCharsMax);
}

/** The body may be cut off, so it is not parsed as a whole. */
function toText(json: string): string {
  try {
    // The pattern matches a JSON string.
    return JSON.parse(json) as string;
  } catch {
    return json;
  }
}

import { cutText } from '@fleetloom/protocol/fleet';
import { limits } from '../limits.ts';

/** So much of a message as one line of the tree can show. */
export function cutLine(text: string): string {
  return text.length > limits.lineCharsMax ? cutText(text, limits.lineCharsMax) : text;
}

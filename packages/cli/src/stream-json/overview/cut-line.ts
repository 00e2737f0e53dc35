import { cutText } from '@fleetloom/protocol/fleet';
import { limits } from '../../base/limits.ts';

/** The part of a message that one line of the tree can show. */
export function cutLine(text: string): string {
  return text.length > limits.lineCharsMax ? cutText(text, limits.lineCharsMax) : text;
}

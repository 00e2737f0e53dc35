import { createHash } from 'node:crypto';

/**
 * The program's id of a message that has this id in the log. It is the same after a restart, so it is not stored. The session is part
 * of it, because a fork has the same ids in its log, and must not rewind files of the session that it was forked from.
 */
export function toMessageUuid(sessionId: string, messageId: string): string {
  const hex = createHash('sha256').update(`${sessionId} ${messageId}`).digest('hex');
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) % 4]!;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

import type { Push } from './read-push.ts';

/** The response of a git server that rejects all refs of a push, so that git shows the reason for each ref. */
export function toPushReport({ refs, hasSideBand }: Pick<Push, 'refs' | 'hasSideBand'>, reason: string): Buffer {
  const report = Buffer.concat([
    ...['unpack ok\n', ...refs.map((ref) => `ng ${ref} ${reason}\n`)].map(toPacket),
    FLUSH,
  ]);
  if (!hasSideBand) return report;
  const pieces: Buffer[] = [];
  for (let at = 0; at < report.length; at += PIECE_BYTES) {
    pieces.push(toPacket(Buffer.concat([REPORT_BAND, report.subarray(at, at + PIECE_BYTES)])));
  }
  return Buffer.concat([...pieces, FLUSH]);
}

function toPacket(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from((bytes.length + LENGTH_CHARS).toString(16).padStart(LENGTH_CHARS, '0')), bytes]);
}

const LENGTH_CHARS = 4;
const FLUSH = Buffer.from('0000');
const REPORT_BAND = Buffer.from([1]);
/** A packet of the side band has at most 65,520 bytes. */
const PIECE_BYTES = 60_000;

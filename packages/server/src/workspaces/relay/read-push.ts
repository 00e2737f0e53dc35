import type { IncomingMessage } from 'node:http';
import { workspaceLimits } from '../limits.ts';

/** The commands of a push, and the bytes of the body that were read to parse them. */
export interface Push {
  readonly head: Buffer;
  /** Refs that the push changes. */
  readonly refs: readonly string[];
  /** Refs that the push deletes. */
  readonly deleted: readonly string[];
  /** Whether the client supports the side band for messages. */
  readonly hasSideBand: boolean;
}

/** The error for a push whose body cannot be parsed. */
export class UnreadablePush extends Error {
  override readonly name = 'UnreadablePush';
}

/** Reads the commands of a push, which precede its objects. The rest of the body stays in the request. */
export async function readPush(
  request: IncomingMessage,
  bytesMax: number = workspaceLimits.pushCommandsBytesMax,
): Promise<Push> {
  let head = Buffer.alloc(0);
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    head = Buffer.concat([head, chunk as Buffer]);
    const lines = readLines(head);
    if (lines !== undefined) return toPush(head, lines);
    if (head.length > bytesMax) throw new UnreadablePush(`the push names more refs than fit into ${bytesMax} bytes`);
  }
  throw new UnreadablePush('the push ends before its list of refs does');
}

/** The packet lines up to the first flush packet; undefined if that packet has not arrived yet. */
function readLines(bytes: Buffer): readonly string[] | undefined {
  const lines: string[] = [];
  for (let at = 0; at + LENGTH_CHARS <= bytes.length; ) {
    const digits = bytes.toString('latin1', at, at + LENGTH_CHARS);
    if (!/^[0-9a-f]{4}$/i.test(digits)) throw new UnreadablePush('the push does not begin with a list of refs');
    const length = Number.parseInt(digits, 16);
    if (length === 0) return lines;
    if (length < LENGTH_CHARS) throw new UnreadablePush('the push does not begin with a list of refs');
    if (at + length > bytes.length) return undefined;
    lines.push(bytes.toString('utf8', at + LENGTH_CHARS, at + length));
    at += length;
  }
  return undefined;
}

/** Parses commands of the form `<old> <new> <ref>`. The first one has the capabilities after a NUL. */
function toPush(head: Buffer, lines: readonly string[]): Push {
  const commands = lines.filter((line) => !line.startsWith('shallow ')).map(toCommand);
  const deleted = commands.filter(({ isDeletion }) => isDeletion);
  return {
    head,
    refs: commands.map(({ ref }) => ref),
    deleted: deleted.map(({ ref }) => ref),
    hasSideBand: commands[0]?.capabilities.includes('side-band-64k') ?? false,
  };
}

function toCommand(line: string) {
  const [, id, ref, capabilities = ''] =
    /^[0-9a-f]{40,64} ([0-9a-f]{40,64}) ([^\0\n]+)(?:\0([^\n]*))?/.exec(line) ?? [];
  // A signed push has its commands in a certificate, where they would not be checked.
  if (id === undefined || ref === undefined) throw new UnreadablePush('the push has a command that is not known here');
  return { ref, isDeletion: /^0+$/.test(id), capabilities: capabilities.split(' ') };
}

const LENGTH_CHARS = 4;

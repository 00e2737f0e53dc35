import type { IncomingMessage } from 'node:http';
import { egressLimits } from './limits.ts';
import { Refusal } from './open-target.ts';

/** A body in memory. Its bytes count towards the limits until it is released. */
export interface CollectedBody {
  readonly content: Buffer;
  /** Counts the bytes by which the body has grown. Throws a {@link Refusal} when too many bytes are held. */
  grow(bytes: number): void;
  release(): void;
}

/** The request bodies in memory of one session. */
export interface HeldBodies {
  /**
   * Reads a body of at most {@link egressLimits.bodyBytesMax}. Undefined without a body, or for a larger one: the bytes that were read
   * are put back. Throws a {@link Refusal} when too many bytes are held.
   */
  collect(request: IncomingMessage): Promise<CollectedBody | undefined>;
}

/** The bytes of the bodies in memory of all sessions. */
let heldByAll = 0;

/** Creates the bodies of a session, which are limited to the share of a session and, with those of all sessions, to the total. */
export function createHeldBodies(): HeldBodies {
  let held = 0;
  const count = (bytes: number) => {
    held += bytes;
    heldByAll += bytes;
  };
  return {
    collect: async (request) => {
      const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
      if (length === undefined && coding === undefined) return undefined;
      if (Number(length ?? 0) > egressLimits.bodyBytesMax) return undefined;
      const chunks: Buffer[] = [];
      let [size, counted] = [0, 0];
      const grow = (bytes: number) => {
        counted += bytes;
        count(bytes);
        if (held <= egressLimits.sessionHeldBytesMax && heldByAll <= egressLimits.heldBytesMax) return;
        throw new Refusal('too_many_connections', 'the proxy holds too many bodies: send this one again later', 503);
      };
      const release = () => {
        count(-counted);
        counted = 0;
      };
      try {
        for await (const chunk of request.iterator({ destroyOnReturn: false })) {
          const bytes = chunk as Buffer;
          chunks.push(bytes);
          size += bytes.length;
          grow(bytes.length);
          if (size > egressLimits.bodyBytesMax) {
            release();
            request.unshift(Buffer.concat(chunks));
            return undefined;
          }
        }
      } catch (error) {
        release();
        throw error instanceof Refusal ? error : new Refusal('unreachable', 'the client is gone', 502);
      }
      return { content: Buffer.concat(chunks), grow, release };
    },
  };
}

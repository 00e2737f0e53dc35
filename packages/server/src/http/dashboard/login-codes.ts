import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { digestOf, makeSecret, type RandomBytes } from '../auth/secret.ts';

/** For whom a browser is let in: the key that vouches for it. */
export interface Visitor {
  readonly keyId: string;
  readonly workspaceId: string;
}

/** Codes in links. Each lets one browser in, once, soon. */
export interface LoginCodes {
  make(visitor: Visitor): string | Promise<string>;
  /** Whom a code was made for. From then on it is worth nothing. */
  take(code: string): Visitor | undefined | Promise<Visitor | undefined>;
}

/** Those that are not kept beyond this process. */
export interface LocalLoginCodes extends LoginCodes {
  make(visitor: Visitor): string;
  take(code: string): Visitor | undefined;
}

export function createLoginCodes({ clock, random }: { clock: Clock; random?: RandomBytes }): LocalLoginCodes {
  /** By their digests: how long a look-up takes says nothing about the code. */
  const open = new Map<string, Visitor & { readonly until: number }>();
  return {
    make: (visitor) => {
      const code = makeSecret('', random);
      open.set(nameOf(code), { ...visitor, until: clock.steady() + limits.loginCodeMs });
      const [oldest] = open.keys();
      if (open.size > limits.loginCodesMax) open.delete(oldest!);
      return code;
    },
    take: (code) => {
      const found = open.get(nameOf(code));
      open.delete(nameOf(code));
      if (found === undefined || found.until <= clock.steady()) return undefined;
      return { keyId: found.keyId, workspaceId: found.workspaceId };
    },
  };
}

function nameOf(code: string): string {
  return digestOf(code).toString('base64');
}

import type { Clock } from '../../base/clock.ts';
import { httpLimits } from '../limits.ts';
import type { Role, Scope } from '../../keys/scopes.ts';
import { digestOf, makeSecret, type RandomBytes } from '../../keys/secret.ts';

/** The key whose rights a signed-in browser has, or the part of them that it has. */
export interface Visitor {
  readonly keyId: string;
  readonly workspaceId: string;
  /** The role that the link was made for. */
  readonly role?: Role | undefined;
  /** The scopes that it has at most; those of the key count as well. Left out: those of the key. */
  readonly scopes?: readonly Scope[] | undefined;
}

/** Codes of login links. Each signs one browser in, once, within a short time. */
export interface LoginCodes {
  make(visitor: Visitor): string | Promise<string>;
  /** Uses a code up, and returns the key that it was made for. */
  take(code: string): Visitor | undefined | Promise<Visitor | undefined>;
}

/** Codes in the memory of one process. */
export interface LocalLoginCodes extends LoginCodes {
  make(visitor: Visitor): string;
  take(code: string): Visitor | undefined;
}

/** Creates the codes of a single server process. */
export function createLoginCodes({ clock, random }: { clock: Clock; random?: RandomBytes }): LocalLoginCodes {
  /** By digest, so that the time of a look-up reveals nothing about the code. */
  const open = new Map<string, Visitor & { readonly until: number }>();
  return {
    make: (visitor) => {
      const code = makeSecret('', random);
      for (const [name, { until }] of open) {
        // The oldest come first.
        if (until > clock.steady()) break;
        open.delete(name);
      }
      open.set(nameOf(code), { ...visitor, until: clock.steady() + httpLimits.loginCodeMs });
      // Those of other workspaces stay: a key must not keep the people of another one from signing in.
      const own = [...open].filter(([, { workspaceId }]) => workspaceId === visitor.workspaceId);
      if (own.length > httpLimits.loginCodesMax) open.delete(own[0]![0]);
      return code;
    },
    take: (code) => {
      const found = open.get(nameOf(code));
      open.delete(nameOf(code));
      if (found === undefined || found.until <= clock.steady()) return undefined;
      return toVisitor(found);
    },
  };
}

/** Only what belongs to a visitor. */
export function toVisitor({ keyId, workspaceId, role, scopes }: Visitor): Visitor {
  return { keyId, workspaceId, ...(role && { role }), ...(scopes && { scopes }) };
}

function nameOf(code: string): string {
  return digestOf(code).toString('base64');
}

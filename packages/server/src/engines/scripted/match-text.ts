import { type Context, createContext, Script } from 'node:vm';
import { limits } from './limits.ts';
import { Misfit } from './misfit.ts';

/**
 * Whether the regular expression finds something. A script may come from anybody who can send a message, and an
 * expression such as `(a+)+$` can search for years; only a `vm` can be told to stop.
 */
export function matchText(source: string, text: string, path: string): boolean {
  room ??= createContext(Object.create(null));
  Object.assign(room, { source, text });
  try {
    return search.runInContext(room, { timeout: limits.matchMsMax }) === true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Misfit(path, `cannot be searched for: ${reason}`);
  } finally {
    Object.assign(room, { source: '', text: '' });
  }
}

const search = new Script('new RegExp(source).test(text)');
/** Made when it is needed first, which takes a millisecond, and used again. */
let room: Context | undefined;

import { type Context, createContext, Script } from 'node:vm';
import { limits } from './limits.ts';
import { Misfit } from './misfit.ts';

/**
 * Whether the regular expression finds something. A script may come from anybody who can send a message, and an
 * expression such as `(a+)+$` can search for years; only a `vm` can be told to stop.
 */
export function matchText(source: string, text: string, path: string): boolean {
  return run(test, source, text, path) === true;
}

/** What the expression finds last: its first group, or all of it where it has none. Nothing if it finds nothing. */
export function findText(source: string, text: string, path: string): string {
  const found = run(find, source, text, path);
  return typeof found === 'string' ? found : '';
}

function run(script: Script, source: string, text: string, path: string): unknown {
  room ??= createContext(Object.create(null));
  Object.assign(room, { source, text });
  try {
    return script.runInContext(room, { timeout: limits.matchMsMax });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Misfit(path, `cannot be searched for: ${reason}`);
  } finally {
    Object.assign(room, { source: '', text: '' });
  }
}

const test = new Script('new RegExp(source).test(text)');
const find = new Script('[...text.matchAll(new RegExp(source, "g"))].map(([all, group]) => group ?? all).at(-1)');
/** Made when it is needed first, which takes a millisecond, and used again. */
let room: Context | undefined;

import { parse as parseYaml } from 'yaml';
import { checkScript } from './check-script.ts';
import { limits } from '../limits.ts';
import { catchInvalidInput, InvalidInput } from './invalid-input.ts';
import type { Script } from './script.ts';

/** A valid script, or what is wrong with its text. */
export type ParsedScript =
  | { type: 'script'; script: Script }
  /** `path`: the position of the problem, such as `turns[0][2].call`; empty for the whole script. */
  | { type: 'problem'; path: string; message: string };

/**
 * Parses text to a script, or returns the problem and its position. Never throws.
 *
 * @example
 * await inSlices(parseScript('{ "turns": [[{ "say": "Hello" }]] }', 'json'));
 */
export function* parseScript(text: string, format: 'json' | 'yaml'): Generator<void, ParsedScript> {
  const found = yield* catchInvalidInput(readScript(text, format));
  if (!(found instanceof InvalidInput)) return { type: 'script', script: found };
  return { type: 'problem', path: found.path, message: found.problem };
}

function* readScript(text: string, format: 'json' | 'yaml'): Generator<void, Script> {
  const value = readValue(text, format);
  yield;
  return yield* checkScript(value);
}

function readValue(text: string, format: 'json' | 'yaml'): unknown {
  if (text.length > limits.scriptCharsMax) {
    throw new InvalidInput('', `has ${text.length} characters, and ${limits.scriptCharsMax} are allowed`);
  }
  try {
    // The YAML parser would otherwise emit process warnings for a script.
    return format === 'json' ? JSON.parse(text) : parseYaml(text, { logLevel: 'error' });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new InvalidInput('', `is not valid ${format.toUpperCase()}: ${reason.trim()}`);
  }
}

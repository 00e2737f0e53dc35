import { isUtf8 } from 'node:buffer';
import { cleanLine } from '@fleetloom/protocol/text';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';
import { cleanText } from '../terminal/clean-text.ts';
import { chooseSession, isSession } from './choose-session.ts';
import { type ChangesOptions, withChanges } from './open-changes.ts';
import { toSessionPaths } from './session-paths.ts';

/** Options of `show`. */
export interface ShowOptions extends ChangesOptions {
  at?: string;
  thread?: string;
}

/** `fleetloom show [<session>:]<path>`: prints a file of the workspace, now or at a cursor. */
export async function show(io: Io, named: string, options: ShowOptions): Promise<number> {
  const file = parseFile(io, named, options);
  const { session } = await chooseSession(io, file.session === undefined ? [] : [file.session], options);
  return await withChanges(io, session, options, async (opened) => {
    const { at, thread } = options;
    const [path = ''] = file.isTyped ? await toSessionPaths(io, opened, [file.path]) : [file.path];
    const response = await opened.api.open(`${opened.path}/files/content`, { query: { path, at, thread } });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (io.stdout.isTTY !== true) await writeText(io.stdout, bytes);
    else if (isUtf8(bytes) && !bytes.includes(0)) await writeText(io.stdout, cleanText(Buffer.from(bytes).toString()));
    else throw new UsageError(`${cleanLine(path)} is not text.`, 'Redirect the output to a file.');
    return exitCode.ok;
  });
}

interface NamedFile {
  /** Undefined for the session of the last run. */
  readonly session: string | undefined;
  readonly path: string;
  /** Whether the path is relative to the working directory. Otherwise it is relative to the top of the workspace, as in `git show`. */
  readonly isTyped: boolean;
}

function parseFile(io: Io, named: string, options: ShowOptions): NamedFile {
  const colon = named.indexOf(':');
  const before = colon === -1 ? '' : named.slice(0, colon);
  const hasSession = colon === 0 || (colon > 0 && isSession(io, before, options));
  const path = hasSession ? named.slice(colon + 1) : named;
  if (path === '' || (!hasSession && isSession(io, named, options))) {
    throw new UsageError(`"${named}" does not name a file of a session.`, 'Write it as <session>:<path>.');
  }
  const isTyped = !hasSession || /^\.\.?(\/|$)/.test(path);
  return { session: before === '' || !hasSession ? undefined : before, path, isTyped };
}

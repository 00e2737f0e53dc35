import type { ChangesRestored } from '@fleetloom/protocol/fleet';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { writeText } from '../base/write-text.ts';
import { detectLook, drawingWidth } from '../terminal/look.ts';
import { drawStat } from '../workspace/draw-stat.ts';
import { chooseOnlySession } from './choose-session.ts';
import { type ChangesOptions, withChanges } from './open-changes.ts';
import { quotePath } from '../workspace/quote-path.ts';

/** Options of `restore`. */
export interface RestoreOptions extends ChangesOptions {
  at: string;
  dryRun?: boolean;
  overwrite?: boolean;
}

/** `fleetloom restore`: restores the workspace of an idle session to a cursor. */
export async function restore(io: Io, given: string | undefined, options: RestoreOptions): Promise<number> {
  const session = await chooseOnlySession(io, given, options);
  return await withChanges(io, session, options, async ({ api, path }) => {
    const { at, dryRun, overwrite, json } = options;
    const body = { at, ...(overwrite === true ? { overwrite } : {}), ...(dryRun === true ? { dry_run: true } : {}) };
    const restored = await api.post<ChangesRestored>(`${path}/changes/restore`, body);
    if (json === true) await writeText(io.stdout, `${toJsonText(io.stdout, restored)}\n`);
    else await writeText(io.stdout, toText(io, restored));
    return exitCode.ok;
  });
}

function toText(io: Io, restored: ChangesRestored): string {
  const { at, before, dry_run: isDryRun, files_count: count } = restored;
  if (count === 0) return `Nothing to do: the files that the session changed are as they were at ${at.cursor}.\n`;
  const stat = drawStat(restored, { paint: detectLook(io).paint, width: drawingWidth(io) });
  const overwritten = drawOverwritten(restored);
  const end = isDryRun
    ? `Would be set back to ${at.cursor}. Nothing was written.`
    : `The files that the session changed are as they were at ${at.cursor}. Undo it with --at ${before.cursor}.`;
  return `${stat.join('\n')}\n${overwritten}${end}\n`;
}

/** A line that lists the overwritten files with changes that the session did not make. */
function drawOverwritten({ dry_run: isDryRun, overwritten, overwritten_count: count }: ChangesRestored): string {
  if (count === 0) return '';
  const more = count > overwritten.length ? ` and ${count - overwritten.length} more` : '';
  const names = overwritten.map((path) => quotePath(path)).join(', ');
  return `${isDryRun ? 'Would overwrite' : 'Overwrote'} changes that the session did not make: ${names}${more}.\n`;
}

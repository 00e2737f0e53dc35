import type { WorkspaceChanges } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { writeText } from '../base/write-text.ts';
import { applyChanges, type ApplyRequest, describeApplied } from '../workspace/apply-changes.ts';
import { printConflicts } from '../workspace/list-conflicts.ts';
import { chooseSession } from './choose-session.ts';
import { type ChangesOptions, withChanges } from './open-changes.ts';
import { toSessionPaths } from './session-paths.ts';

/** Options of `apply`. */
export interface ApplyOptions extends ChangesOptions, ApplyRequest {}

/** `fleetloom apply`: takes the changes of a session into the working tree, or commits them to a branch. */
export async function apply(io: Io, args: readonly string[], options: ApplyOptions): Promise<number> {
  const { session, rest } = await chooseSession(io, args, options);
  return await withChanges(io, session, options, async (opened) => {
    const paths = await toSessionPaths(io, opened, rest);
    const applied = await applyChanges(opened, paths, options).catch(async (error: unknown) => {
      if (options.json !== true) await printConflicts(io, error);
      throw error;
    });
    if (options.json === true) await writeText(io.stdout, `${toJsonText(io.stdout, applied)}\n`);
    else if (applied.files_count > 0) await writeText(io.stdout, describeApplied(io, applied));
    else {
      const { files_count: changed } = await opened.api.get<WorkspaceChanges>(`${opened.path}/changes`, {
        to: applied.at.cursor,
      });
      const nothing = `Nothing to do: ${cleanLine(applied.session_id)} has not changed any file.\n`;
      await writeText(io.stdout, changed === 0 ? nothing : describeApplied(io, applied));
    }
    return exitCode.ok;
  });
}

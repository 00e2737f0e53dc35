import { ToolFailure } from '../../tool-failure.ts';
import type { WorkspaceFiles } from './workspace-files.ts';

/** Writes an output that is too long for the model to a new file of the workspace. Returns its path. */
export async function saveOutput(
  files: WorkspaceFiles,
  workspace: string,
  name: string,
  text: string,
): Promise<string> {
  // Hides these files from version control of the workspace.
  await files.create(workspace, `${DIRECTORY}/.gitignore`, '*\n');
  for (let count = 0; count < NAMES_MAX; count++) {
    const path = `${DIRECTORY}/${name}${count === 0 ? '' : `-${count}`}.txt`;
    if ((await files.create(workspace, path, text)) === 'created') return path;
  }
  throw new ToolFailure(`${DIRECTORY}/${name} and its like are all taken`);
}

const DIRECTORY = '.fleetloom/outputs';
const NAMES_MAX = 1_000;

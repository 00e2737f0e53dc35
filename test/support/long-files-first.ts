import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { repositoryRoot } from './root.ts';

/**
 * Files that take 10 s or more, longest first. A machine that has never run the tests knows no durations, and a long file that
 * starts last keeps one worker busy while the others have nothing left.
 */
export const longFiles: readonly string[] = [
  'test/nodes/nodes.test.ts',
  'packages/server/src/base/files/remove-tree.test.ts',
  'test/hostile/exhaustion.test.ts',
  'test/server/workspaces/isolation.test.ts',
  'test/browser/dashboard/changes.test.ts',
  'test/server/workspaces/changes.test.ts',
  'test/hostile/api.test.ts',
  'test/packages/packed.test.ts',
  'test/hostile/foreign-servers.test.ts',
  'test/claude-code/engine.test.ts',
  'test/browser/dashboard/sessions.test.ts',
  'test/server/workspaces/steps.test.ts',
  'test/server/workspaces/workspaces.test.ts',
  'test/browser/dashboard/thread.test.ts',
  'test/browser/dashboard/changes-actions.test.ts',
  'test/server/workspaces/nodes-workspaces.test.ts',
  'test/docs/docs.test.ts',
  'test/nodes/load-balancers.test.ts',
  'packages/cli/src/run/run-workspace.test.ts',
  'packages/cli/src/changes/last-run.test.ts',
  'test/server/repositories/repositories.test.ts',
  'packages/cli/src/changes/changes.test.ts',
  'packages/server/src/tools/builtin/search/search.test.ts',
  'test/nodes-workspaces/claude-code.test.ts',
  'test/browser/dashboard/session-safety.test.ts',
  'test/nodes-workspaces/database.test.ts',
  'packages/cli/src/start/start.test.ts',
  'test/server/programs/program-sandbox.test.ts',
  'test/foreign/page.test.ts',
  'test/server/sessions/size.test.ts',
  'packages/server/src/tools/builtin/bash/bash-tool.test.ts',
  'test/server/workspaces/restore.test.ts',
  'packages/cli/src/server/serve.test.ts',
  'packages/server/src/workspaces/snapshots/snapshots.test.ts',
  'test/browser/dashboard/hostile.test.ts',
  'packages/server/src/composition/open-workspaces.recovery.test.ts',
  'test/browser/dashboard/inbox.test.ts',
  'packages/server/src/workspaces/snapshots/snapshots.property.test.ts',
  'test/server/workspaces/isolation-attacks.test.ts',
  'packages/cli/src/watch/watch.test.ts',
  'test/browser/dashboard/first-start.test.ts',
  'test/foreign/mcp.test.ts',
  'packages/cli/src/conformance/sdk-0.test.ts',
  'test/browser/dashboard/fleet.test.ts',
  'test/server/workspaces/snapshots.test.ts',
  'packages/server/src/composition/open-workspaces.shapes.test.ts',
  'test/browser/dashboard/tabs.test.ts',
  'packages/server/src/store/postgres/postgres-store.test.ts',
  'packages/cli/src/changes/end-sessions.test.ts',
  'packages/server/src/workspaces/clone/repositories.test.ts',
  'packages/cli/src/run/run.test.ts',
  'bench/workspaces.test.ts',
  'packages/server/src/composition/open-workspaces.attacks.test.ts',
  'packages/server/src/tools/host/tool-host.test.ts',
  'packages/cli/src/main.test.ts',
  'test/browser/dashboard/approvals.test.ts',
  'packages/server/src/tools/host/server/tool-hosts.test.ts',
  'packages/server/src/workspaces/changes/apply-to-directory.test.ts',
  'packages/cli/src/conformance/sdk-1.test.ts',
  'test/foreign/model.test.ts',
  'packages/server/src/tools/builtin/files/files.test.ts',
  'test/server/workspaces/isolation-kills.test.ts',
  'packages/server/src/workspaces/git/git-limits.test.ts',
  'packages/cli/src/terminal/pseudo-terminal.test.ts',
  'test/server/process/nasty.test.ts',
  'packages/server/src/engines/program/claude-code/transcript/silent-agents.test.ts',
  'test/server/workspaces/ignored.test.ts',
  'test/server/workspaces/snapshots-kills.test.ts',
  'packages/cli/src/changes/killed-run.test.ts',
  'packages/server/src/sessions/crash.test.ts',
  'test/examples/examples.test.ts',
  'test/foreign/body.test.ts',
  'test/browser/dashboard/questions.test.ts',
  'packages/server/src/http/hostile/raw-requests.test.ts',
];

/** Runs the long files of each project first, and the others in vitest's own order. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project.name))];
    // Files that share a process have to follow one another: a worker that gets another kind in between starts again.
    return projects.flatMap((name) => {
      const own = sorted.filter(({ project }) => project.name === name);
      return own.toSorted((one, other) => rankOf(one) - rankOf(other));
    });
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const at = longFiles.indexOf(relative(repositoryRoot, moduleId));
  return at === -1 ? longFiles.length : at;
}

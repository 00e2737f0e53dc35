import type { ReadOnlyPath, Sandbox } from '../../tools/sandbox/sandbox.ts';
import type { FoundGit } from './find-git.ts';
import { PROCESS_LIMITS } from './process-limits.ts';
import type { Git, GitRunOptions } from './run-git.ts';

/** The only paths that a git command may reach where there is a sandbox. They must exist. */
export interface GitReach {
  readonly readOnlyPaths?: readonly (string | ReadOnlyPath)[];
  readonly writablePaths?: readonly string[];
  /** Whether it may write in the directory it runs in. */
  readonly isDirectoryWritable?: boolean;
}

/** Runs git on repositories that are not ours. */
export interface RepositoryGit {
  run(
    args: readonly string[],
    options: Omit<GitRunOptions, 'wrap'> & { readonly reach: GitReach },
  ): ReturnType<Git['run']>;
}

/**
 * Git in the sandbox where there is one: whatever a repository makes git read (included configuration, alternates, links
 * in its git directory, also links that are put there in the meantime), nothing but the listed paths is within its reach.
 * Without a sandbox the same paths have been checked before, and the settings of {@link Git} apply.
 */
export function createRepositoryGit(
  findGit: () => Promise<FoundGit & { type: 'found' }>,
  openSandbox: () => Promise<Sandbox | undefined>,
): RepositoryGit {
  return {
    run: async (args, { reach, ...given }) => {
      // The repository of a submodule names its working tree, which git enters unless it gets another one.
      const options = { workTree: given.gitDirectory, ...given };
      const [{ git }, sandbox] = await Promise.all([findGit(), openSandbox()]);
      if (sandbox === undefined) return await git.run(args, { limits: PROCESS_LIMITS, ...options });
      return await git.run(args, {
        ...options,
        wrap: ({ file, args: all, env }) =>
          sandbox.launch({
            program: file,
            args: all,
            workspace: options.cwd,
            isWorkspaceWritable: reach.isDirectoryWritable ?? false,
            readOnlyPaths: reach.readOnlyPaths,
            writablePaths: reach.writablePaths,
            environment: env,
          }),
      });
    },
  };
}

import type { ReadOnlyPath, Sandbox } from '../../tools/sandbox/sandbox.ts';
import type { FoundGit } from './find-git.ts';
import { PROCESS_LIMITS } from './process-limits.ts';
import type { Git, GitRunOptions } from './run-git.ts';

/** The only paths that a git command can reach if there is a sandbox. They must exist. */
export interface GitReach {
  readonly readOnlyPaths?: readonly (string | ReadOnlyPath)[];
  readonly writablePaths?: readonly string[];
  /** Whether the command may write in its working directory. */
  readonly isDirectoryWritable?: boolean;
}

/** Runs git on repositories that the server does not control. */
export interface RepositoryGit {
  run(
    args: readonly string[],
    options: Omit<GitRunOptions, 'wrap'> & { readonly reach: GitReach },
  ): ReturnType<Git['run']>;
}

/**
 * Runs git in the sandbox if there is one: whatever a repository makes git read (included configuration, alternates, links
 * in its git directory, even links that are created in the meantime), git can reach only the listed paths.
 * Without a sandbox there is only the earlier check of the same paths, and the settings of {@link Git}.
 */
export function createRepositoryGit(
  findGit: () => Promise<FoundGit & { type: 'found' }>,
  openSandbox: () => Promise<Sandbox | undefined>,
): RepositoryGit {
  return {
    run: async (args, { reach, ...given }) => {
      // The configuration of a submodule's repository names a working tree, which git would enter without this option.
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

import type { Checkout } from '@fleetloom/protocol/managed-agents';
import type { Git, GitRunOptions } from '../git/run-git.ts';
import type { GitRemote } from '../relay/git-proxy.ts';
import type { UpstreamOptions } from '../relay/open-upstream.ts';
import type { CloneCache } from './clone-cache.ts';
import type { AllowedDirectories } from '../sources/allowed-directories.ts';

/** The dependencies of cloning. */
export interface CloneParts extends UpstreamOptions {
  readonly git: Git;
  /** The directories of this machine from which repositories may be cloned. */
  readonly directories: Pick<AllowedDirectories, 'resolve'>;
  readonly limits: CloneLimits;
  /** The cache of earlier clones. */
  readonly cache?: CloneCache | undefined;
}

/** How long a clone may take and how large it may become. */
export type CloneLimits = {
  readonly [Name in 'cloneMs' | 'cloneBytesMax' | 'cloneLookMs' | 'cloneDataBytesMax' | 'cloneCpuSeconds']: number;
};

/** A repository to clone. */
export interface CloneSource extends GitRemote {
  readonly id: string;
  readonly checkout: Checkout | null;
}

/** Runs git within the limits of a clone. */
export type RunInClone = (
  args: readonly string[],
  more?: Partial<GitRunOptions>,
) => Promise<{ readonly code: number; readonly stdout: Buffer }>;

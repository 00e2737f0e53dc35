/** Numbers that bound workspaces. Each has a test at its edge. */
export const workspaceLimits = {
  /** How long one git command may take, unless its caller knows better. */
  gitTimeoutMs: 60_000,
  /** How long it may take to write the files of a worktree. */
  checkoutTimeoutMs: 600_000,
  /** What one git command may write to stdout. */
  gitOutputBytesMax: 64 * 1024 * 1024,
  /** What is kept of its stderr. */
  gitStderrBytesMax: 64 * 1024,
  /** Of that, what an error message quotes. */
  gitMessageCharsMax: 500,

  /** Git processes that read or write recorded files at the same time, beside those that record: of one session, and of all. */
  gitPerSessionMax: 2,
  gitAtOnceMax: 4,
  /** Such processes of requests that wait: of one session, and of all. */
  gitWaitingPerSessionMax: 32,
  gitWaitingMax: 128,

  /** How long a clone may take. */
  cloneMs: 600_000,
  /** How much it may write. */
  cloneBytesMax: 5 * 1024 ** 3,
  /** Private memory and processor time of each git process that reads what a host has sent, or a repository of a user. */
  cloneDataBytesMax: 2 * 1024 ** 3,
  cloneCpuSeconds: 1_200,
  /** How often its size is looked at while it grows. */
  cloneLookMs: 250,
  /** The list of files of a commit, as git writes it. */
  cloneListBytesMax: 256 * 1024 * 1024,
  /** Repositories whose clones are cached, and packs that one of them may have before it is made again. */
  cloneCachesMax: 32,
  cloneCachePacksMax: 50,
  repositoryUrlCharsMax: 2_048,
  branchNameCharsMax: 255,
  tokenCharsMax: 4_096,

  /** Connections of one session to the git proxy at the same time. */
  gitProxyConnectionsMax: 64,
  /** How long nothing may pass through one of them. */
  gitProxyIdleMs: 300_000,
  /** The refs that one push may name, as git sends them. */
  pushCommandsBytesMax: 1024 * 1024,

  /** A file that is read from a git directory, or `.worktreeinclude`. */
  gitFileBytesMax: 64 * 1024,
  /** A configuration of git that is copied. A larger one is left out. */
  gitConfigBytesMax: 1024 * 1024,
  /** The file that lists where the history of a shallow clone ends. */
  shallowBytesMax: 1024 * 1024,
  /** The index of the user's repository, where it is read. */
  indexBytesMax: 512 * 1024 * 1024,
  /** Object directories that one repository refers to. */
  alternatesMax: 16,
  /** Refs of the user's repository that agents see. */
  refsMax: 20_000,
  /** `path`, `base` and each pattern of a directory resource. */
  sourcePathCharsMax: 4_096,
  sourceBaseCharsMax: 255,
  copyPatternsMax: 100,
  copyPatternCharsMax: 255,
  setupCommandCharsMax: 4_096,
  /** Files and directories that one copy may have, how deep it may go, and how many are copied at a time. */
  copiedEntriesMax: 1_000_000,
  copiedDepthMax: 200,
  copiesAtOnceMax: 16,
  /** Files and directories among which git directories are searched where agents work in place. */
  nestedSearchEntriesMax: 500_000,
  /** Git directories, and directories that they are in, that the sandbox covers there: each is two mounts of every launch. */
  coveredEntriesMax: 256,
  /** How long a setup command may take, and what is kept of its output. */
  setupTimeoutMs: 600_000,
  setupOutputBytesMax: 64 * 1024,
  /** After how long a lock of a session that was never made does not count. */
  unmadeLockMs: 60_000,
  /** How often a server looks whether the sessions of its in-place locks have ended. */
  heldLockLookMs: 2_000,
} as const;

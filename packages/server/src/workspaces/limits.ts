/** Numbers that bound workspaces. Each has a test at its edge. */
export const workspaceLimits = {
  /** How long one git command may take, unless its caller sets another limit. */
  gitTimeoutMs: 60_000,
  /** How long git may take to write the files of a worktree. */
  checkoutTimeoutMs: 600_000,
  /** Bytes that one git command may write to stdout. */
  gitOutputBytesMax: 64 * 1024 * 1024,
  /** Bytes of stderr of one git command that are kept. */
  gitStderrBytesMax: 64 * 1024,
  /** Characters of stderr that an error message quotes. */
  gitMessageCharsMax: 500,

  /** Concurrent git processes that read or write recorded files, not counting recorders: of one session, and of all sessions. */
  gitPerSessionMax: 2,
  gitAtOnceMax: 4,
  /** Waiting git processes of requests: of one session, and of all sessions. */
  gitWaitingPerSessionMax: 32,
  gitWaitingMax: 128,

  /** How long a clone may take. */
  cloneMs: 600_000,
  /** Bytes that a clone may write. */
  cloneBytesMax: 5 * 1024 ** 3,
  /** Bytes of private memory, and processor time, of each git process that reads data of a host or of a user's repository. */
  cloneDataBytesMax: 2 * 1024 ** 3,
  cloneCpuSeconds: 1_200,
  /** How often the size of a clone in progress is measured. */
  cloneLookMs: 250,
  /** Bytes of git's list of the files of a commit. */
  cloneListBytesMax: 256 * 1024 * 1024,
  /** Repositories whose clones are cached, and packs of a cached repository before it is created again. */
  cloneCachesMax: 32,
  cloneCachePacksMax: 50,
  repositoryUrlCharsMax: 2_048,
  branchNameCharsMax: 255,
  tokenCharsMax: 4_096,

  /** Connections of one session to the git proxy at the same time. */
  gitProxyConnectionsMax: 64,
  /** How long a connection to the git proxy may be idle. */
  gitProxyIdleMs: 300_000,
  /** Bytes of the ref commands of one push. */
  pushCommandsBytesMax: 1024 * 1024,

  /** Bytes of a file that is read from a git directory, and of `.worktreeinclude`. */
  gitFileBytesMax: 64 * 1024,
  /** Bytes of a git configuration that is copied. A larger one is skipped. */
  gitConfigBytesMax: 1024 * 1024,
  /** Bytes of the file `shallow`, which lists where the history of a shallow clone ends. */
  shallowBytesMax: 1024 * 1024,
  /** Bytes of the index of the user's repository that is copied. */
  indexBytesMax: 512 * 1024 * 1024,
  /** Object directories that one repository refers to. */
  alternatesMax: 16,
  /** Refs of the user's repository that agents see. */
  refsMax: 20_000,
  /** Characters or number of the fields of a directory resource: `path`, `base`, the patterns of `copy`, `setup`. */
  sourcePathCharsMax: 4_096,
  sourceBaseCharsMax: 255,
  copyPatternsMax: 100,
  copyPatternCharsMax: 255,
  setupCommandCharsMax: 4_096,
  /** Files and directories of one copy, its depth, and how many files are copied at the same time. */
  copiedEntriesMax: 1_000_000,
  copiedDepthMax: 200,
  copiesAtOnceMax: 16,
  /** Files and directories that are searched for git directories if agents work in place. */
  nestedSearchEntriesMax: 500_000,
  /** Git directories and their parent directories that the sandbox covers in place: each takes two mounts per launch. */
  coveredEntriesMax: 256,
  /** How long a setup command may take, and bytes of its output that are kept. */
  setupTimeoutMs: 600_000,
  setupOutputBytesMax: 64 * 1024,
  /** How long a lock counts whose session does not exist: it may be about to be created. */
  unmadeLockMs: 60_000,
  /** How often a server checks whether the sessions of its in-place locks have ended. */
  heldLockLookMs: 2_000,
} as const;

/** Numbers that bound files: uploads, resources, outputs. Each has a test at its edge. */
export const fileLimits = {
  /** One file that is uploaded. */
  uploadBytesMax: 500 * 1024 * 1024,
  /** Uploaded files of one workspace. */
  uploadsMax: 100_000,
  /** Uploaded files whose metadata is held in memory. */
  knownUploadsMax: 10_000,
  /** A file that a model is shown. As base64 it is a third more, and a request has 32 MiB. */
  shownFileBytesMax: 20 * 1024 * 1024,
  /** All files that one model request shows, as a request has room for them. */
  shownFilesBytesMax: 24 * 1024 * 1024,
  /** How often a file is read for a program while the machine has no descriptors left, and how long to wait between. */
  shownFileAttemptsMax: 10,
  shownFileRetryMs: 200,
  /** Files that one session has mounted. */
  sessionResourcesMax: 100,
  mountPathCharsMax: 1_024,
  /** One name in a path, as file systems have it. */
  pathNameBytesMax: 255,
  /** Lists of outputs that wait for another one of the same workspace, each of another session. */
  outputScansWaitingMax: 100,
  /** Paths of outputs that are found by their ids without a list. */
  outputPathsBytesMax: 16 * 1024 * 1024,
} as const;

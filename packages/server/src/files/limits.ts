/** Numbers that bound files: uploads, resources, outputs. Each has a test at its edge. */
export const fileLimits = {
  /** Bytes of one uploaded file. */
  uploadBytesMax: 500 * 1024 * 1024,
  /** Uploaded files of one workspace. */
  uploadsMax: 100_000,
  /** Uploaded files whose metadata is cached in memory. */
  knownUploadsMax: 10_000,
  /** Bytes of a file that is shown to a model. As base64 it is a third larger, and a request may have 32 MiB. */
  shownFileBytesMax: 20 * 1024 * 1024,
  /** Bytes of all files in one model request, which has the same limit. */
  shownFilesBytesMax: 24 * 1024 * 1024,
  /** How often a file is read for a program while the machine is out of descriptors, and how long to wait between attempts. */
  shownFileAttemptsMax: 10,
  shownFileRetryMs: 200,
  /** Mounted files of one session. */
  sessionResourcesMax: 100,
  mountPathCharsMax: 1_024,
  /** Bytes of one name in a path, which is the limit of common file systems. */
  pathNameBytesMax: 255,
  /** Output lists of one workspace that wait for an earlier one, each of another session. */
  outputScansWaitingMax: 100,
  /** Bytes of the cached paths of outputs, which are found by id without listing. */
  outputPathsBytesMax: 16 * 1024 * 1024,
} as const;

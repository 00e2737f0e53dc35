/** Describes the argument of every command that reads stream-json. */
export const STREAM_FILE = 'recorded stream, optionally gzipped; omit it or pass "-" to read standard input';

/**
 * Every number that bounds the stream-json library. Each has a test at its edge.
 *
 * A limit never loses content silently: a line over its limit becomes an `oversize` value, and what the translator
 * forgets is only the memory with which it recognises repetitions.
 */

/** Longest line that is parsed. A longer one is reported as `oversize` and reading continues at the next LF. */
export const LINE_BYTES_MAX = 64 * 1024 * 1024;
/**
 * Size of the buffer in which a line that spans several chunks is collected; it is reused for the next line. When a longer
 * line fills it, its content becomes text. Larger than 128 KiB, so that V8 does not put it into the young generation and
 * copy each piece twice.
 */
export const BLOCK_BYTES = 192 * 1024;
/** Characters of a bad line that are shown in its report. */
export const EXCERPT_CHARS_MAX = 120;
/** How many lines of an agent back a repeated line (same `uuid`) or snapshot is still recognised. */
export const MEMORY_LINES_PER_THREAD = 10_000;
/** Upper bound of remembered blocks per agent, whatever the lines look like. */
export const MEMORY_BLOCKS_PER_THREAD = 65_536;
/** Messages per agent whose blocks keep their content, fewer where the stream repeats itself and they are larger. */
export const WHOLE_MESSAGES_PER_THREAD = 64;
/** The same where the stream repeats itself. */
export const REPEATING_MESSAGES_PER_THREAD = 8;
/** Agents that ended whose memory is kept for late lines. */
export const ENDED_THREADS_MAX = 25;
/** Agents that are known at all; past it the longest ended are forgotten. */
export const THREADS_MAX = 10_000;
/** Largest depth of an agent; deeper ones are reported with this depth. Programs stop at 3 or 5. */
export const DEPTH_MAX = 16;
/** Lines that can still be taken back by their uuid. */
export const RETRACTABLE_LINES_MAX = 1_000;
/** Tool calls whose caller is remembered. */
export const CALL_OWNERS_MAX = 4_000;
/** Open streams that are compared where a stream carries no message ids. */
export const ANONYMOUS_STREAMS_MAX = 512;
/** Permission requests that are remembered as open. */
export const OPEN_REQUESTS_MAX = 1_000;
/** Turns that are remembered as open; past it the oldest are dropped, and counted. */
export const OPEN_TURNS_MAX = 1_000;
/** Models whose running totals are remembered; past it the first seen is forgotten, and counted. */
export const MODELS_MAX = 100;
/** Runs of an agent that late lines can still name; past it the oldest is forgotten, and counted. */
export const RUNS_PER_THREAD = 100;
/** Longest id or kind that is remembered as it is; of a longer one the beginning and its mark. */
export const NAME_CHARS_MAX = 256;
/** Distinct unknown kinds that are counted by name; further ones are counted together as `other`. */
export const DRIFT_KINDS_MAX = 200;
/** Messages whose last line the accelerator keeps, their bytes in all, and the longest line it looks at. */
export const ACCELERATED_MESSAGES = 64;
/** Bytes of these lines in all. */
export const ACCELERATED_BYTES_MAX = 32 * 1024 * 1024;
/** The longest line that the accelerator looks at. */
export const ACCELERATED_LINE_BYTES_MAX = 8 * 1024 * 1024;
/** What a snapshot carries of the above, so that 25 live agents stay under 64 KB. */
export const SNAPSHOT_MESSAGES = 50;
/** Messages of each agent at least. */
export const SNAPSHOT_MESSAGES_PER_THREAD = 1;
/** Line ids of each agent. */
export const SNAPSHOT_LINES_PER_THREAD = 32;
/** Tool calls with their caller. */
export const SNAPSHOT_CALL_OWNERS = 200;
/** Lines that can still be retracted. */
export const SNAPSHOT_RETRACTABLE_LINES = 64;
/** Agents. */
export const SNAPSHOT_THREADS = 500;
/** Open streams without message ids. */
export const SNAPSHOT_ANONYMOUS_STREAMS = 128;

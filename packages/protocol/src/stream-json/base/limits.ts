/**
 * Every number that bounds the stream-json library. Each has a test at its edge.
 *
 * A limit never loses content silently: a line over its limit becomes an `oversize` value, and what the translator
 * forgets is only the memory with which it recognises repetitions.
 */

/** Bytes of a line. A longer one is reported as `oversize`, and reading continues at the next LF. */
export const LINE_BYTES_MAX = 64 * 1024 * 1024;
/**
 * Size of the buffer in which a line that spans several chunks is collected; it is reused for the next line. When a longer
 * line fills it, its content becomes text. Larger than 128 KiB, so that V8 does not put it into the young generation and
 * copy each piece twice.
 */
export const BLOCK_BYTES = 192 * 1024;
/** Characters of a bad line that are shown in its report. */
export const EXCERPT_CHARS_MAX = 120;
/** How many lines of an agent are remembered to recognise a repeated line (same `uuid`) or snapshot. */
export const MEMORY_LINES_PER_THREAD = 10_000;
/** Blocks that are remembered per agent. */
export const MEMORY_BLOCKS_PER_THREAD = 65_536;
/** Messages per agent whose blocks keep their content; fewer if the stream repeats itself, since its messages are larger. */
export const WHOLE_MESSAGES_PER_THREAD = 64;
/** As above, if the stream repeats itself. */
export const REPEATING_MESSAGES_PER_THREAD = 8;
/** Agents that ended whose memory is kept for late lines. */
export const ENDED_THREADS_MAX = 25;
/** Agents that are known; above the limit the agents that ended first are forgotten. */
export const THREADS_MAX = 10_000;
/** Largest depth of an agent; deeper ones are reported with this depth. Programs stop at 3 or 5. */
export const DEPTH_MAX = 16;
/** Lines that can still be retracted by their uuid. */
export const RETRACTABLE_LINES_MAX = 1_000;
/** Tool calls whose caller is remembered. */
export const CALL_OWNERS_MAX = 4_000;
/** Open streams that are compared if a stream has no message ids. */
export const ANONYMOUS_STREAMS_MAX = 512;
/** Permission requests that are remembered as open. */
export const OPEN_REQUESTS_MAX = 1_000;
/** Turns that are remembered as open; above the limit the oldest are dropped, and counted. */
export const OPEN_TURNS_MAX = 1_000;
/** Models whose running totals are remembered; above the limit the first seen is forgotten, and counted. */
export const MODELS_MAX = 100;
/** Runs of an agent that late lines can still name; above the limit the oldest is forgotten, and counted. */
export const RUNS_PER_THREAD = 100;
/** Characters of an id or kind that is remembered unchanged; of a longer one, the beginning and its mark are kept. */
export const NAME_CHARS_MAX = 256;
/** Distinct unknown kinds that are counted by name; further ones are counted together as `other`. */
export const DRIFT_KINDS_MAX = 200;
/** Messages whose last line the accelerator keeps. */
export const ACCELERATED_MESSAGES = 64;
/** Bytes of all kept lines. */
export const ACCELERATED_BYTES_MAX = 32 * 1024 * 1024;
/** Bytes of the longest line that the accelerator handles. */
export const ACCELERATED_LINE_BYTES_MAX = 8 * 1024 * 1024;
/** Messages in a snapshot. The limits of snapshots keep 25 live agents under 64 KB. */
export const SNAPSHOT_MESSAGES = 50;
/** The minimum of messages of each agent in a snapshot. */
export const SNAPSHOT_MESSAGES_PER_THREAD = 1;
/** Line ids of each agent in a snapshot. */
export const SNAPSHOT_LINES_PER_THREAD = 32;
/** Tool calls with their caller in a snapshot. */
export const SNAPSHOT_CALL_OWNERS = 200;
/** Retractable lines in a snapshot. */
export const SNAPSHOT_RETRACTABLE_LINES = 64;
/** Agents in a snapshot. */
export const SNAPSHOT_THREADS = 500;
/** Open streams without message ids in a snapshot. */
export const SNAPSHOT_ANONYMOUS_STREAMS = 128;

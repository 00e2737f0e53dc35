export { Queue } from './queue.js';
export { retryDelay } from './retry.js';
export { parseCron } from './parse-cron.js';
export { Worker } from './worker.js';

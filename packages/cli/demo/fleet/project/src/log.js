export function log(...parts) {
  if (process.env.FERRY_DEBUG) console.log('[ferry]', ...parts);
}

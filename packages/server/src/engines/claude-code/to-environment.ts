/**
 * What the program finds in its environment. It does not see our secrets unless it is given them, nor that it may have been
 * started inside another one, and it neither phones home nor renews itself while it works for us.
 */
export function toEnvironment(
  inherited: Readonly<Record<string, string | undefined>>,
  depthMax: number,
): Record<string, string> {
  const kept = Object.entries(inherited).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !isPrivate(entry[0]),
  );
  // Only newer releases know it; in older ones agents of agents can be made, and are shown.
  return { ...Object.fromEntries(kept), ...quiet, CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH: String(depthMax) };
}

/** Of another program that is our own parent, or ours. */
function isPrivate(name: string): boolean {
  return name.startsWith('FLEETLOOM_') || leftovers.has(name);
}

const leftovers = new Set([
  'CLAUDECODE',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_SESSION_ID',
  'CLAUDE_CODE_SSE_PORT',
  'CLAUDE_CODE_CHILD_SESSION',
]);

const quiet = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  // It says when it rests for good.
  CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1',
  // A call of a custom tool waits for people, who may take days: as long as a timer can.
  MCP_TOOL_TIMEOUT: '2147483647',
};

import { agentLimits } from './agents/limits.ts';
import { baseLimits } from './base/limits.ts';
import { compositionLimits } from './composition/limits.ts';
import { modelLimits } from './engines/model/limits.ts';
import { programLimits } from './engines/program/limits.ts';
import { environmentLimits } from './environments/limits.ts';
import { fileLimits } from './files/limits.ts';
import { httpLimits } from './http/limits.ts';
import { keyLimits } from './keys/limits.ts';
import { logLimits } from './log/limits.ts';
import { nodeLimits } from './nodes/limits.ts';
import { pushLimits } from './push/limits.ts';
import { ruleLimits } from './rules/limits.ts';
import { sessionLimits } from './sessions/core/limits.ts';
import { storeLimits } from './store/limits.ts';
import { toolLimits } from './tools/limits.ts';
import { viewLimits } from './views/limits.ts';
import { webhookLimits } from './webhooks/limits.ts';
import { changesLimits } from './workspaces/changes/limits.ts';
import { workspaceLimits } from './workspaces/limits.ts';
import { snapshotLimits } from './workspaces/snapshots/objects/limits.ts';

/** Every number that bounds the server, from the `limits.ts` of each folder. */
export const limits = {
  ...baseLimits,
  ...storeLimits,
  ...logLimits,
  ...toolLimits,
  ...modelLimits,
  ...programLimits,
  ...agentLimits,
  ...environmentLimits,
  ...fileLimits,
  ...keyLimits,
  ...nodeLimits,
  ...ruleLimits,
  ...viewLimits,
  ...webhookLimits,
  ...workspaceLimits,
  ...changesLimits,
  ...snapshotLimits,
  ...pushLimits,
  ...sessionLimits,
  ...httpLimits,
  ...compositionLimits,
} as const;

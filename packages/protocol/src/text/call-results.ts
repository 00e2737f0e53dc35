/** The result of a tool call that was stopped: what it had done by then is not known. */
export const INTERRUPTED = 'Tool execution was interrupted before completion. Please retry.';

/** How the result of a tool call begins that waited for a decision when its program ended. Stored in logs: do not change. */
export const NOT_CARRIED_OUT = 'This call was not carried out';

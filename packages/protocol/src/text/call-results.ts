/** The result of a call that was stopped: what it had done by then is not known. */
export const INTERRUPTED = 'Tool execution was interrupted before completion. Please retry.';

/** How the result of a call begins that waited for an answer when its program ended. */
export const NOT_CARRIED_OUT = 'This call was not carried out';

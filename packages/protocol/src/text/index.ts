/** Text that is the same in every interface: what agents wrote as people are shown it, and results that the server writes. */
export { INTERRUPTED, NOT_CARRIED_OUT } from './call-results.ts';
export { hasHidden, showHidden } from './show-hidden.ts';

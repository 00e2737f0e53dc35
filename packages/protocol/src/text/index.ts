/** Text that is the same in every interface: agents' text as people see it, figures, and results that the server writes. */
export { INTERRUPTED, NOT_CARRIED_OUT } from './call-results.ts';
export { cleanLine, cleanText } from './clean-text.ts';
export { cutText, cutTextStart } from './cut-text.ts';
export {
  formatAge,
  formatAgo,
  formatBytes,
  formatCost,
  formatCount,
  formatElapsed,
  formatSpan,
  plural,
} from './format.ts';
export { hasHidden, showHidden } from './show-hidden.ts';

/** How text from agents is shown to people, the same in every interface. */
export { hasHidden, showHidden } from './show-hidden.ts';

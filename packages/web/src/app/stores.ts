import { FleetStore } from './fleet-store.ts';
import { UiStore } from './ui-store.ts';

/** One of each for the page. */
export const fleet = new FleetStore();
export const ui = new UiStore();

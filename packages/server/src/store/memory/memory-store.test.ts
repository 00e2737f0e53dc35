import { storeSuite } from '../store.suite.ts';
import { createMemoryStore } from './memory-store.ts';

storeSuite('memory', async ({ clock }) => createMemoryStore({ clock }));

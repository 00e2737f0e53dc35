import { engineSuite } from '../engine.suite.ts';
import { createScriptedEngine } from './engine.ts';

engineSuite('the scripted engine', async () => ({ engine: createScriptedEngine(), close: async () => undefined }));

/** The scripted model: deterministic and offline, in this process and over HTTP. */
export { ScriptedModelError } from './failure.ts';
export { createScriptedHandler, type ScriptedHandler, type ScriptedHandlerOptions } from './http/handler.ts';
export { type ScriptedModelServer, type ServeScriptedModelOptions, serveScriptedModel } from './http.ts';
export { type AskOptions, createScriptedModel, type ScriptedModel, type ScriptedModelOptions } from './model.ts';

/** The wire contract of Managed Agents: what its clients send, and what they are answered. One file per resource. */
export * from './agent.ts';
export * from './content.ts';
export * from './environment.ts';
export * from './error.ts';
export * from './event.ts';
export * from './file.ts';
export * from './id.ts';
export * from './model.ts';
export * from './multiagent.ts';
export * from './page.ts';
export * from './resource.ts';
export * from './session.ts';
export * from './session-error.ts';
export * from './thread.ts';
export * from './tool.ts';
export * from './usage.ts';
export * from './work.ts';

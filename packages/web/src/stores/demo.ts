import type { AgentCreateParams } from '@fleetloom/protocol/managed-agents';

/** The demo fleet: agents, sample files, task. */
interface Demo {
  readonly title: string;
  readonly task: string;
  readonly environment: string;
  readonly lead: AgentCreateParams;
  readonly members: readonly AgentCreateParams[];
  readonly files: Readonly<Record<string, string>>;
}

// vite.config.ts defines this constant from the demo of the command line.
declare const FLEETLOOM_DEMO: Demo;

/** The demo of the command line. */
export const demo: Demo = FLEETLOOM_DEMO;

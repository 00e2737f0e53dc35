import type { AgentCreateParams } from '@fleetloom/protocol/managed-agents';

interface Demo {
  readonly title: string;
  readonly task: string;
  readonly environment: string;
  readonly lead: AgentCreateParams;
  readonly members: readonly AgentCreateParams[];
  readonly files: Readonly<Record<string, string>>;
}

// vite.config.ts puts it in, as the command line describes it.
declare const FLEETLOOM_DEMO: Demo;

export const demo: Demo = FLEETLOOM_DEMO;

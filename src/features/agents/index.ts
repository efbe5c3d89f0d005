export type { AgentFacts } from './agent.js';
export { type AgentStatus, AgentView } from './agents.dto.js';
export { AgentsModule } from './agents.module.js';
export { AgentsReader } from './agents.reader.js';

export type { AgentFacts } from './agent.js';
export { AgentView } from './agents.dto.js';
export { AgentsModule } from './agents.module.js';
export { AgentsReader } from './agents.reader.js';

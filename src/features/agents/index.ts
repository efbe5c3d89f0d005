export { type AgentFacts, AgentsReader } from './agents.reader.js';
export { AgentView } from './agents.dto.js';
export { AgentsModule } from './agents.module.js';

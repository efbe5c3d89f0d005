export type { ToolEntity } from './tool.entity.js';
export { amountInWords, factsOf, parametersOf, type ToolFacts } from './tool.js';
export { ToolsService } from './tools.service.js';

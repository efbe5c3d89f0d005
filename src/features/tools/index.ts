export type { ToolEntity } from './tool.entity.js';
export { amountInWords, factsOf, parametersOf, type ToolFacts } from './tool.js';
export { Tools } from './tools.repository.js';
export { ToolsService } from './tools.service.js';
export { ToolsModule } from './tools.module.js';

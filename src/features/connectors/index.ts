export { CallOperation } from './call-operation.js';
export { ConnectorsModule } from './connectors.module.js';
export { Connectors } from './connectors.js';
export type { LoadedConnector } from './load-connectors.js';
export { type Arguments, type Operation, faultsOfArguments, undoOf } from './operation.js';
export { type ParamSchema, checkOf, paramName } from './param-schema.js';

import { serveCalls } from '../../platform/processes/serve-calls.js';
import { faultsOfParams, faultsOfSchema } from './schema-check.js';
import type { ParamsCall } from './tool-params.js';

/** What runs in the processes of {@link ToolParams}. */
serveCalls(({ schema, params }: ParamsCall) =>
  params === undefined ? faultsOfSchema(schema) : faultsOfParams(schema, params),
);

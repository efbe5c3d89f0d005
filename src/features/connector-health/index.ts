export { ConnectorHealthModule } from './connector-health.module.js';

export { PreflightModule } from './preflight.module.js';

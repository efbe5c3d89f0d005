export { TenancyModule } from './tenancy.module.js';

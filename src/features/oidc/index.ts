export { OidcModule } from './oidc.module.js';

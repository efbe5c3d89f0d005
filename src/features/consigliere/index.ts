export { ConsigliereModule } from './consigliere.module.js';
export { routeDirective } from './route.js';

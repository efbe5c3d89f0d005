export { PacksModule } from './packs.module.js';

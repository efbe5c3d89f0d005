import { enableCompileCache, flushCompileCache, registerHooks } from 'node:module';

// Many test files start such processes; on a busy machine the types take seconds to leave out each time anew.
enableCompileCache();
// Most of them are killed, and would leave nothing behind.
setTimeout(() => flushCompileCache(), 2_000).unref();

/**
 * Preloaded by the tests (vitest.config.ts), and so by the processes that they start over the sources: an import of
 * `./x.js` finds `x.ts`, whose types Node leaves out by itself. What those processes load has no decorators, enums or
 * parameter properties.
 */
registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch (error) {
      if (error.code !== 'ERR_MODULE_NOT_FOUND' || !specifier.endsWith('.js')) throw error;
      return next(specifier.replace(/js$/, 'ts'), context);
    }
  },
});

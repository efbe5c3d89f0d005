import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Preloaded by the tests (vitest.config.ts), and so by the processes that they start over the sources: an import of
 * `./x.js` finds `x.ts`, and Node turns it into JavaScript. Decorators are beyond it.
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
  load(url, context, next) {
    if (!url.endsWith('.ts')) return next(url, context);
    const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'), { mode: 'transform' });
    return { format: 'module', source, shortCircuit: true };
  },
});

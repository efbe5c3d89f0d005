const { resetRootLogger } = await import(new URL('rootLogger.js', import.meta.resolve('nestjs-pino')).href);

// Test files share a process (vitest.config.ts), and nestjs-pino keeps the first logger of a process: without this the lines
// of an application would be written where that of another file writes them.
resetRootLogger();

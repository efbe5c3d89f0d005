import { ConsoleLogger, Logger } from '@nestjs/common';

const { resetRootLogger } = await import(new URL('rootLogger.js', import.meta.resolve('nestjs-pino')).href);

// Test files share a process (vitest.config.ts), in which Nest and nestjs-pino keep the first logger: without this the lines of
// an application would be written where that of another file writes them.
resetRootLogger();
Logger.overrideLogger(new ConsoleLogger());

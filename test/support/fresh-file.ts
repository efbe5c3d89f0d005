import { ConsoleLogger, Logger } from '@nestjs/common';
import fc from 'fast-check';

const { resetRootLogger } = await import(new URL('rootLogger.js', import.meta.resolve('nestjs-pino')).href);

// Test files share a process (vitest.config.ts), in which Nest and nestjs-pino keep the first logger: without this the lines of
// an application would be written where that of another file writes them.
resetRootLogger();
Logger.overrideLogger(new ConsoleLogger());

// A red run is of the change that was made: property tests try the same values each time, others with PROPERTY_SEED.
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 20_261_123) });

import { stdSerializers } from 'pino';

/** What the start and the end of the program say: plain text for a person at a terminal, JSON lines like the log's for all others. */
export class StartOutput {
  constructor(readonly isTerminal = process.stdout.isTTY) {}

  info(message: string, fields: Record<string, unknown> = {}): void {
    this.write('info', message, fields);
  }

  /** A person should know, though nothing has failed. */
  warn(message: string, fields: Record<string, unknown> = {}): void {
    this.write('warn', message, fields);
  }

  /** An error that nobody caught, with its stack: a defect. */
  fault(error: unknown, fields: Record<string, unknown>): void {
    const message = 'Nobody caught an error. This process ends.';
    const err = stdSerializers.err(error instanceof Error ? error : new Error(String(error)));
    this.write('error', this.isTerminal ? `${message}\n${err.stack}` : message, { err, ...fields });
  }

  private write(level: string, msg: string, fields: Record<string, unknown>): void {
    const line = this.isTerminal ? msg : JSON.stringify({ level, time: Date.now(), ...fields, msg });
    process.stdout.write(`${line}\n`);
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { LoggerModule } from 'nestjs-pino';
import type { DestinationStream } from 'pino';
import type { Config } from '../config/config.js';
import type { AdmittedRequest } from '../http/admitted-request.js';

/** Fields that a log line never contains. */
const SECRETS = ['token', 'password', 'secret', 'authorization', 'cookie', 'headers', 'body'].flatMap(
  (name) => [name, `*.${name}`],
);

/** JSON lines, one for each request: who called which route, how it ended, what it cost. Never a token, never a body. */
export function loggingModule(config: Config, destination?: DestinationStream) {
  const options = {
    level: config.logLevel,
    base: null,
    redact: { paths: SECRETS, censor: '[redacted]' },
    formatters: { level: (label: string) => ({ level: label }) },
    genReqId: (request: unknown) => (request as AdmittedRequest).requestId,
    quietReqLogger: true,
    quietResLogger: true,
    customAttributeKeys: { responseTime: 'durationMs', reqId: 'requestId' },
    serializers: { req: () => undefined, res: () => undefined },
    // With the line and not on a logger of the request's own: making one for each request costs more than the line.
    customSuccessObject: line,
    customErrorObject: (
      request: IncomingMessage,
      response: ServerResponse,
      error: Error,
      logged: object,
    ) => ({
      ...line(request, response, logged),
      err: error,
    }),
    customLogLevel: (_request: unknown, response: ServerResponse) =>
      (response.statusCode >= 500 ? 'error' : 'info') as 'error' | 'info',
    customSuccessMessage: () => 'request',
    customErrorMessage: () => 'request',
  };
  return LoggerModule.forRoot({ pinoHttp: destination ? [options, destination] : options });
}

/** Who called which route, how it ended, what it cost. */
function line(raw: IncomingMessage, response: ServerResponse, logged: object) {
  const request = raw as unknown as AdmittedRequest;
  return {
    clientRequestId: request.clientRequestId,
    traceId: request.context?.trace?.traceparent.split('-')[1],
    address: request.address,
    method: request.method,
    route: request.route?.path as string | undefined,
    status: response.statusCode,
    memberId: request.caller?.memberId,
    workspaceId: request.caller?.workspaceId ?? request.signedFor,
    roundTrips: request.context?.roundTrips,
    durationMs: (logged as { durationMs: number }).durationMs,
  };
}

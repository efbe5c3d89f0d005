import type { Failure } from '../../platform/outbound/exchange-failed.js';

/** Why no connection or no answer came, for a stranger. */
export const OUTSIDE_FAILURES: Readonly<Record<Failure, string>> = {
  destination: 'Its address is not allowed any more.',
  address: 'Its name does not resolve, or not only to public addresses.',
  connect_timeout: 'It did not accept the connection in time.',
  connection_refused: 'It refused the connection.',
  unreachable: 'It cannot be reached over the network.',
  tls: 'Its certificate is not trusted for its name.',
  reset: 'It ended the connection before it answered.',
  headers_too_large: 'The headers of its answer are too large.',
  invalid_answer: 'The answer is not HTTP.',
  timeout: 'It did not answer in time.',
  aborted: 'The check was stopped before it answered.',
  connection_failed: 'The connection to it failed.',
};

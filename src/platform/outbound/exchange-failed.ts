import { errors } from 'undici';

/**
 * Why no answer came, in one stable word:
 * `destination` the URL breaks a rule by now; `address` the host does not resolve, or not only to public addresses;
 * `connect_timeout`, `connection_refused`, `unreachable` nobody took the connection; `tls` no trusted certificate for
 * the name, or no common protocol; `reset` the connection ended before the answer; `headers_too_large` more than
 * 16 KiB of them; `invalid_answer` it was not HTTP; `timeout` the whole took more than 10 s; `aborted` the caller's
 * signal; `connection_failed` anything else on the way.
 */
export type Failure =
  | 'destination'
  | 'address'
  | 'connect_timeout'
  | 'connection_refused'
  | 'unreachable'
  | 'tls'
  | 'reset'
  | 'headers_too_large'
  | 'invalid_answer'
  | 'timeout'
  | 'aborted'
  | 'connection_failed';

/** Ends an exchange for a reason that we know ourselves. */
export class ExchangeFailed extends Error {
  constructor(readonly failure: Failure) {
    super(failure);
    this.name = 'ExchangeFailed';
  }
}

const FAILURES: Readonly<Record<string, Failure>> = {
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  ETIMEDOUT: 'connect_timeout',
  ECONNREFUSED: 'connection_refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_HEADERS_OVERFLOW: 'headers_too_large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'invalid_answer',
  EPROTO: 'tls',
};

/** The names that Node gives to what OpenSSL says of a certificate or a handshake. */
const TLS_ERROR =
  /CERT|^ERR_(SSL|TLS)_|^UNABLE_TO_|^CRL_|^INVALID_(CA|PURPOSE)$|^PATH_LENGTH_|^HOSTNAME_MISMATCH$/;

/**
 * The failure that an error of a socket, of TLS or of undici stands for.
 *
 * @throws the error itself if it is no matter of the network but a fault in our program
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof ExchangeFailed) return error.failure;
  if (error instanceof errors.HTTPParserError) return 'invalid_answer';
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (typeof code !== 'string' || code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED')
    throw error;
  return FAILURES[code] ?? (TLS_ERROR.test(code) ? 'tls' : 'connection_failed');
}

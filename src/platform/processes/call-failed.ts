/**
 * `threw`: the called code threw, and would again.
 * `timeout`, `memory`: it met a limit, and would again.
 * `crashed`: its process ended for a reason of its own; another try may succeed.
 * `aborted`: the caller, or the end of this process, called it off.
 */
export type CallFailure = 'threw' | 'timeout' | 'memory' | 'crashed' | 'aborted';

/** Why a call of a {@link ProcessPool} has no result. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';

  constructor(
    readonly reason: CallFailure,
    message: string,
    /** Of the error that the called code threw. */
    readonly thrownName?: string,
  ) {
    super(message);
  }
}

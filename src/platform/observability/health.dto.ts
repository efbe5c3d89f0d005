/** The answer of a probe. */
export class Health {
  /** `ok`: the probe found nothing wrong. @example 'ok' */
  status!: 'ok';
}

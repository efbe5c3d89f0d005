/** The answer of a probe. */
export class Health {
  status!: 'ok';
}

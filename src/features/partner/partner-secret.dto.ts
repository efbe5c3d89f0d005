/** The secret that the partner persona service signs its updates with. */
export class PartnerSecretView {
  /** The secret that is in force. @example '3q2-7w4XyZ0aBcDeFgHiJkLmNoPqRsTuVwXyZ012345' */
  secret!: string;
  /** When it was put in force, Unix milliseconds. @example 1768209000000 */
  setAt!: number;
  /** Until when the secret before this one is accepted as well, Unix milliseconds; null: there was none, or its time is over. */
  previousUntil!: number | null;
}

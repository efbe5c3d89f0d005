/** What an act answers that proves the account anew, and the secret that its session has from now on. */
export interface RenewedSession<T> {
  answer: T;
  secret: string;
}

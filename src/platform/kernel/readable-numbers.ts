/** Numbers as a person reads them, in the English of all that the service says. */

const NUMBER = new Intl.NumberFormat('en');
/** Revenue is kept to four places, what models cost to six: a rounded amount would not be the one that receipts show. */
const AMOUNT = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 });

export function readableNumber(n: number): string {
  return NUMBER.format(n);
}

/** How many of something there are; the noun takes an s. */
export function counted(n: number, noun: string): string {
  return `${readableNumber(n)} ${noun}${n === 1 ? '' : 's'}`;
}

/** With the code behind it, since two currencies may share a sign. */
export function money(amount: number, currency: string): string {
  return `${AMOUNT.format(amount)} ${currency}`;
}

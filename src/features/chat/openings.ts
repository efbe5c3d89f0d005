/** How people begin before they come to it. */
export const OPENING = String.raw`(?:(?:please|pls|hey|hi|hello|dear|liebe[r]?|ok(?:ay)?|now|just|then|so|and|also|first|consigliere|go ahead and|i want you to|i need you to|you (?:must|should|may|can|have to)|(?:can|could|would|will) you(?: please)?|bitte|kannst du|könntest du|würdest du|können sie|könnten sie|würden sie|s['’]il (?:te|vous) pla[iî]t|peux-tu|pouvez-vous|por favor|puedes|puede|per favore|puoi)[\s,:!]+)*`;

const AT_THE_BEGINNING = new RegExp(`^${OPENING}`, 'iu');
/** A question by its form, and a request by what it means. */
const POLITE =
  /(?:(?:can|could|would|will) you|kannst du|könntest du|würdest du|können sie|könnten sie|würden sie|peux-tu|pouvez-vous|puedes|puede|puoi)(?!\p{L})/iu;

/** As much of the beginning as only addresses somebody. */
export function openingOf(words: string): string {
  return AT_THE_BEGINNING.exec(words)![0];
}

export function isPolite(opening: string): boolean {
  return POLITE.test(opening);
}
